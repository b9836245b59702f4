"""What can stop `edit`, `continue` and `edit --abort`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.apply.errors import shortened
from skippy_patches.authoring.errors import git_in
from skippy_patches.errors import PatchError, UsageError, WrongTree
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.apply.stopped import Stopped
    from skippy_patches.authoring.history import Commit
    from skippy_patches.objectid import ObjectId


# By the stages of a file in the index (git-ls-files(1)): 1 as it was, 2 yours, 3 the patch's.
_SIDES = {
    frozenset({1, 2, 3}): "changed by both",
    frozenset({2, 3}): "added by both",
    frozenset({1, 2}): "changed by you, deleted or renamed by the patch",
    frozenset({1, 3}): "deleted or renamed by you, changed by the patch",
    frozenset({1}): "deleted or renamed by both",
    frozenset({2}): "yours, where the patch puts something else",
    frozenset({3}): "the patch's, where you put something else",
}


class NoEdit(UsageError):
    """There is nothing to continue."""

    def __init__(self) -> None:
        super().__init__(
            "No edit is stopped in the checkout.",
            why="`continue` and `edit --abort` belong to an `edit NUMBER` before them. A command that was"
            " killed at its very end is finished by the next one, also by this one.",
            mend="Stop at a patch: skippy-patches edit NUMBER",
        )


class UnrefreshedCommits(WrongTree):
    """The checkout holds commits that are not in the queue."""

    def __init__(self, checkout: Path, tip: str, applied: str) -> None:
        super().__init__(
            f"The branch skippy in {checkout} holds commits that are not in the queue.",
            why=f"It is at {tip}; the commit that apply left is {applied}. `edit` begins from the queue.",
            mend="Write them into the queue first: skippy-patches refresh\n"
            f"Look at them: {git_in(checkout)} log {applied}..skippy",
        )


class Conflict(PatchError):
    """A commit behind the edited patch does not fit what the author made of it."""

    def __init__(
        self, checkout: Path, commit: Commit, patch: str, sides: Mapping[str, frozenset[int]]
    ) -> None:
        git = git_in(checkout)
        met = [f"{path}: {_SIDES.get(stages, 'changed by both')}" for path, stages in sides.items()]
        super().__init__(
            f'{patch or "A commit"} is in conflict with your change: "{printable(commit.subject)}"',
            why="Your change and this patch meet in these files; lines that both changed stand there twice,"
            " between <<<<<<< and >>>>>>>:\n" + "\n".join(f"- {printable(each)}" for each in shortened(met)),
            mend=f"Edit them (see {commit.id.short}: {git} show {commit.id.short}), then: {git} add FILE...\n"
            f"One that is to go: {git} rm FILE\n"
            "Go on: skippy-patches continue\n"
            f"To leave this patch out: {git} reset --hard, then skippy-patches continue\n"
            "To give all of it up: skippy-patches edit --abort",
        )


class Unresolved(WrongTree):
    """The conflict is still there."""

    def __init__(self, checkout: Path, paths: Sequence[str]) -> None:
        git = git_in(checkout)
        super().__init__(
            "These files are in conflict:",
            why="\n".join(f"- {printable(path)}" for path in shortened(paths)),
            mend=f"Edit them, then: {git} add FILE... (or {git} rm FILE)\nThen: skippy-patches continue",
        )


class MarkersLeft(WrongTree):
    """A file was added with conflict markers in it."""

    def __init__(self, checkout: Path, paths: Sequence[str]) -> None:
        super().__init__(
            "These files still hold conflict markers (<<<<<<< and >>>>>>>):",
            why="\n".join(f"- {printable(path)}" for path in shortened(paths)),
            mend=f"Edit them, then: {git_in(checkout)} add FILE...\nThen: skippy-patches continue",
        )


class NotStaged(WrongTree):
    """There are edits beside those that were added to the resolution."""

    def __init__(self, checkout: Path, paths: Sequence[str]) -> None:
        super().__init__(
            "These files are not as they were added:",
            why="\n".join(f"- {printable(path)}" for path in shortened(paths)),
            mend=f"If they belong to the resolution: {git_in(checkout)} add FILE...\n"
            "If not, move them away. Then: skippy-patches continue",
        )


class Misplaced(WrongTree):
    """The branch was moved while a conflict was being put into the work tree."""

    def __init__(self, checkout: Path, stopped: Stopped) -> None:
        super().__init__(
            f"The branch skippy in {checkout} was moved before the conflict of {stopped.patch} was in place.",
            why="The command that put it there was killed, and something was committed on top since.",
            mend="Save what is there and go back to the queue: skippy-patches edit --abort",
        )


class BaseGone(WrongTree):
    """The commit below a conflict was amended, or taken out."""

    def __init__(self, checkout: Path, base: ObjectId) -> None:
        super().__init__(
            f"The branch skippy no longer holds commit {base.short}, which the conflict is on top of.",
            why="It was amended or taken out. So the patch in conflict is a part of another commit now, or"
            " commits that were replayed already are lost.",
            mend="Have that commit back, with what you made on top of it staged:"
            f" {git_in(checkout)} reset --soft {base.short}\n"
            "Then: skippy-patches continue\n"
            "Or give all of it up; what is there is saved: skippy-patches edit --abort",
        )


class AbortBegun(WrongTree):
    """`edit --abort` was killed."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(
            f"The edit of {stopped.patch} was being given up, and that was interrupted.",
            mend="Finish it: skippy-patches edit --abort",
        )
