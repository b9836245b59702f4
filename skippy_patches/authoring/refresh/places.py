"""The order of the commits as places in the queue: which patch each is, in which lane, under which number."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.authoring.export import slug
from skippy_patches.authoring.refresh.errors import CrossesLanes, NumberDoesNotFit
from skippy_patches.queue import claims
from skippy_patches.queue.assignment.assign import assign
from skippy_patches.queue.assignment.item import Item
from skippy_patches.queue.snapshot import FILE, Entry, Lane, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.authoring.history import Commit
    from skippy_patches.authoring.refresh.wishes import Wish
    from skippy_patches.config import Project
    from skippy_patches.queue.assignment.item import Rules
    from skippy_patches.queue.claims import Claim
    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """A patch of the queue to be.

    commit: the author's, None where it is not checked out. patch: its file now, None when it is new. lane:
    its place in project.queue. number: 0 before it is known.
    """

    commit: Commit | None
    patch: Patch | None
    lane: int = 0
    number: int = 0

    @property
    def name(self) -> str:
        """For a person: the file, or the commit."""
        if self.patch:
            return self.patch.path
        return f'commit {self.commit.id.short} "{self.commit.subject}"' if self.commit else ""

    def file_name(self) -> str:
        """NNNN-subject.patch: a patch keeps what stands behind its number."""
        if self.patch:
            return f"{self.number:04d}{self.patch.name[4:]}"
        return f"{self.number:04d}-{slug(self.commit.subject if self.commit else '')}.patch"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Numbering:
    """What numbers depend on. pinned: paths of patches that keep theirs. wishes: by commit, of new ones."""

    project: Project
    snapshot: Snapshot
    rules: Rules
    pinned: frozenset[str]
    wishes: Mapping[str, Wish]


def arrange(places: Sequence[Place], numbering: Numbering, checkout: Path) -> list[Place]:
    """The same places with lanes and numbers. Raises CrossesLanes, NumberDoesNotFit, CannotRenumber and the
    errors of claims.next_free.
    """
    placed = _in_lanes(places, numbering.snapshot, checkout)
    given = _given_numbers(placed, numbering)
    items = [
        Item(place.name, place.lane, given[at], _is_fixed(place, given[at], numbering))
        for at, place in enumerate(placed)
    ]
    numbers = assign(items, numbering.rules)
    return [dataclasses.replace(place, number=number) for place, number in zip(placed, numbers, strict=True)]


def _is_fixed(place: Place, number: int | None, numbering: Numbering) -> bool:
    if place.patch:
        return place.patch.path in numbering.pinned
    return number is not None and place.commit is not None and place.commit.id in numbering.wishes


def _in_lanes(places: Sequence[Place], snapshot: Snapshot, checkout: Path) -> list[Place]:
    """A patch stays in its lane; a new one joins the lane of the patch before it, so that none behind moves.

    In front of all it joins the first one's; in an empty queue, the last lane.
    """
    lanes = {lane.path: at for at, lane in enumerate(snapshot.lanes)}
    known = [lanes[place.patch.lane] for place in places if place.patch]
    here = known[0] if known else len(snapshot.lanes) - 1
    placed: list[Place] = []
    for place in places:
        lane = lanes[place.patch.lane] if place.patch else here
        if lane < here:
            before = next(each for each in reversed(placed) if each.lane == here and each.patch)
            raise CrossesLanes(checkout, before.name, place.name)
        here = lane
        placed.append(dataclasses.replace(place, lane=lane))
    return placed


def _given_numbers(places: Sequence[Place], numbering: Numbering) -> list[int | None]:
    """Numbers of today; for new patches those that were wished for, and the next free ones at the end."""
    given: list[int | None] = [place.patch.number if place.patch else None for place in places]
    claimed = claims.claims(numbering.project) if None in given else ()
    last = max((at for at, place in enumerate(places) if place.patch), default=-1)
    snapshot = numbering.snapshot
    for at, place in enumerate(places):
        if place.patch or place.commit is None:
            continue
        wish = numbering.wishes.get(place.commit.id)
        if wish:
            number = wish.number or _next(numbering, snapshot, claimed, wish.band)
            _check_wish(places, given, at, number, wish, numbering.rules)
        elif at > last:
            number = _next(numbering, snapshot, claimed)
        else:
            continue
        given[at] = number
        snapshot = with_number(snapshot, number)
    return given


def _next(numbering: Numbering, snapshot: Snapshot, claimed: Sequence[Claim], band: str = "") -> int:
    """The next free number; what evidence knows as another patch is passed over."""
    number = claims.next_free(numbering.project, snapshot, claimed, band).number
    if number not in numbering.rules.reserved:
        return number
    return _next(numbering, with_number(snapshot, number), claimed, band)


def _check_wish(
    places: Sequence[Place], given: Sequence[int | None], at: int, number: int, wish: Wish, rules: Rules
) -> None:
    """Raise NumberDoesNotFit unless `number` is free and lies between those around it."""
    commit = places[at].commit
    assert commit is not None  # noqa: S101 - only a new commit has a wish
    lane = [other for other, place in enumerate(places) if place.lane == places[at].lane]
    before = next((other for other in reversed(lane) if other < at and given[other] is not None), None)
    behind = next((other for other in lane if other > at and given[other] is not None), None)
    low = (given[before] or 0) if before is not None else 0
    high = (given[behind] or 0) if behind is not None else number + 1
    is_ordered = places[at].lane in rules.series_lanes or low < number < high
    if number in given:
        reason = f"{places[given.index(number)].name} has it."
    elif number in rules.reserved:
        reason = "Records name another patch by it."
    elif not is_ordered:
        low_end = f"behind {places[before].name}" if before is not None and low >= number else ""
        high_end = f"before {places[behind].name}" if behind is not None and high <= number else ""
        reason = f"It stands {low_end or high_end}, and numbers rise as patches are applied."
    else:
        return
    raise NumberDoesNotFit(commit, wish.described(number), reason)


def with_number(snapshot: Snapshot, number: int) -> Snapshot:
    """As if a patch had that number already."""
    taken = Lane("", True, (Entry(f"{number:04d}-taken.patch", FILE, b""),), None)
    return Snapshot(snapshot.source, (*snapshot.lanes, taken))
