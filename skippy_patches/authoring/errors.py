"""What of the checkout can stop `refresh`, `new`, `edit` and `continue`."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING

from skippy_patches.apply.errors import shortened
from skippy_patches.errors import UsageError, WrongTree
from skippy_patches.queue.findings import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.apply.stopped import Stopped
    from skippy_patches.authoring.history import Commit
    from skippy_patches.objectid import ObjectId


def git_in(checkout: Path) -> str:
    """The command that runs git in the checkout, to be copied."""
    return f"git -C {shlex.quote(str(checkout))}"


class NothingApplied(UsageError):
    """There is no checkout yet, or nothing in it."""

    def __init__(self, checkout: Path) -> None:
        super().__init__(
            f"Nothing is checked out in {checkout} yet.",
            why="Patches are written on top of the pin, in the checkout that apply makes.",
            mend="Apply the queue first: skippy-patches apply\n"
            "With an empty queue, the pin alone: skippy-patches apply --to 0",
        )


class DirtyCheckout(WrongTree):
    """There are edits or untracked files in the checkout."""

    def __init__(self, checkout: Path, changes: Sequence[str]) -> None:
        git = git_in(checkout)
        super().__init__(
            f"{checkout} holds changes that are in no commit:",
            why="\n".join(f"- {printable(change)}" for change in shortened(changes)),
            mend=f"Into the last commit: {git} add -A && {git} commit --amend --no-edit\n"
            f"Into one of their own: {git} add -A && {git} commit\n"
            f"Or put them aside: {git} stash --include-untracked",
        )


class HiddenEdits(WrongTree):
    """Edits of some files are hidden from git."""

    def __init__(self, checkout: Path, names: Sequence[str]) -> None:
        super().__init__(
            f"In {checkout} edits of these files are hidden from git:",
            why="\n".join(f"- {printable(name)}" for name in shortened(names)),
            mend=f"{git_in(checkout)} update-index --no-assume-unchanged --no-skip-worktree FILE",
        )


class OperationInProgress(WrongTree):
    """A rebase, merge, cherry-pick or the like is not finished."""

    def __init__(self, checkout: Path, operations: Sequence[str]) -> None:
        super().__init__(
            f"In {checkout} {' and '.join(operations)} is in progress.",
            why="The branch does not say yet what you mean.",
            mend=f"Finish or abort it: {git_in(checkout)} status tells how",
        )


class NotOnBranch(WrongTree):
    """HEAD is elsewhere than on the branch skippy."""

    def __init__(self, checkout: Path, branch: str | None, tip: ObjectId | None) -> None:
        where = f"the branch {branch.removeprefix('refs/heads/')}" if branch else "a commit without a branch"
        git = git_in(checkout)
        super().__init__(
            f"In {checkout} {where} is checked out, not the branch skippy.",
            why="The queue is what the branch skippy holds above the pin.",
            mend=f"Go back to it: {git} switch skippy"
            if tip
            else f"The branch is gone. Make it anew from here: {git} switch --create skippy",
        )


class PinNotBelow(WrongTree):
    """The pin is not an ancestor of the branch."""

    def __init__(self, checkout: Path, pin: ObjectId) -> None:
        git = git_in(checkout)
        super().__init__(
            f"The branch skippy in {checkout} is not built on the pin {pin}.",
            why="Either the pin in skippy-patches.yaml was changed since the last apply, or the branch was"
            " reset or rebased to another commit.",
            mend=f"See where it is: {git} log --oneline skippy\n"
            "Put the pin back as it was and refresh; then change it, and apply.\n"
            f"A branch that was moved by mistake: {git} reflog skippy",
        )


class MergeAmongCommits(WrongTree):
    """One of the commits is a merge."""

    def __init__(self, checkout: Path, commit: Commit) -> None:
        super().__init__(
            f'Commit {commit.id.short} "{printable(commit.subject)}" is a merge.',
            why="A queue is a straight line of patches; a merge is the change of no single patch.",
            mend=f"Make the line straight: {git_in(checkout)} rebase {commit.parents[0].short}",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Own:
    """Commits of an author, on an older queue than today's.

    base: what apply left, where all of them are on top of it; None where they take the place of some of its
    commits. root: the project. lanes: its folders of patches, relative to it.
    """

    base: ObjectId | None
    root: Path
    lanes: Sequence[str]


def _on_top(checkout: Path, base: ObjectId) -> str:
    git = git_in(checkout)
    return (
        f"Keep your commits on a branch of their own: {git} branch mine skippy\n"
        "Apply today's queue: skippy-patches apply --discard\n"
        f"Put yours on top: {git} rebase --onto skippy {base.short} mine\n"
        f"Then: {git} switch -C skippy mine && skippy-patches refresh"
    )


def _put_back(commits: Own) -> str:
    """A rebase would take an amended patch for a new one; the project's git knows patch files as files."""
    git = f"git -C {shlex.quote(str(commits.root))}"
    lanes = shlex.join(commits.lanes)
    return (
        "Your commits change patches that apply left. Put the patch files back as they were then, write them,"
        " and merge the two queues:\n"
        f"- Changed and not committed: {git} stash push --include-untracked -- {lanes}\n"
        f"  then skippy-patches refresh, commit the patch files, {git} stash pop, skippy-patches apply\n"
        f"- Pulled or merged: {git} switch --create mine COMMIT (the one before: {git} reflog)\n"
        f"  then skippy-patches refresh, commit the patch files, {git} switch - and {git} merge mine"
    )


class QueueChanged(WrongTree):
    """The checkout holds another queue than the folder."""

    def __init__(self, checkout: Path, commits: Own | None = None) -> None:
        mend = "Apply it first: skippy-patches apply"
        if commits:
            mend = _on_top(checkout, commits.base) if commits.base else _put_back(commits)
        super().__init__(
            "The patch files were changed since they were applied in the checkout.",
            why="So the commits there are of an older queue (a pull, or an edit of a patch file), and"
            " writing them would take those changes back.",
            mend=mend,
        )


class EditIsStopped(WrongTree):
    """An edit waits for `continue`."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(
            f"An edit of {stopped.patch} is stopped in the checkout.",
            why=f"Still to be replayed: {counted(len(stopped.rest), 'patch', 'patches')} behind it."
            if stopped.rest
            else "",
            mend="Go on: skippy-patches continue\nOr give it up: skippy-patches edit --abort",
        )
