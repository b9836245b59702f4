"""The proof that new numbers change nothing: both orders are really applied, prefix by prefix."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.renumber.errors import NeitherOrderApplies, OtherCommits, PatchesDoNotCommute
from skippy_patches.review.application import Application, apply_all, commute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.apply.ledger import Row
    from skippy_patches.apply.trial import Trial
    from skippy_patches.errors import PatchError, SkippyError
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Proof:
    """What was seen.

    rows: of the new order, as far as it applies. equal: so many prefixes, from the first on, have the commit
    and the tree that they had. error: of the first patch that does not apply in the new order, or None.
    old_error: the same of the order of today. is_order_kept: the patches are applied in the same order.
    """

    base: ObjectId
    rows: tuple[Row, ...]
    equal: int
    error: PatchError | None
    old_error: PatchError | None
    is_order_kept: bool


def prove(trial: Trial, before: Sequence[Patch], after: Sequence[Patch], pins: Mapping[str, str]) -> Proof:
    """Apply the patches of today in both orders. pins: path -> what pins it, for messages.

    The old order may come from the ledger of the checkout; the new one is applied afresh, every patch of it.
    Raises PatchesDoNotCommute when the final trees differ, or only the old order applies, and
    NeitherOrderApplies when there is another order and nothing to compare.
    """
    old = apply_all(trial, before)
    new = apply_all(trial, after, anew=True)
    equal = _equal(old, new)
    is_order_kept = list(before) == list(after)
    if is_order_kept:
        same_end = (old.error and old.error.what) == (new.error and new.error.what)
        if not same_end or not equal == len(old.rows) == len(new.rows):
            raise OtherCommits(equal)
    elif new.error is not None and old.error is not None:
        raise NeitherOrderApplies(old.error, new.error)
    elif old.error is None and (new.error is not None or old.rows[-1].tree != new.rows[-1].tree):
        raise _culprits(trial, before, after, old, pins)
    return Proof(
        base=trial.pin.commit,
        rows=new.rows,
        equal=equal,
        error=new.error,
        old_error=old.error,
        is_order_kept=is_order_kept,
    )


def _equal(old: Application, new: Application) -> int:
    """How many prefixes have the same commit and tree."""
    for count, (one, other) in enumerate(zip(old.rows, new.rows, strict=False)):
        if (one.commit, one.tree) != (other.commit, other.tree):
            return count
    return min(len(old.rows), len(new.rows))


def _culprits(
    trial: Trial,
    before: Sequence[Patch],
    after: Sequence[Patch],
    old: Application,
    pins: Mapping[str, str],
) -> SkippyError:
    """The first two neighbours that cannot be swapped on the way from one order to the other.

    There are two: if every swap kept the tree, the last tree would be the same.
    """
    rank = {patch.path: place for place, patch in enumerate(after)}
    order = list(before)
    while (place := _inversion(order, rank)) is not None:
        first, second = order[place], order[place + 1]
        base = old.rows[place - 1].commit if place else trial.pin.commit
        if order[:place] != list(before[:place]):
            base = apply_all(trial, order[:place]).rows[-1].commit
        tried = commute(trial, base, first, second)
        if not tried.commutes:
            return PatchesDoNotCommute(first, second, pins.get(second.path, ""), tried.reason)
        order[place : place + 2] = [second, first]
    return OtherCommits(len(before))


def _inversion(order: Sequence[Patch], rank: Mapping[str, int]) -> int | None:
    places = range(len(order) - 1)
    return next((at for at in places if rank[order[at].path] > rank[order[at + 1].path]), None)
