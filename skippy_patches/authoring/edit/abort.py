"""`edit --abort`: back to the whole queue; what is there is saved first."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import move, save
from skippy_patches.apply.move import Move
from skippy_patches.authoring import ground
from skippy_patches.authoring.edit.errors import NoEdit
from skippy_patches.authoring.errors import OperationInProgress
from skippy_patches.journal import rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter


@dataclasses.dataclass(frozen=True, kw_only=True)
class Aborted:
    """The whole queue again, as it was. saved: the ref of what was there, None when it was nothing."""

    commit: ObjectId
    saved: str | None
    checkout: Path


def abort(project: Project, *, reporter: Reporter) -> Aborted:
    """Go back to the whole queue; what is there is saved first. Raises NoEdit, CannotSave, InTheWay."""
    with ground.hold(project, reporter) as checkout:
        rewrite.finish_pending(project, reporter)
        standing = checkouts.standing(checkout)
        now = standing.stopped
        if now is None:
            raise NoEdit
        if standing.busy:
            raise OperationInProgress(checkout.path, standing.busy)
        if not standing.foreign and standing.tip == now.at:
            move.make(checkout, Move.plan(standing, now.original))
            return Aborted(commit=now.original, saved=None, checkout=checkout.path)
        save.refuse_unsavable(checkout, standing, has_conflict=True)
        # From here on the index does not tell any more what is in conflict: `continue` would not know.
        move.settle_edit(checkout, dataclasses.replace(now, is_ending=True).text())
        _add_unmerged(checkout)
        saved = save.snapshot(checkout, standing)
        plan = Move.plan(standing, now.original, saved)
        move.check(checkout, plan)
        ref = save.keep(checkout, saved[0])
        move.carry_out(checkout, plan)
        return Aborted(commit=now.original, saved=ref, checkout=checkout.path)


def _add_unmerged(checkout: Checkout) -> None:
    """Files in conflict go into the index as they are: only then can git store it."""
    repository = checkout.repository
    unmerged = repository.run("ls-files", "--unmerged", "-z").stdout.rstrip(b"\0").split(b"\0")
    paths = b"".join(
        path + b"\0" for path in dict.fromkeys(each.partition(b"\t")[2] for each in unmerged) if path
    )
    if paths:
        repository.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=paths)
