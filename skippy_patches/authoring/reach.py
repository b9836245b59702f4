"""Which numbers a patch can have that begins at the tip now, told by what is known without a refresh.

`refresh` has the last word, since it knows which patch each amended commit is; what is refused here, it would
refuse, too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply.ledger import Ledger, prefix_keys
from skippy_patches.authoring import history
from skippy_patches.authoring.refresh import wishes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.authoring.refresh.wishes import Wish
    from skippy_patches.config import Project
    from skippy_patches.queue.patch import Patch
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reach:
    """behind, before: the patches that a new one would stand between; None where there is none known.

    wished: the numbers and bands that commits here were promised, in their order; the last `near` of them
    stand between `behind` and the new one. is_ordered: the lane sorts by number.
    """

    behind: Patch | None
    before: Patch | None
    wished: tuple[Wish, ...]
    near: int
    is_ordered: bool


def at_tip(
    project: Project,
    pin: Pin,
    snapshot: Snapshot,
    patches: Sequence[Patch],
    checkout: Checkout,
    standing: Standing,
) -> Reach:
    """What a commit on the branch's tip would stand between."""
    repository = checkout.repository
    if standing.tip is None or repository.resolve(pin.commit) is None:
        return Reach(behind=None, before=None, wished=(), near=0, is_ordered=False)
    commits = history.between(repository, pin.commit, standing.tip)
    keys = prefix_keys(pin.commit, project.committer, project.subject_prefix, patches)
    known = [row.commit for row in Ledger(checkout.ledger).longest(keys)]
    last = max((at for at, commit in enumerate(commits) if commit.id in known), default=-1)
    behind = patches[known.index(commits[last].id)] if last >= 0 else None
    following = known.index(standing.applied) + 1 if standing.applied in known else len(patches)
    before = patches[following] if following < len(patches) else None
    granted = wishes.grant(wishes.load(checkout), commits)
    return Reach(
        behind=behind,
        before=before if behind and before and before.lane == behind.lane else None,
        wished=tuple(granted[str(commit.id)] for commit in commits if str(commit.id) in granted),
        near=sum(str(commit.id) in granted for commit in commits[last + 1 :]),
        is_ordered=behind is not None
        and all(lane.series is None for lane in snapshot.lanes if lane.path == behind.lane),
    )
