"""The stage `renumber`: a plan of new numbers with the proof that they change nothing, and the renames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.apply.trial import open_trial
from skippy_patches.journal import rewrite
from skippy_patches.journal.rewrite import Rewrite
from skippy_patches.queue import numbering, reader
from skippy_patches.queue.assignment.assign import assign
from skippy_patches.queue.assignment.item import Item, Rules
from skippy_patches.queue.errors import QueueError
from skippy_patches.queue.patch import digest, join
from skippy_patches.queue.snapshot import SERIES, ordered
from skippy_patches.renumber import pins as evidence
from skippy_patches.renumber.errors import NotAsPlanned
from skippy_patches.renumber.plan import Move, Plan, gaps_of, moves_of
from skippy_patches.renumber.proof import prove
from skippy_patches.renumber.series import renamed
from skippy_patches.upstream import pin as upstream_pin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.config import Project
    from skippy_patches.journal.rewrite import Done
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.renumber.pins import Pins
    from skippy_patches.renumber.proof import Proof
    from skippy_patches.upstream.cache import Cache

KIND = "renumber"
_ITS_BUSINESS = frozenset({"duplicate-number", "gap"})


def plan(project: Project, *, close_gaps: bool, cache: Cache, reporter: Reporter) -> Plan:
    """New numbers for the queue as it lies in its folders. Nothing is changed.

    Raises QueueError for what makes names or order doubtful beside numbers, CannotRenumber when pins or bands
    leave no way, PatchesDoNotCommute and NeitherOrderApplies, RecordBroken, AmbiguousPin, NoSource.
    """
    snapshot = _read(project)
    before = ordered(snapshot)
    pins = evidence.find(project, before)
    after = _pinned_first(snapshot, pins)
    numbers = assign(_items(snapshot, after, pins), _rules(project, snapshot, pins, close_gaps=close_gaps))
    moves = moves_of(after, numbers, pins.pinned)
    proof = None
    if any(move.is_rename for move in moves):
        proof = _prove(project, before, after, pins, cache, reporter)
    return Plan(
        moves=moves,
        before=digest(before),
        after=digest(move.renamed for move in moves),
        is_order_kept=before == after,
        proof=proof,
        gaps=gaps_of(moves, pins, project.bands, close_gaps=close_gaps),
        series=_series(snapshot, moves),
        notes=(*pins.notes, *_notes(before, after, proof)),
    )


def write(project: Project, made: Plan, reporter: Reporter) -> None:
    """Rename the files of the plan, in one step that `undo` takes back.

    Raises ChangedMeanwhile, WouldOverwrite, UnmergedPatches or IndexBusy before anything is changed, and
    NotAsPlanned when somebody changed the queue at the same time.
    """
    if not made.renames:
        return
    contents = {move.patch.path: move.patch.content for move in made.moves}
    files: dict[str, tuple[bytes | None, bytes | None]] = {
        path: (contents[path], None) for path in made.renames
    }
    change = Rewrite(kind=KIND, files=files | dict(made.series), renames=made.renames)
    rewrite.carry_out(project, change, reporter)
    wanted = tuple(move.renamed for move in made.moves)
    found = ordered(reader.read_folder(project))
    if found != wanted:
        differing = {*found} ^ {*wanted}
        raise NotAsPlanned(sorted({patch.path for patch in differing}) or ["the order"])


def undo(project: Project, reporter: Reporter) -> Done:
    """Take back the last renumbering. Raises NothingToUndo, UndoRefused."""
    return rewrite.undo(project, KIND, reporter)


def _read(project: Project) -> Snapshot:
    snapshot = reader.read_folder(project)
    findings = numbering.check(snapshot, "allow")
    doubtful = [each for each in findings if each.is_error and each.code not in _ITS_BUSINESS]
    if doubtful:
        raise QueueError(doubtful)
    return snapshot


def _pinned_first(snapshot: Snapshot, pins: Pins) -> tuple[Patch, ...]:
    """The apply order of today, but that of patches with one number in a lane a pinned one comes first."""
    patches: list[Patch] = []
    for lane in snapshot.lanes:
        listed = lane.ordered()
        if lane.series is None:
            listed.sort(key=lambda patch: (patch.number, patch.path not in pins.pinned))  # stable
        patches += listed
    return tuple(patches)


def _items(snapshot: Snapshot, patches: Sequence[Patch], pins: Pins) -> list[Item]:
    lanes = {lane.path: place for place, lane in enumerate(snapshot.lanes)}
    return [Item(patch.path, lanes[patch.lane], patch.number, patch.path in pins.pinned) for patch in patches]


def _rules(project: Project, snapshot: Snapshot, pins: Pins, *, close_gaps: bool) -> Rules:
    return Rules(
        bands=project.bands,
        reserved=frozenset(pins.reserved),
        close_gaps=close_gaps,
        series_lanes=frozenset(place for place, lane in enumerate(snapshot.lanes) if lane.series is not None),
    )


def _prove(
    project: Project,
    before: Sequence[Patch],
    after: Sequence[Patch],
    pins: Pins,
    cache: Cache,
    reporter: Reporter,
) -> Proof:
    pin = upstream_pin.read(project.upstream)
    sources = {path: f"pinned by {evidence.shown(named)}" for path, named in pins.pinned.items()}
    with open_trial(project, pin, cache, reporter) as trial:
        return prove(trial, before, after, sources)


def _notes(before: Sequence[Patch], after: Sequence[Patch], proof: Proof | None) -> list[str]:
    if proof is None:
        return []
    notes = []
    if not proof.is_order_kept:
        place = next(at for at, patch in enumerate(before) if patch != after[at])
        notes.append(f"A pin changes the order of application, from {after[place].path} on.")
    if proof.old_error is not None and proof.error is None:
        notes.append(f"The order of today does not apply, the new one does. Today: {proof.old_error.what}")
    if proof.error is not None:
        notes.append(f"The queue stops at the same patch before and after: {proof.error.what}")
    return notes


def _series(snapshot: Snapshot, moves: Sequence[Move]) -> dict[str, tuple[bytes, bytes]]:
    """The series files that list renamed patches, before and after."""
    files: dict[str, tuple[bytes, bytes]] = {}
    for lane in snapshot.lanes:
        if lane.series is not None:
            names = {move.patch.name: move.renamed.name for move in moves if move.patch.lane == lane.path}
            content = lane.series.content
            if (new_content := renamed(content, names)) != content:
                files[join(lane.path, SERIES)] = (content, new_content)
    return files
