"""The checkout as an author left it: looked at, and refused where it does not say what is meant."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import prefixes, working
from skippy_patches.apply.checkout import BRANCH
from skippy_patches.apply.engine import IndexEngine, Options
from skippy_patches.apply.ledger import Ledger, prefix_keys
from skippy_patches.authoring import history
from skippy_patches.authoring.errors import (
    DirtyCheckout,
    EditIsStopped,
    HiddenEdits,
    MergeAmongCommits,
    NothingApplied,
    NotOnBranch,
    OperationInProgress,
    Own,
    PinNotBelow,
    QueueChanged,
)
from skippy_patches.errors import PatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.apply.ledger import Row
    from skippy_patches.authoring.history import Commit
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.pin import Pin


@contextlib.contextmanager
def hold(project: Project, reporter: Reporter) -> Iterator[Checkout]:
    """The checkout, locked. Raises NothingApplied where there is none, and what working.hold raises."""
    path = project.checkout.resolve()
    if checkouts.open_existing(path) is None:
        raise NothingApplied(path)
    with working.hold(project, reporter) as checkout:
        if checkout.repository.resolve(BRANCH) is None and checkout.repository.resolve("HEAD") is None:
            raise NothingApplied(path)
        yield checkout


def on_branch(checkout: Checkout) -> Standing:
    """How it stands, once it is on its branch and in the middle of nothing. Edits do not matter here."""
    standing = checkouts.standing(checkout)
    if standing.busy:
        raise OperationInProgress(checkout.path, standing.busy)
    if standing.branch != BRANCH or standing.tip is None:
        raise NotOnBranch(checkout.path, standing.branch, standing.tip)
    if standing.hidden:
        raise HiddenEdits(checkout.path, standing.hidden)
    return standing


def clean(checkout: Checkout) -> Standing:
    """As `on_branch`, and everything that the author did is in commits."""
    return _without_changes(checkout, on_branch(checkout))


def settled(checkout: Checkout) -> Standing:
    """As `clean`, and no edit is stopped."""
    standing = on_branch(checkout)
    if standing.stopped:
        raise EditIsStopped(standing.stopped)
    return _without_changes(checkout, standing)


def _without_changes(checkout: Checkout, standing: Standing) -> Standing:
    if standing.changes:
        raise DirtyCheckout(checkout.path, standing.changes)
    return standing


def commits(checkout: Checkout, pin: Pin, tip: ObjectId) -> list[Commit]:
    """The commits above the pin, in a straight line. Raises PinNotBelow, MergeAmongCommits."""
    repository = checkout.repository
    below = repository.run("merge-base", "--is-ancestor", pin.commit, tip, check=False)
    if below.status:
        raise PinNotBelow(checkout.path, pin.commit)
    found = history.between(repository, pin.commit, tip)
    for commit in found:
        if len(commit.parents) != 1:
            raise MergeAmongCommits(checkout.path, commit)
    return found


def engine(project: Project, checkout: Checkout, reporter: Reporter) -> IndexEngine:
    """What applies patches here."""
    return IndexEngine(
        repository=checkout.repository,
        options=Options.of(project),
        scratch=checkout.scratch,
        reporter=reporter,
    )


def held(
    project: Project,
    engine: IndexEngine,
    pin: Pin,
    patches: Sequence[Patch],
    checkout: Checkout,
    standing: Standing,
) -> list[Row]:
    """The rows of the prefix of `patches` that the last apply left here. Raises QueueChanged."""
    ledger = Ledger(checkout.ledger)
    rows = ledger.longest(
        prefix_keys(pin.commit, engine.options.committer, engine.options.subject_prefix, patches)
    )
    tips = [pin.commit, *(row.commit for row in rows)]
    if standing.applied not in tips:
        with contextlib.suppress(PatchError):  # what does not apply was not applied here
            rows, _ = prefixes.apply(engine, pin, patches, ledger)
            ledger.save()
        tips = [pin.commit, *(row.commit for row in rows)]
    if standing.applied not in tips:
        raise QueueChanged(checkout.path, _own(project, checkout, standing))
    return rows[: tips.index(standing.applied)]


def _own(project: Project, checkout: Checkout, standing: Standing) -> Own | None:
    """What the author has committed since the last apply; None for nothing."""
    tip, applied = standing.tip, standing.applied
    if tip is None or tip == applied:
        return None
    below = applied and checkout.repository.run("merge-base", "--is-ancestor", applied, tip, check=False)
    return Own(
        base=applied if below and below.status == 0 else None,
        root=project.root,
        lanes=[str(lane.relative_to(project.root)) for lane in project.queue],
    )
