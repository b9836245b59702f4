"""How the checkout stands to the queue, without changing or locking anything."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import move
from skippy_patches.apply.ledger import Ledger, prefix_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.ledger import Row
    from skippy_patches.apply.stopped import Stopped
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


class State(enum.StrEnum):
    """What the next apply would find."""

    MISSING = "missing"  # there is no checkout yet
    INTERRUPTED = "interrupted"  # a move was killed; the next apply finishes it
    EDITING = "editing"  # an edit is stopped in it
    FOREIGN = "foreign"  # it holds work that is not in the queue
    OUTDATED = "outdated"  # it holds another queue, or a part of this one
    APPLIED = "applied"  # it holds this queue


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """The checkout as it is. rows: of the prefix of the queue that was ever applied here.

    stopped: the edit that is stopped in it.
    """

    state: State
    head: ObjectId | None
    foreign: tuple[str, ...]
    stopped: Stopped | None
    rows: tuple[Row, ...]


def look(project: Project, patches: Sequence[Patch]) -> View:
    """Compare checkout and queue. Raises NotOurs when a stranger's folder is in the place."""
    checkout = checkouts.open_existing(project.checkout.resolve())
    if checkout is None:
        return View(state=State.MISSING, head=None, foreign=(), stopped=None, rows=())
    standing = checkouts.standing(checkout)
    keys = prefix_keys(project.upstream.commit, project.committer, project.subject_prefix, patches)
    rows = tuple(Ledger(checkout.ledger).longest(keys))
    return View(
        state=_state(checkout, standing, project, patches, rows),
        head=standing.head,
        foreign=standing.foreign,
        stopped=standing.stopped,
        rows=rows,
    )


def _state(
    checkout: checkouts.Checkout,
    standing: checkouts.Standing,
    project: Project,
    patches: Sequence[Patch],
    rows: Sequence[Row],
) -> State:
    if move.pending(checkout):
        return State.INTERRUPTED
    if standing.head is None:
        return State.MISSING
    if standing.stopped:
        return State.EDITING
    if standing.foreign:
        return State.FOREIGN
    tip = rows[-1].commit if rows else project.upstream.commit
    return State.APPLIED if len(rows) == len(patches) and tip == standing.head else State.OUTDATED
