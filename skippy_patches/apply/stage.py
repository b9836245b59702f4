"""The stage: pin and queue in, `Applied` out, and the work tree moved once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import handover, move, prefixes, save, stamp, working
from skippy_patches.apply.engine import IndexEngine, Options
from skippy_patches.apply.errors import (
    EmptyQueue,
    ForeignWork,
    NoSuchPatch,
    PatchDoesNotApply,
)
from skippy_patches.apply.ledger import Ledger
from skippy_patches.apply.reference import Referee
from skippy_patches.apply.result import Applied, AppliedPatch, Tip
from skippy_patches.errors import SkippyError
from skippy_patches.queue.patch import digest
from skippy_patches.upstream.cache import Cache, deliver
from skippy_patches.upstream.sources import configured
from skippy_patches.upstream.verify import PIN_REF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.apply.ledger import Row
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for. to: the number of the last patch to apply; 0: the pin alone; None: all."""

    to: int | None = None
    discard: bool = False
    verify_with_git: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result, whether the work tree moved, and where discarded work was saved.

    fingerprint: of the checkout, seen to be clean and at rest before the lock was given up; None otherwise.
    """

    applied: Applied
    moved: bool
    saved: str | None
    fingerprint: str | None


def apply(
    project: Project,
    read: Callable[[], tuple[Pin, Sequence[Patch]]],
    request: Request,
    *,
    cache: Cache,
    reporter: Reporter,
) -> Outcome:
    """Put the queue on the pin in the project's checkout.

    read: gives pin and queue of today. It is asked with the checkout locked: while this command waited for
    another one, that one may have written the queue. Raises PatchError (the checkout stays as it was),
    ForeignWork and its kin, NoSource.
    """
    if checkouts.open_existing(project.checkout.resolve()) is None:
        select(project, read()[1], request.to)  # no checkout is made for a queue that cannot be applied
    with working.hold(project, reporter, discard=request.discard) as checkout:
        pin, patches = read()
        chosen = select(project, patches, request.to)
        handover.settle(checkout, patches)
        standing = checkouts.standing(checkout)
        if standing.foreign and not request.discard:
            raise ForeignWork(checkout.path, standing.foreign, is_editing=standing.stopped is not None)
        if checkout.repository.resolve(PIN_REF) != pin.commit:
            deliver(pin, configured(project.upstream), cache, checkout.repository, reporter)
        rows, reused = _rows(project, pin, chosen, checkout, standing, reporter)
        tip = rows[-1].commit if rows else pin.commit
        if request.verify_with_git:
            _referee(project, checkout).check(pin.commit, chosen, [row.commit for row in rows], reporter)
        saved = _move(checkout, standing, tip)
        _end_edit(checkout, standing, reporter)
        return Outcome(
            applied=_applied(pin, chosen, checkout, rows, reused),
            moved=tip != standing.head,
            saved=saved,
            fingerprint=_fingerprint(checkout, tip) if request.to is None else None,
        )


def _move(checkout: Checkout, standing: Standing, tip: ObjectId) -> str | None:
    """Bring the work tree to `tip`; the ref of what had to be saved before.

    Everything that can be refused is refused before anything is written.
    """
    if standing.foreign:
        saved = save.snapshot(checkout, standing)
        plan = move.Move.plan(standing, tip, saved)
        move.check(checkout, plan)
        ref = save.keep(checkout, saved[0])
        try:
            move.carry_out(checkout, plan)
        except SkippyError as error:
            error.mend = f"Your work is saved as {ref} in {checkout.path}.\n{error.mend}"
            raise
        return ref
    if tip == standing.head:
        # Files that were touched and not changed: llama.cpp's build would take them for edits.
        checkout.repository.run("update-index", "-q", "--refresh")
    else:
        plan = move.Move.plan(standing, tip)
        move.check(checkout, plan)
        move.carry_out(checkout, plan)
    return None


def _end_edit(checkout: Checkout, standing: Standing, reporter: Reporter) -> None:
    """Whatever was stopped here, the queue is applied now; a move has forgotten it already."""
    if standing.stopped:
        move.settle_edit(checkout, "")
        reporter.step(f"The edit of {standing.stopped.patch} is over")


def _fingerprint(checkout: Checkout, tip: ObjectId) -> str | None:
    """Of the checkout at `tip`, without a person's work, and not changing while it is looked at."""
    path = str(checkout.path)
    before = stamp.settled_fingerprint(path)
    standing = checkouts.standing(checkout)
    is_clean = not standing.foreign and standing.head == tip
    return before if is_clean and before == stamp.fingerprint(path) else None


def select(project: Project, patches: Sequence[Patch], to: int | None) -> Sequence[Patch]:
    """The prefix that ends with patch number `to`. Raises NoSuchPatch and EmptyQueue."""
    if to == 0:
        return ()
    if not patches:
        raise EmptyQueue(project.queue)
    if to is None:
        return patches
    numbers = [patch.number for patch in patches]
    if to not in numbers:
        raise NoSuchPatch(to, numbers)
    return patches[: numbers.index(to) + 1]


def _referee(project: Project, checkout: Checkout) -> Referee:
    folder = checkout.scratch / "am"  # emptied by the next apply, if this one is killed
    return Referee(repository=checkout.repository, options=Options.of(project), folder=folder)


def _rows(
    project: Project,
    pin: Pin,
    patches: Sequence[Patch],
    checkout: Checkout,
    standing: Standing,
    reporter: Reporter,
) -> tuple[list[Row], int]:
    """A row a patch, and how many of them were known from before."""
    ledger = Ledger(checkout.ledger)
    engine = IndexEngine(
        repository=checkout.repository,
        options=Options.of(project),
        scratch=checkout.scratch,
        reporter=reporter,
    )
    try:
        return prefixes.apply(engine, pin, patches, ledger)
    except PatchDoesNotApply as error:
        before = patches[: patches.index(error.patch)]
        error.keep(checkout.path, before, standing.head)
        raise
    finally:
        ledger.save()


def _applied(
    pin: Pin, patches: Sequence[Patch], checkout: Checkout, rows: Sequence[Row], reused: int
) -> Applied:
    tree = checkout.repository.resolve(f"{pin.commit}^{{tree}}")
    assert tree is not None  # noqa: S101 - the pin was verified
    upstream = Tip(commit=pin.commit, tree=tree)
    listed = tuple(_listed(patch, row) for patch, row in zip(patches, rows, strict=True))
    return Applied(
        upstream=upstream,
        upstream_tag=pin.tag,
        patched=Tip(commit=rows[-1].commit, tree=rows[-1].tree) if rows else upstream,
        queue_digest=digest(patches),
        checkout=checkout.path,
        reused=reused,
        patches=listed,
    )


def _listed(patch: Patch, row: Row) -> AppliedPatch:
    return AppliedPatch(
        number=patch.number,
        file=patch.name,
        sha256=patch.sha256,
        subject=row.subject,
        commit=row.commit,
        tree=row.tree,
        files=row.files,
        insertions=row.insertions,
        deletions=row.deletions,
    )
