"""`refresh`: the commits above the pin become the patch files of the queue.

Everything is made and proven in memory first. Then the note of the handover, the files, the refs, each
step journaled, so that a kill anywhere leaves what the next command finishes; see apply/handover.py.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply import handover
from skippy_patches.apply.handover import Handover
from skippy_patches.apply.ledger import Ledger, prefix_keys
from skippy_patches.authoring import edited, ground, history
from skippy_patches.authoring.bench import open_bench
from skippy_patches.authoring.message_errors import DoesNotSurvive
from skippy_patches.authoring.refresh import identity, normalise, places, planning, wishes
from skippy_patches.authoring.refresh.draft import Known, Progress, Workshop
from skippy_patches.authoring.refresh.errors import AutosquashLeft, NormaliseAlone, QueueTouched, UnnamedDrops
from skippy_patches.journal import rewrite
from skippy_patches.journal.rewrite import Rewrite
from skippy_patches.progress import Silent
from skippy_patches.queue import reader
from skippy_patches.queue.patch import digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.apply.ledger import Row
    from skippy_patches.authoring.history import Commit
    from skippy_patches.authoring.refresh.changes import Plan
    from skippy_patches.authoring.refresh.places import Place
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.upstream.pin import Pin

KIND = "refresh"
_AUTOSQUASH = ("fixup! ", "squash! ", "amend! ")  # git-rebase(1), --autosquash


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for. drop: numbers or file names of patches that may be deleted."""

    drop: tuple[str, ...] = ()
    normalise: bool = False
    dry_run: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was planned and whether it was written.

    commit: that the checkout stands at. saved: the ref of the author's commits, where the queue's own took
    their place.
    """

    plan: Plan
    is_written: bool
    commit: ObjectId
    checkout: Path
    saved: str | None


def refresh(project: Project, pin: Pin, request: Request, *, reporter: Reporter) -> Outcome:
    """Bring the patch files up to the commits in the checkout.

    Raises what ground.py, places.py and draft.py raise, UnnamedDrops, NotDropped, NothingLeft, Unusable and
    NormaliseAlone; then nothing was written.
    """
    with ground.hold(project, reporter) as checkout:
        rewrite.finish_pending(project, reporter)
        snapshot = reader.read_folder(project)
        patches = reader.usable(project, snapshot)
        saved = handover.settle(checkout, patches)
        session = _Session(project, pin, checkout, snapshot, patches, reporter)
        plan, undecided = session.plan(request.drop)
        if undecided and not request.dry_run:
            raise UnnamedDrops(plan, undecided)
        if request.normalise:
            if plan.has_changes:
                raise NormaliseAlone(plan)
            plan = normalise.plan(session.workshop, plan, snapshot, reporter)
        if request.dry_run:
            tip = session.tip
            return Outcome(plan=plan, is_written=False, commit=tip, checkout=checkout.path, saved=saved)
        return session.write(plan, saved)


class _Session:
    """One refresh, in a checkout that is locked."""

    def __init__(
        self,
        project: Project,
        pin: Pin,
        checkout: Checkout,
        snapshot: Snapshot,
        patches: Sequence[Patch],
        reporter: Reporter,
    ) -> None:
        self._project = project
        self._pin = pin
        self._checkout = checkout
        self._snapshot = snapshot
        self._patches = patches
        self._reporter = reporter
        standing = ground.settled(checkout)
        assert standing.tip is not None  # noqa: S101 - it is on its branch
        self.tip: ObjectId = standing.tip
        self._commits = ground.commits(checkout, pin, self.tip)
        engine = ground.engine(project, checkout, Silent())
        rows = ground.held(project, engine, pin, patches, checkout, standing)
        self._before = history.read(checkout.repository, [row.commit for row in rows])
        below = [checkout.repository.resolve(f"{pin.commit}^{{tree}}"), *(row.tree for row in rows)]
        known = {
            patch.path: Known(commit=commit, row=row, on=on)
            for patch, commit, row, on in zip(patches, self._before, rows, below, strict=False)
        }
        self.workshop = Workshop(
            pin=pin,
            checkout=checkout,
            engine=dataclasses.replace(engine, reporter=Progress(reporter)),
            bench=open_bench(checkout),
            known=known,
        )

    def plan(self, drop: Sequence[str]) -> tuple[Plan, list[Patch]]:
        """The plan, and the patches that it drops without having been told to."""
        found = self._places()
        self._refuse_autosquash(found)
        kept = [place.patch for place in found if place.patch]
        dropped = [patch for patch in self._patches if patch not in kept]
        undecided = planning.undecided(dropped, self._patches, drop, self._checkout.path)
        planning.refuse_emptying(found, self._patches, self._checkout.path)
        granted = wishes.grant(wishes.load(self._checkout), [each.commit for each in found if each.commit])
        numbering = planning.numbering(self._project, self._snapshot, kept, granted)
        placed = places.arrange(found, numbering, self._checkout.path)
        files = [(self._snapshot.lanes[place.lane].path, place.file_name()) for place in placed]
        try:
            drafts = self.workshop.draft(placed, files)
        except DoesNotSurvive as error:
            error.mend_at(self._checkout.path, is_last=error.commit.id == self.tip)
            raise
        plan = planning.plan(self._project, self._snapshot, placed, drafts, dropped)
        return plan, undecided

    def _places(self) -> list[Place]:
        """The commits in order, each with its patch; then the patches that are not checked out."""
        matched = identity.match(
            self.workshop.bench, self._pin.commit, self._before, self._commits, self._edited()
        )
        checked_out = [
            places.Place(commit=commit, patch=None if at is None else self._patches[at])
            for commit, at in zip(self._commits, matched, strict=True)
        ]
        behind = self._patches[len(self._before) :]
        return [*checked_out, *(places.Place(commit=None, patch=patch) for patch in behind)]

    def _refuse_autosquash(self, found: Sequence[Place]) -> None:
        """Raise AutosquashLeft for new commits that are meant for another one."""
        left = [
            place.commit
            for place in found
            if place.commit and place.patch is None and place.commit.subject.startswith(_AUTOSQUASH)
        ]
        if left:
            raise AutosquashLeft(self._checkout.path, left, self._pin.commit)

    def _edited(self) -> tuple[int, int] | None:
        """The patch that was edited, and the commit that was made in its place."""
        made = edited.load(self._checkout)
        places = {patch.path: at for at, patch in enumerate(self._patches[: len(self._before)])}
        at = made.place(self._commits) if made else None
        return (places[made.patch], at) if made and at is not None and made.patch in places else None

    def write(self, plan: Plan, saved: str | None) -> Outcome:
        """Write the files, then point the refs at the commits that they give."""
        commit = plan.rows[plan.held - 1].commit if plan.held else self._pin.commit
        self._remember(plan.patches, plan.rows)
        if plan.has_changes or commit != self.tip:
            note = Handover(queue=digest(plan.patches), tip=self.tip, commit=commit)
            handover.announce(self._checkout, note)
            if plan.has_changes:
                rewrite.carry_out(self._project, Rewrite(kind=KIND, files=plan.files), self._reporter)
            found = reader.load(self._project)
            if digest(found) != note.queue:  # somebody was at the files meanwhile
                raise QueueTouched(self._project.root)
            saved = handover.settle(self._checkout, found) or saved
            self._forget_wishes(self._commits)
            edited.forget(self._checkout)
        return Outcome(
            plan=plan,
            is_written=plan.has_changes,
            commit=commit,
            checkout=self._checkout.path,
            saved=saved,
        )

    def _remember(self, patches: Sequence[Patch], rows: Sequence[Row]) -> None:
        """The ledger learns the commits of the new queue: the next apply has nothing to do."""
        options = self.workshop.engine.options
        keys = prefix_keys(self._pin.commit, options.committer, options.subject_prefix, patches)
        ledger = Ledger(self._checkout.ledger)
        for key, row in zip(keys, rows, strict=False):
            ledger.add(key, row)
        ledger.save()

    def _forget_wishes(self, commits: Sequence[Commit]) -> None:
        remembered = wishes.load(self._checkout)
        if remembered:
            granted = wishes.grant(remembered, commits).values()
            wishes.save(self._checkout, [wish for wish in remembered if wish not in granted])
