"""What became of the patches of a queue: added, removed, edited, renumbered, renamed, reordered.

A patch is known by its bytes, then by its name, then by the slug, which is the name behind the number. One
that got other bytes and another number at once is told as both, an edit and a new number.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from skippy_patches.evidence.claim import ClaimedPatch
from skippy_patches.evidence.difference import (
    ADDED,
    EDITED,
    REMOVED,
    RENAMED,
    RENUMBERED,
    REORDERED,
    Difference,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from skippy_patches.queue.patch import Patch

PART = "patches"
_BEHIND_NUMBER = len("0000-")


def claimed(patches: Iterable[Patch]) -> tuple[ClaimedPatch, ...]:
    """A queue as evidence names it."""
    return tuple(ClaimedPatch(patch.number, patch.name, patch.sha256) for patch in patches)


def compare(before: Sequence[ClaimedPatch], after: Sequence[ClaimedPatch]) -> tuple[Difference, ...]:
    """From one queue to the other, both in apply order: what is gone, then what is here, in its order."""
    pairs = _pairs(before, after)
    removed = [_row(REMOVED, old, None) for at, old in enumerate(before) if at not in pairs.values()]
    found: list[Difference] = []
    moved = _moved([pairs[at] for at in sorted(pairs)])
    for at, new in enumerate(after):
        if at not in pairs:
            found.append(_row(ADDED, None, new))
            continue
        old = before[pairs[at]]
        found += _changes(old, new)
        if pairs[at] in moved:
            found.append(
                Difference(
                    part=PART,
                    name=new.file,
                    what=REORDERED,
                    before=f"place {pairs[at] + 1}",
                    after=f"place {at + 1}",
                )
            )
    return (*removed, *found)


def _changes(old: ClaimedPatch, new: ClaimedPatch) -> Iterator[Difference]:
    if old.file != new.file:
        number = None not in (old.number, new.number) and old.number != new.number
        what = RENUMBERED if number else RENAMED
        yield Difference(part=PART, name=new.file, what=what, before=old.file, after=new.file)
    if old.sha256 != new.sha256:
        yield Difference(part=PART, name=new.file, what=EDITED, before=old.sha256, after=new.sha256)


def _row(what: str, old: ClaimedPatch | None, new: ClaimedPatch | None) -> Difference:
    name = next(each.file for each in (old, new) if each)
    before, after = (each.sha256 if each else None for each in (old, new))
    return Difference(part=PART, name=name, what=what, before=before, after=after)


def _pairs(before: Sequence[ClaimedPatch], after: Sequence[ClaimedPatch]) -> dict[int, int]:
    """Place in `after` -> place in `before` of the same patch. The surest sign first."""
    signs: tuple[Callable[[ClaimedPatch], Hashable], ...] = (
        lambda patch: (patch.sha256, patch.file),
        lambda patch: patch.sha256,
        lambda patch: patch.file,
        lambda patch: patch.file[_BEHIND_NUMBER:],
    )
    pairs: dict[int, int] = {}
    for sign in signs:
        free: dict[Hashable, list[int]] = {}
        taken = set(pairs.values())
        for at, old in enumerate(before):
            if at not in taken:
                free.setdefault(sign(old), []).append(at)
        for at, new in enumerate(after):
            if at not in pairs and (candidates := free.get(sign(new))):
                pairs[at] = candidates.pop(0)
    return pairs


def _moved(places: Sequence[int]) -> frozenset[int]:
    """Those to take out, and no more, so that what is left ascends: what is not in a longest such run."""
    tails: list[int] = []  # of the ascending runs of each length: the lowest that one ends with
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect.bisect_left(tails, place)
        before[place] = tails[at - 1] if at else None
        tails[at : at + 1] = [place]
    return frozenset(places) - frozenset(_chain(before, tails[-1] if tails else None))


def _chain(before: dict[int, int | None], last: int | None) -> Iterator[int]:
    while last is not None:
        yield last
        last = before[last]
