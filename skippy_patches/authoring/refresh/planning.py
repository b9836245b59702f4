"""From drafted patches to the plan: which files change, and whether the check accepts the queue to be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.authoring.refresh import seriesorder
from skippy_patches.authoring.refresh.changes import Action, Change, Plan
from skippy_patches.authoring.refresh.errors import NotDropped, NothingLeft, Unusable
from skippy_patches.authoring.refresh.places import Numbering
from skippy_patches.authoring.refresh.seriesorder import Listed
from skippy_patches.queue import reader
from skippy_patches.queue.assignment.item import Rules
from skippy_patches.queue.message import subject_of
from skippy_patches.queue.patch import join
from skippy_patches.queue.snapshot import FILE, SERIES, Entry, Lane, Snapshot, ordered
from skippy_patches.renumber import pins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.apply.ledger import Row
    from skippy_patches.authoring.refresh.places import Place
    from skippy_patches.authoring.refresh.wishes import Wish
    from skippy_patches.config import Project
    from skippy_patches.queue.patch import Patch


def undecided(
    dropped: Sequence[Patch], patches: Sequence[Patch], names: Sequence[str], checkout: Path
) -> list[Patch]:
    """Those of `dropped` that no name allows to be deleted. Raises NotDropped for a name that fits none."""
    for name in names:
        if not any(_is_named(patch, name) for patch in dropped):
            raise NotDropped(checkout, name, any(_is_named(patch, name) for patch in patches))
    return [patch for patch in dropped if not any(_is_named(patch, name) for name in names)]


def _is_named(patch: Patch, name: str) -> bool:
    is_number = name.isascii() and name.isdigit() and int(name) == patch.number
    return is_number or name in (patch.name, patch.path)


def refuse_emptying(places: Sequence[Place], patches: Sequence[Patch], checkout: Path) -> None:
    """Raise NothingLeft when no patch would be left of a queue that has some."""
    if patches and not places:
        raise NothingLeft(checkout)


def numbering(
    project: Project, snapshot: Snapshot, kept: Sequence[Patch], wishes: Mapping[str, Wish]
) -> Numbering:
    """The rules that new numbers obey. kept: the patches that stay. Raises what pins.find raises."""
    found = pins.find(project, kept)
    series_lanes = frozenset(at for at, lane in enumerate(snapshot.lanes) if lane.series is not None)
    return Numbering(
        project=project,
        snapshot=snapshot,
        rules=Rules(bands=project.bands, reserved=frozenset(found.reserved), series_lanes=series_lanes),
        pinned=frozenset(found.pinned),
        wishes=wishes,
    )


def plan(
    project: Project,
    snapshot: Snapshot,
    places: Sequence[Place],
    drafts: Sequence[tuple[Patch, Row | None]],
    dropped: Sequence[Patch],
) -> Plan:
    """What changes. Raises Unusable when the check would refuse the result."""
    patches = [patch for patch, _ in drafts]
    after = with_patches(snapshot, places, patches)
    findings = reader.blocking(project, after)
    if findings:
        raise Unusable(findings)
    if list(ordered(after)) != patches:
        raise AssertionError("the numbers that were given do not keep the order")
    changes = [_change(place, patch, row) for place, (patch, row) in zip(places, drafts, strict=True)]
    gone = [
        Change(
            action=Action.DROPPED,
            number=patch.number,
            path=patch.path,
            before=patch.path,
            subject=subject_of(patch, project.subject_prefix),
            commit=None,
        )
        for patch in dropped
    ]
    return Plan(
        changes=(*changes, *gone),
        patches=tuple(patches),
        rows=tuple(row for _, row in drafts if row is not None),
        held=sum(place.commit is not None for place in places),
        files=differences(snapshot, after),
    )


def _change(place: Place, patch: Patch, row: Row | None) -> Change:
    before = place.patch
    if before is None:
        action = Action.NEW
    elif before.content != patch.content:
        action = Action.REWRITTEN
    else:
        action = Action.KEPT if before.path == patch.path else Action.RENAMED
    return Change(
        action=action,
        number=patch.number,
        path=patch.path,
        before=before.path if before else None,
        subject=row.subject if row else "",
        commit=place.commit.id if place.commit else None,
    )


def with_patches(snapshot: Snapshot, places: Sequence[Place], patches: Sequence[Patch]) -> Snapshot:
    """The queue with these patches in place of its own."""
    lanes = []
    for at, lane in enumerate(snapshot.lanes):
        own = [(place, patch) for place, patch in zip(places, patches, strict=True) if place.lane == at]
        lanes.append(_lane(lane, own))
    return Snapshot(snapshot.source, tuple(lanes))


def _lane(lane: Lane, own: Sequence[tuple[Place, Patch]]) -> Lane:
    known = {patch.name for patch in lane.patches()}
    others = [entry for entry in lane.entries if entry.name not in known]
    entries = [*others, *(Entry(patch.name, FILE, patch.content) for _, patch in own)]
    entries.sort(key=lambda entry: os.fsencode(entry.name))
    series = lane.series
    if series is not None:
        order = [
            Listed(name=patch.name, before=place.patch.name if place.patch else None) for place, patch in own
        ]
        is_same = [(each.name, each.name) for each in order] == [(each.name, each.before) for each in order]
        if not is_same or [patch.name for patch in lane.ordered()] != [each.name for each in order]:
            series = series._replace(content=seriesorder.rewrite(series.content, order))
    return Lane(lane.path, lane.exists or bool(entries), tuple(entries), series)


def differences(before: Snapshot, after: Snapshot) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Path -> bytes before and after, of every file that is not the same in both."""
    old, new = _files(before), _files(after)
    return {
        path: (old.get(path), new.get(path))
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path)
    }


def _files(snapshot: Snapshot) -> dict[str, bytes]:
    found = {}
    for lane in snapshot.lanes:
        for entry in (*lane.entries, *([lane.series] if lane.series else ())):
            if entry.kind == FILE:
                found[join(lane.path, SERIES if entry is lane.series else entry.name)] = entry.content
    return found
