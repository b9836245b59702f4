"""A JSON object in a file that anybody may have written or damaged, read without trusting it."""

from __future__ import annotations

import collections
import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 64 << 20  # bytes; a record is about 50 KB
_SHOWN = 20  # digits of a number


class Unreadable(ValueError):
    """The file holds no JSON object. The text says why, to stand behind "FILE is not ...:"."""


def read(file: Path) -> dict[str, Any]:
    """The object in `file`. Raises Unreadable, and FileNotFoundError.

    Refused are also: what is no regular file, more than LIMIT bytes, and a key that stands twice in one
    object, of which programs and people would read different ones.
    """
    if file.is_dir():
        raise Unreadable("it is a folder")
    if file.exists() and not file.is_file():
        raise Unreadable("it is no regular file")
    try:
        with file.open("rb") as stream:
            content = stream.read(LIMIT + 1)
    except FileNotFoundError as error:
        if file.is_symlink():
            raise Unreadable("it is a link that leads nowhere") from error
        raise
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from error
    if len(content) > LIMIT:
        raise Unreadable(f"it has more than {LIMIT >> 20} MB")
    return parse(content)


def parse(content: bytes) -> dict[str, Any]:
    """The object that these bytes are, in UTF-8 (RFC 8259). Raises Unreadable.

    Refused is also what Python reads, and others do not, or not as the same: NaN and Infinity, numbers beyond
    a double, and half a surrogate pair, but for the halves that stand for bytes of a file's name (PEP 383).
    """
    try:
        value = json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
        if not isinstance(value, dict):
            raise Unreadable("it is not a JSON object")
        json.dumps(value, ensure_ascii=False).encode(errors="surrogateescape")
    except Unreadable:
        raise
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 at byte {error.start}") from error
    except UnicodeEncodeError as error:
        raise Unreadable(f"it holds {error.object[error.start]!a}, which is no character") from error
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    return value


def _constant(word: str) -> None:
    raise Unreadable(f"{word} in it is no number of JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Unreadable(f"the number {digits[:_SHOWN]} in it is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = collections.Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise Unreadable(f"the key {twice!r} stands there twice")
    return found
