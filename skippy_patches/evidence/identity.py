"""How the documents made of a record name things: the software, the record itself, and files in addresses."""

from __future__ import annotations

import hashlib
import re
import urllib.parse
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from skippy_patches.build import stored
from skippy_patches.evidence import shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skippy_patches.evidence.record import Record

_One = TypeVar("_One")
# There is but this upstream; the address in the configuration may be a mirror that nobody else reaches.
GROUP = "ggml-org"
NAME = "llama.cpp"
REPOSITORY = f"https://github.com/{GROUP}/{NAME}"
# Raise its number when a record gives other bytes than before: two documents must not have one serial number.
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:skippy-patches:record:1")


class Foreign(ValueError):
    """A document of a known format that was not made of a record. The text says how that shows."""


def digest(record: Record) -> str:
    """SHA-256 of the record's file, as `sha256sum record.json` prints it."""
    return hashlib.sha256(stored.encoded(record.content)).hexdigest()


def urn(record: Record) -> str:
    """`urn:uuid:...` that follows from the record's bytes (RFC 9562, version 5)."""
    return uuid.uuid5(_NAMESPACE, digest(record)).urn


def version(content: Mapping[str, Any]) -> str:
    """The upstream's, for people: its tag, or the first 12 digits of the pin."""
    upstream = content["upstream"]
    return str(upstream["tag"] or upstream["commit"][:12])


def purl(commit: str, patched: str = "") -> str:
    """The package URL of a commit of the upstream; `patched` is the commit that patches made of it.

    That one GitHub does not have, so it is a qualifier: who looks for the upstream still finds it.
    """
    more = f"?patched={patched}" if patched and patched != commit else ""
    return f"pkg:github/{GROUP}/{NAME}@{commit}{more}"


def tool_purl(name: str, version: str) -> str:
    """The package URL of a program that has no registry."""
    more = f"@{urllib.parse.quote(version, safe='')}" if version else ""
    return f"pkg:generic/{urllib.parse.quote(name, safe='')}{more}"


def relative(name: str) -> str:
    """A file's name as an address relative to its folder (RFC 3986)."""
    return urllib.parse.quote(name, safe="", errors="surrogateescape")


def text(value: object) -> str:
    """`value`, which must be text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r}, which is no text")
    return value


def commit(value: object) -> str:
    """`value`, which must be a full commit id. Raises TypeError and ValueError."""
    if not shape.SHA1.fullmatch(text(value)):
        raise ValueError(f"{value!r} in it is no full commit id")
    return text(value)


def number(value: object) -> int:
    """`value`, which must be a whole number of at most 18 digits: 18, "18", or 18.0 as protobuf writes it.

    Raises ValueError.
    """
    if isinstance(value, float) and value.is_integer():
        value = f"{value:.0f}"
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,18}", str(value)):
        raise ValueError(f"{value!r} in it is no whole number")
    return int(str(value))


def single(values: Iterable[_One], what: str) -> _One:
    """The only one of `values`. Raises ValueError, which calls it `what`."""
    found = tuple(values)
    if len(found) != 1:
        raise ValueError(f"it has {len(found)} of what there must be one: {what}")
    return found[0]


def unique(names: Iterable[str], what: str) -> None:
    """See that no name stands there twice: a reader would take one of them, and not say which."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name!r} stands there twice")
        seen.add(name)
