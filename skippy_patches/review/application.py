"""A merged queue put on the pin on trial, and colliding patches in both orders."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

from skippy_patches.errors import PatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.ledger import Row
    from skippy_patches.apply.trial import Trial
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch

_MOST_LINES = 8  # of a report why a patch does not apply
_MOST_TOLD = 2  # of those, in the text of a finding
_MOST_FILES = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Application:
    """A row for every patch that applies, and the error of the first that does not."""

    rows: tuple[Row, ...]
    error: PatchError | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Commute:
    """Whether two patches that have one number may stand in either order.

    commutes: None when that could not be tried. base: the commit of the prefix before them. tree_ab, tree_ba:
    the trees of base, first, second and of base, second, first, where they apply. reason: why they do not
    commute, or why it was not tried.
    """

    first: Patch
    second: Patch
    commutes: bool | None
    base: ObjectId | None = None
    tree_ab: ObjectId | None = None
    tree_ba: ObjectId | None = None
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        """As `check` prints it."""
        return {
            "first": self.first.path,
            "second": self.second.path,
            "commutes": self.commutes,
            "base": self.base,
            "tree_ab": self.tree_ab,
            "tree_ba": self.tree_ba,
            "reason": self.reason,
        }

    def described(self) -> str:
        """The verdict with its proof, in a line or several."""
        names = f"{self.first.name} and {self.second.name}"
        if self.commutes is None:
            return f"Whether {names} commute was not tried: {self.reason}"
        if self.commutes:
            return f"{names} commute: on commit {self.base} both orders give tree {self.tree_ab}."
        return "\n".join((f"{names} do not commute:", *self.reason.splitlines()[:_MOST_TOLD]))


def apply_all(trial: Trial, patches: Sequence[Patch], *, anew: bool = False) -> Application:
    """Apply the patches in their order. anew: also those whose commits the checkout knows from before."""
    rows, error = trial.until_error(patches, anew=anew)
    return Application(rows=tuple(rows), error=error)


def collisions(patches: Sequence[Patch]) -> Iterator[tuple[int, Patch, Patch]]:
    """Every two patches that have one number, with how many patches stand before all that have it."""
    numbered: dict[int, list[tuple[int, Patch]]] = {}
    for at, patch in enumerate(patches):
        numbered.setdefault(patch.number, []).append((at, patch))
    for same in numbered.values():
        for (_, first), (_, second) in itertools.combinations(same, 2):
            yield same[0][0], first, second


def untried(patches: Sequence[Patch], reason: str) -> tuple[Commute, ...]:
    """The collisions, when nothing could be applied."""
    pairs = collisions(patches)
    return tuple(Commute(first=a, second=b, commutes=None, reason=reason) for _, a, b in pairs)


def commutes(trial: Trial, patches: Sequence[Patch], applied: Application) -> tuple[Commute, ...]:
    """Every collision in both orders, on the prefix before it."""
    found = []
    for before, first, second in collisions(patches):
        if before > len(applied.rows):
            reason = "the patches before them do not apply."
            found.append(Commute(first=first, second=second, commutes=None, reason=reason))
        else:
            base = applied.rows[before - 1].commit if before else trial.pin.commit
            found.append(commute(trial, base, first, second))
    return tuple(found)


def commute(trial: Trial, base: ObjectId, first: Patch, second: Patch) -> Commute:
    """Both orders of two patches on the commit `base`."""
    tree_ab, refused_ab = _tree(trial, base, (first, second))
    tree_ba, refused_ba = _tree(trial, base, (second, first))
    reason = refused_ab or refused_ba
    if tree_ab and tree_ba and tree_ab != tree_ba:
        reason = f"The two orders differ in {_differences(trial, tree_ab, tree_ba)}."
    return Commute(
        first=first,
        second=second,
        commutes=not reason,
        base=base,
        tree_ab=tree_ab,
        tree_ba=tree_ba,
        reason=reason,
    )


def _tree(trial: Trial, base: ObjectId, patches: tuple[Patch, Patch]) -> tuple[ObjectId | None, str]:
    """The tree of both on `base`, or why there is none."""
    commit, tree = base, None
    for patch in patches:
        try:
            row = trial.apply(commit, patch)
        except PatchError as error:
            order = " before ".join(each.name for each in patches)
            return None, f"with {order}: {error.what}\n{beginning(error.why)}".rstrip()
        commit, tree = row.commit, row.tree
    return tree, ""


def _differences(trial: Trial, tree: ObjectId, other: ObjectId) -> str:
    names = trial.repository.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, other).paths
    more = len(names) - _MOST_FILES
    return ", ".join(names[:_MOST_FILES]) + (f" and {more} more files" if more > 0 else "")


def beginning(report: str) -> str:
    """The first lines of a report."""
    lines = report.splitlines()
    return "\n".join([*lines[:_MOST_LINES], *(["..."] if len(lines) > _MOST_LINES else [])])
