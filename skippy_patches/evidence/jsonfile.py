"""A JSON object in a file that anybody may have written or damaged, read without trusting it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 64 << 20  # bytes; a record is about 50 KB


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
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    if len(content) > LIMIT:
        raise Unreadable(f"it has more than {LIMIT >> 20} MB")
    return parse(content)


def parse(content: bytes) -> dict[str, Any]:
    """The object that these bytes are. Raises Unreadable."""
    try:
        value = json.loads(content, object_pairs_hook=_object)
    except Unreadable:
        raise
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 at byte {error.start}") from error
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    if not isinstance(value, dict):
        raise Unreadable("it is not a JSON object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key {twice!r} stands there twice")
    return found
