"""One thing that differs between two builds, as a value and as a line of text."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ADDED = "added"
REMOVED = "removed"
CHANGED = "changed"
EDITED = "edited"
RENAMED = "renamed"
RENUMBERED = "renumbered"
REORDERED = "reordered"

_LONG_ID = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Difference:
    """What became of one thing from `before` to `after`.

    part: pin, patched, patches, recipe, platform, toolchain, flags, libraries, tests, or a later version's
    key. name: of the thing in it. what: one of the words above. before, after: as they are shown, ids in
    full; None where it is not there.
    """

    part: str
    name: str
    what: str
    before: str | None
    after: str | None


def described(each: Difference) -> str:
    """A line: `toolchain: cxx changed: c++ 12.2.0 -> c++ 14.1.0`, with the first 12 digits of long ids."""
    sides = " -> ".join(text for text in (each.before, each.after) if text is not None)
    return shortened(f"{each.part}: {each.name} {each.what}{f': {sides}' if sides else ''}")


def shortened(text: str) -> str:
    """`text` with the first 12 digits of every commit and SHA-256 in it."""
    return _LONG_ID.sub(r"\1", text)


def mappings(part: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    """Name by name: those of `before` in its order, then what `after` adds."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            what = ADDED if old is None else REMOVED if new is None else CHANGED
            yield Difference(part=part, name=name, what=what, before=old, after=new)
