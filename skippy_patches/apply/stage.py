"""The stage: pin and queue in, `Applied` out, and the work tree moved once."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import move, save, stamp
from skippy_patches.apply.engine import Engine, IndexEngine, Options
from skippy_patches.apply.errors import (
    EmptyQueue,
    ForeignWork,
    IndexLocked,
    LostCommits,
    NoSuchPatch,
    PatchDoesNotApply,
)
from skippy_patches.apply.ledger import Ledger, Row, prefix_keys
from skippy_patches.apply.reference import Referee
from skippy_patches.apply.result import Applied, AppliedPatch, Tip
from skippy_patches.errors import SkippyError, WrongTree
from skippy_patches.queue.patch import digest
from skippy_patches.upstream.cache import Cache, deliver
from skippy_patches.upstream.sources import configured
from skippy_patches.upstream.verify import PIN_REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.checkout import Checkout, Standing
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
    pin: Pin,
    patches: Sequence[Patch],
    request: Request,
    *,
    cache: Cache,
    reporter: Reporter,
) -> Outcome:
    """Put `patches` on the pin in the project's checkout.

    Raises PatchError (the checkout stays as it was), ForeignWork and its kin, NoSource.
    """
    chosen = select(project, patches, request.to)
    with _working_checkout(project, request, reporter) as checkout:
        standing = checkouts.standing(checkout)
        if standing.foreign and not request.discard:
            raise ForeignWork(checkout.path, standing.foreign)
        if checkout.repository.resolve(PIN_REF) != pin.commit:
            deliver(pin, configured(project.upstream), cache, checkout.repository, reporter)
        rows, reused = _rows(project, pin, chosen, checkout, standing, reporter)
        tip = rows[-1].commit if rows else pin.commit
        if request.verify_with_git:
            _referee(project, checkout).check(pin.commit, chosen, [row.commit for row in rows], reporter)
        saved = _move(checkout, standing, tip)
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


@contextlib.contextmanager
def _working_checkout(project: Project, request: Request, reporter: Reporter) -> Iterator[Checkout]:
    """The checkout, made where needed, alone in it, with whatever a killed command left put right."""
    path = project.checkout.resolve()  # two names of one folder have one lock
    _make_state_folder(project)
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock.hold(path.with_name(f".{path.name}.lock"), reporter) as descriptor:
        checkout = checkouts.open_existing(path) or checkouts.create(path)
        repository = dataclasses.replace(checkout.repository, inherited=(descriptor,))
        checkout = dataclasses.replace(checkout, repository=repository)
        if checkout.running.exists():
            move.clear_locks(checkout)
        checkout.running.write_bytes(b"")
        try:
            _put_right(checkout, request, reporter)
            yield checkout
        except Exception:  # ended by itself; a kill or ^C leaves the mark, and maybe locks of git's
            checkout.running.unlink(missing_ok=True)
            raise
        checkout.running.unlink(missing_ok=True)


def _put_right(checkout: Checkout, request: Request, reporter: Reporter) -> None:
    """Empty the scratch space, settle the attributes, and finish a move that was interrupted."""
    shutil.rmtree(checkout.scratch, ignore_errors=True)
    checkout.scratch.mkdir()
    checkouts.settle_attributes(checkout)
    index_lock = checkout.repository.git_dir / "index.lock"
    if index_lock.exists():
        raise IndexLocked(index_lock)
    unfinished = move.pending(checkout)
    if unfinished is None:
        checkout.journal.unlink(missing_ok=True)  # one that cannot be read is none
        return
    reporter.step(f"Finishing an interrupted move to {unfinished.new.short}")
    try:
        move.finish(checkout, unfinished)
    except WrongTree:
        if not request.discard:
            raise
        checkout.journal.unlink()  # what is there is saved, as it stands


def _make_state_folder(project: Project) -> None:
    """The folder of generated files, which hides itself from the project's own git."""
    ignore = project.state / ".gitignore"
    if not ignore.exists():
        project.state.mkdir(parents=True, exist_ok=True)
        ignore.write_text(
            "# Everything here is made by skippy-patches and can be made again.\n*\n", encoding="utf-8"
        )


def _options(project: Project) -> Options:
    return Options(committer=project.committer, subject_prefix=project.subject_prefix)


def _referee(project: Project, checkout: Checkout) -> Referee:
    folder = checkout.scratch / "am"  # emptied by the next apply, if this one is killed
    return Referee(repository=checkout.repository, options=_options(project), folder=folder)


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
    keys = prefix_keys(pin.commit, project.committer, project.subject_prefix, patches)
    rows = _still_there(checkout, ledger.longest(keys))
    reused = len(rows)
    engine = IndexEngine(
        repository=checkout.repository,
        options=_options(project),
        scratch=checkout.scratch,
        reporter=reporter,
    )
    try:
        _apply_rest(engine, pin, patches, keys, rows, ledger, reporter)
    except PatchDoesNotApply as error:
        error.keep(checkout.path, patches[: len(rows)], standing.head)
        raise
    finally:
        if len(rows) > reused:
            ledger.save()
    _prove(checkout, pin, patches, rows)
    return rows, reused


def _apply_rest(
    engine: Engine,
    pin: Pin,
    patches: Sequence[Patch],
    keys: Sequence[str],
    rows: list[Row],
    ledger: Ledger,
    reporter: Reporter,
) -> None:
    """Apply what `rows` lacks, adding to it patch by patch."""
    for count in range(len(rows), len(patches)):
        reporter.advance("Applying", count + 1, len(patches))
        row = engine.apply(rows[-1].commit if rows else pin.commit, patches[count])
        ledger.add(keys[count], row)
        rows.append(row)


def _still_there(checkout: Checkout, rows: list[Row]) -> list[Row]:
    """`rows` when git still has the last one's commit and tree, else nothing: git gc may have been there."""
    known = bool(rows) and checkout.repository.resolve(f"{rows[-1].commit}^{{tree}}") == rows[-1].tree
    return rows if known else []


def _prove(checkout: Checkout, pin: Pin, patches: Sequence[Patch], rows: Sequence[Row]) -> None:
    """As many commits on the pin as patch files."""
    if rows:
        counted = checkout.repository.run("rev-list", "--count", f"{pin.commit}..{rows[-1].commit}").line
        if int(counted) != len(patches):
            raise LostCommits(len(patches), int(counted))


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
