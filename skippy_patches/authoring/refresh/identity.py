"""Which commit is which patch: names and numbers follow the change, whatever became of its subject."""

from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from skippy_patches.authoring.history import Commit
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId

# A pair of git-range-diff(1): place in the first range, its commit, how they compare, place in the second.
_PAIR = re.compile(r"\s*(\d+):\s+[0-9a-f]+ [=!] \s*(\d+):\s+[0-9a-f]+ ")


def match(
    bench: Repository,
    base: ObjectId,
    before: Sequence[Commit],
    after: Sequence[Commit],
    edited: tuple[int, int] | None = None,
) -> list[int | None]:
    """For each commit of `after` its place in `before`, or None when it is new.

    Both lie on `base`. In turn: the very commit; author, date and subject; author and date, which outlive
    an amend; subject alone, each where it is found once on both sides; `edited`, a place in `before` and one
    in `after` of the commit that was made where an edit stopped; then what git range-diff pairs by its
    content. A place is given once.
    """
    found: list[int | None] = [None] * len(after)
    _pair(before, after, found, lambda commit: commit.id)
    _pair(before, after, found, lambda commit: (commit.author, commit.email, commit.date, commit.subject))
    _pair(before, after, found, _author_and_date(before, after))
    _pair(before, after, found, lambda commit: commit.subject or None)
    if edited and edited[0] not in found and found[edited[1]] is None:
        found[edited[1]] = edited[0]
    if None in found and set(range(len(before))) - set(found):
        _pair_by_content(bench, base, before, after, found)
    return found


def _author_and_date(
    before: Sequence[Commit], after: Sequence[Commit]
) -> Callable[[Commit], tuple[str, str, str] | None]:
    """The key of a commit, None when any other on its side has it, too: then it tells nothing."""

    def key(commit: Commit) -> tuple[str, str, str]:
        return commit.author, commit.email, commit.date

    counts = [collections.Counter(map(key, side)) for side in (before, after)]
    return lambda commit: key(commit) if all(count[key(commit)] <= 1 for count in counts) else None


def _pair(
    before: Sequence[Commit],
    after: Sequence[Commit],
    found: list[int | None],
    key: Callable[[Commit], Hashable],
) -> None:
    """Add the pairs whose key is unique among those that are still without one."""
    old = _unique({place: key(commit) for place, commit in enumerate(before) if place not in found})
    new = _unique({place: key(commit) for place, commit in enumerate(after) if found[place] is None})
    for value, place in new.items():
        if value is not None and value in old:
            found[place] = old[value]


def _unique(keys: dict[int, Hashable]) -> dict[Hashable, int]:
    values = list(keys.values())
    return {value: place for place, value in keys.items() if values.count(value) == 1}


def _pair_by_content(
    bench: Repository,
    base: ObjectId,
    before: Sequence[Commit],
    after: Sequence[Commit],
    found: list[int | None],
) -> None:
    switches = ("--no-color", "--no-patch", "--creation-factor=60", "--no-notes")
    ranges = (f"{base}..{before[-1].id}", f"{base}..{after[-1].id}")
    for line in bench.run("range-diff", *switches, *ranges).text.splitlines():
        pair = _PAIR.match(line)
        if pair:
            old, new = int(pair[1]) - 1, int(pair[2]) - 1
            if found[new] is None and old not in found:
                found[new] = old
