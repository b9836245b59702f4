"""The order of two queues held against the order of their merge: pure functions of what was read.

A patch is followed from one queue to another by its bytes, else its path, else its slug (the name behind
the number): a branch that renumbers renames files and does not change them.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inversion:
    """`patch` now sorts before each of `behind`, which stood before it where it was authored."""

    patch: Patch
    behind: tuple[Patch, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PrefixChange:
    """The first patch of a side that will not stand on what it stands on there.

    cause: what the merged queue has in its place, or None where that ends. now: the patch itself as it is in
    the merged queue, or None when the other side dropped it.
    """

    patch: Patch
    cause: Patch | None
    now: Patch | None


def follow(patches: Sequence[Patch], others: Sequence[Patch]) -> dict[str, Patch]:
    """Path of each of `patches` that is among `others`, whatever its name there -> the one that it is."""
    found: dict[str, Patch] = {}
    for key in (_content_and_path, _content, _path, _slug):
        taken = {other.path for other in found.values()}
        here = _singles((patch for patch in patches if patch.path not in found), key)
        there = _singles((other for other in others if other.path not in taken), key)
        found |= {patch.path: there[value] for value, patch in here.items() if value in there}
    return found


def inversions(
    ours: Sequence[Patch], theirs: Sequence[Patch], base: Sequence[Patch], merged: Sequence[Patch]
) -> list[Inversion]:
    """The patches of `merged` that stand on the wrong side of one that they were authored after.

    What order two patches should have is decided as a merge decides: the side that has both of them decides;
    where both sides do, the one that changed their order since the base. Patches that only met in the merge
    have none.
    """
    sides = [_places(queue, merged) for queue in (ours, theirs)]
    if all(_is_rising([places[patch.path] for patch in merged if patch.path in places]) for places in sides):
        return []
    before = _places(base, merged)
    found = []
    for at, patch in enumerate(merged):
        behind = [
            other
            for other in merged[at + 1 :]
            if _should_precede(patch.path, other.path, sides[0], sides[1], before) is False
        ]
        if behind:
            found.append(Inversion(patch=patch, behind=tuple(behind)))
    return found


def prefix_change(side: Sequence[Patch], merged: Sequence[Patch]) -> PrefixChange | None:
    """The first patch of `side` whose prefix is another one in `merged`; None when each stays as it is."""
    for at, patch in enumerate(side):
        cause = merged[at] if at < len(merged) else None
        if cause is None or cause.content != patch.content:
            return PrefixChange(patch=patch, cause=cause, now=follow(side, merged).get(patch.path))
    return None


def _places(queue: Sequence[Patch], merged: Sequence[Patch]) -> dict[str, int]:
    """Path in `merged` -> place in `queue`, for the patches that are in both."""
    followed = follow(queue, merged)
    return {followed[patch.path].path: at for at, patch in enumerate(queue) if patch.path in followed}


def _should_precede(
    first: str, second: str, ours: Mapping[str, int], theirs: Mapping[str, int], base: Mapping[str, int]
) -> bool | None:
    answers = [
        places[first] < places[second] if first in places and second in places else None
        for places in (ours, theirs, base)
    ]
    our, their, original = answers
    if our is None or our == their:
        return their
    if their is None or their == original:
        return our
    return their if our == original else None


def _is_rising(places: Sequence[int]) -> bool:
    return all(before < after for before, after in itertools.pairwise(places))


def _singles(patches: Iterable[Patch], key: Callable[[Patch], object]) -> dict[object, Patch]:
    """Key -> patch, for keys that one patch alone has."""
    found: dict[object, list[Patch]] = {}
    for patch in patches:
        found.setdefault(key(patch), []).append(patch)
    return {value: same[0] for value, same in found.items() if len(same) == 1}


def _content_and_path(patch: Patch) -> object:
    return patch.content, patch.path


def _content(patch: Patch) -> object:
    return patch.content


def _path(patch: Patch) -> object:
    return patch.path


def _slug(patch: Patch) -> object:
    return patch.name.partition("-")[2]
