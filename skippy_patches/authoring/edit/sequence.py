"""`edit N`, `continue` and `edit --abort`: stop at a patch, change it, and have the rest follow.

The rest is replayed in memory, commit by commit, and the work tree moves once, at the end or to a conflict.
What is stopped is written in the step that moves the work tree (apply/stopped.py); so whatever is killed,
any of the three commands goes on from there.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply import handover, move, prefixes
from skippy_patches.apply import stopped as stopping
from skippy_patches.apply.errors import NoSuchPatch, PatchDoesNotApply
from skippy_patches.apply.ledger import Ledger, prefix_keys
from skippy_patches.apply.move import Move
from skippy_patches.apply.stopped import Stopped
from skippy_patches.authoring import edited, ground, history
from skippy_patches.authoring.bench import open_bench
from skippy_patches.authoring.edit import conflict
from skippy_patches.authoring.edit.errors import AbortBegun, NoEdit, UnrefreshedCommits
from skippy_patches.authoring.edit.replay import replay
from skippy_patches.authoring.edited import Edited
from skippy_patches.authoring.errors import EditIsStopped, QueueChanged
from skippy_patches.journal import rewrite
from skippy_patches.objectid import ObjectId
from skippy_patches.queue import reader
from skippy_patches.queue.patch import digest
from skippy_patches.upstream.verify import PIN_REF

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.apply.ledger import Row
    from skippy_patches.authoring.history import Commit
    from skippy_patches.config import Project
    from skippy_patches.git import Repository
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Begun:
    """Where `edit` stopped."""

    stopped: Stopped
    checkout: Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A commit of which nothing remained; patch: its file, empty when it is not known."""

    commit: Commit
    patch: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Continued:
    """The whole queue again. is_changed: it is another one than before the edit.

    is_current: the patch files are still those that the edit began from, so that refresh can write it.
    """

    commit: ObjectId
    is_changed: bool
    is_current: bool
    left_out: tuple[LeftOut, ...]
    checkout: Path


def stopped(checkout: Checkout) -> Stopped | None:
    """The edit that is stopped in `checkout`, for `status`; None when there is none."""
    return stopping.load(checkout.edit)


def edit(project: Project, pin: Pin, number: int, *, reporter: Reporter) -> Begun:
    """Stop the checkout at patch `number`; the commits behind it wait for `continue_`.

    Raises NoSuchPatch, EditIsStopped, UnrefreshedCommits, QueueChanged for another pin, PatchError, and what
    ground.clean raises.
    """
    with ground.hold(project, reporter) as checkout:
        rewrite.finish_pending(project, reporter)
        patches = reader.load(project)
        handover.settle(checkout, patches)
        standing = ground.on_branch(checkout)
        if standing.stopped and standing.stopped.has_work(standing.tip):
            raise EditIsStopped(standing.stopped)
        ground.clean(checkout)
        if standing.tip != standing.applied:
            raise UnrefreshedCommits(checkout.path, str(standing.tip), str(standing.applied))
        if checkout.repository.resolve(PIN_REF) != pin.commit:
            raise QueueChanged(checkout.path)
        numbers = [patch.number for patch in patches]
        if number not in numbers:
            raise NoSuchPatch(number, numbers)
        place = numbers.index(number)
        commits = [row.commit for row in _rows(project, pin, patches, checkout, standing, reporter)]
        now = Stopped(
            number=number,
            patch=patches[place].path,
            at=commits[place],
            original=commits[-1],
            rest=tuple(commits[place + 1 :]),
            queue=digest(patches),
        )
        edited.forget(checkout)
        move.make(checkout, dataclasses.replace(Move.plan(standing, now.at), edit=now.text()))
        return Begun(stopped=now, checkout=checkout.path)


def continue_(project: Project, pin: Pin, *, reporter: Reporter) -> Continued:
    """Replay what waits onto what the author made of the patch.

    Raises NoEdit, Conflict (which is in the work tree then), Unresolved and its kin, AbortBegun, and what
    ground.py raises.
    """
    with ground.hold(project, reporter) as checkout:
        rewrite.finish_pending(project, reporter)
        bench = open_bench(checkout)
        now = stopped(checkout)
        if now is None:
            raise NoEdit
        if now.is_ending:
            raise AbortBegun(now)
        now = conflict.settle(checkout, bench, now)
        standing = ground.on_branch(checkout)
        tip, now = _author_made(project, pin, checkout, bench, standing, now)
        patches = reader.load(project)
        names = _names(project, pin, checkout, patches)
        rest = () if tip == now.original else now.rest  # the author went back to where it began
        replayed = replay(bench, tip, rest, project.committer)
        files_of = tip if now.picked else standing.tree
        if replayed.picked:
            now = conflict.place(checkout, bench, standing, files_of, now, replayed)
            raise conflict.error(checkout, bench, now, names)
        plan = Move.plan(standing, replayed.tip)
        move.make(checkout, dataclasses.replace(plan, old=files_of, applied=now.original))
        left_out = [*history.read(bench, now.left_out), *replayed.left_out]
        return Continued(
            commit=replayed.tip,
            is_changed=replayed.tip != now.original,
            is_current=now.queue in ("", digest(patches)),
            left_out=tuple(LeftOut(commit=each, patch=names.get(each.id, "")) for each in left_out),
            checkout=checkout.path,
        )


def _author_made(
    project: Project, pin: Pin, checkout: Checkout, bench: Repository, standing: Standing, now: Stopped
) -> tuple[ObjectId, Stopped]:
    """The commit to go on from, and what is stopped, with a commit of which the author left nothing."""
    tip = standing.tip
    assert tip is not None  # noqa: S101 - it is on its branch
    if now.picked is None or tip != now.base:
        if now.picked:
            conflict.refuse_swallowed(checkout, now, tip)
        ground.clean(checkout)
        commits = ground.commits(checkout, pin, tip)
        if now.picked is None:
            _remember(checkout, now, commits)
        return tip, dataclasses.replace(now, picked=None)
    conflict.refuse_unresolved(checkout, bench, now)
    picked = history.read(bench, [now.picked])[0]
    tree = checkout.repository.run("write-tree").line
    if tree == checkout.repository.resolve(f"{tip}^{{tree}}"):
        return tip, dataclasses.replace(now, left_out=(*now.left_out, now.picked))
    return history.make(bench, picked, tree=ObjectId(tree), parents=[tip], committer=project.committer), now


def _remember(checkout: Checkout, now: Stopped, commits: Sequence[Commit]) -> None:
    """The first commit that was made in the place of the patch is that patch (edited.py)."""
    before = history.read(checkout.repository, [now.at])[0].parents[0]
    first = next((commit for commit in commits if commit.parents[0] == before), None)
    if first and first.id != now.at:
        edited.save(checkout, Edited(patch=now.patch, email=first.email, date=first.date))


def _rows(
    project: Project,
    pin: Pin,
    patches: Sequence[Patch],
    checkout: Checkout,
    standing: Standing,
    reporter: Reporter,
) -> list[Row]:
    ledger = Ledger(checkout.ledger)
    try:
        return prefixes.apply(ground.engine(project, checkout, reporter), pin, patches, ledger)[0]
    except PatchDoesNotApply as error:
        error.keep(checkout.path, patches[: patches.index(error.patch)], standing.head)
        raise
    finally:
        ledger.save()


def _names(project: Project, pin: Pin, checkout: Checkout, patches: Sequence[Patch]) -> dict[str, str]:
    """Commit -> the patch file that gave it, as far as the queue is still the one that was applied."""
    keys = prefix_keys(pin.commit, project.committer, project.subject_prefix, patches)
    rows = Ledger(checkout.ledger).longest(keys)
    return {str(row.commit): patch.path for row, patch in zip(rows, patches, strict=False)}
