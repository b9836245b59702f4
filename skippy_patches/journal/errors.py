"""What can stop a rewrite of the queue's files."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skippy_patches.errors import UsageError, WrongTree
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class ChangedMeanwhile(WrongTree):
    """A file is not as the change expects it; nothing was changed."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            "Files of the queue are not as they were:",
            why=_listed(paths),
            mend="Nothing was changed. See what happened (git status), then run the command again.",
        )


class WouldOverwrite(WrongTree):
    """A new name is taken by a file that is not part of the change."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            "Files stand where patches would be written:",
            why=_listed(paths),
            mend="Nothing was changed. Move them away, then run the command again.",
        )


class ChangedSince(WrongTree):
    """A change was interrupted, and a file of it was changed before it could be finished."""

    def __init__(self, paths: Sequence[str], pending: Path) -> None:
        super().__init__(
            "A change of the queue was interrupted, and these files were changed since:",
            why=_listed(paths),
            mend=f"What they held and were to hold lies in {pending}: plan.json names it.\n"
            f"Bring them to either and run the command again; or {_give_up(pending)}",
        )


class OtherBranch(WrongTree):
    """A change was interrupted on one branch of the project, and another one is checked out now."""

    def __init__(self, then: str, now: str, pending: Path) -> None:
        super().__init__(
            f"A change of the queue was interrupted on {_branch(then)}; {_branch(now)} is checked out now.",
            why="Finished here, it would put the patches of one branch into the other.",
            mend=f"Go back (git switch {then or 'BRANCH'}) and run the command again; or {_give_up(pending)}",
        )


class CannotBeFinished(UsageError):
    """The system refuses what an interrupted change has still to do."""

    def __init__(self, said: str, pending: Path) -> None:
        super().__init__(
            f"A change of the queue cannot be finished: {said}",
            why="It is written down, and each command goes on with it, so that nobody works on half of it.",
            mend=f"Mend that and run the command again; or {_give_up(pending)}",
        )


class JournalBroken(WrongTree):
    """The journal of an interrupted change cannot be read."""

    def __init__(self, aside: Path) -> None:
        super().__init__(
            "A change of the queue was interrupted, and what was written down of it is damaged.",
            why="Some files of the queue may have been changed and others not.",
            mend=f"Look at them: git status, git diff. What is left of the journal lies in {aside}.\n"
            "It is out of the way now: the next command works on the files as they are.",
        )


class UndoRefused(WrongTree):
    """A file of the change that is to be undone is not as the change left it."""

    def __init__(self, kind: str, paths: Sequence[str], then: str, now: str) -> None:
        where = "" if then == now else f" It was made on {_branch(then)}; {_branch(now)} is checked out now."
        super().__init__(
            f"The last {kind} cannot be undone: these files are not as it left them:",
            why=_listed(paths),
            mend=f"Nothing was changed.{where}\nSee what happened to them: git status, git log -- FILE",
        )


class UnmergedPatches(WrongTree):
    """A patch that is to be renamed has a merge conflict."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            "These patches have a merge conflict in the index:",
            why=_listed(paths),
            mend="Resolve it and git add the files first.",
        )


class IndexBusy(WrongTree):
    """Another git holds the index of the project's repository."""

    def __init__(self, lock: Path) -> None:
        super().__init__(
            f"{lock} is there.",
            why="Another git is at work in the project's repository, or was killed there.",
            mend=f"Let it end, then run the command again. If there is none: rm {shlex.quote(str(lock))}",
        )


class NothingToUndo(UsageError):
    """No change of this kind is remembered."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"There is no {kind} to undo.",
            why="The last one is remembered in .skippy/, until it is undone or the folder is removed.",
            mend="What was committed before is in git: git log --stat -- patches",
        )


def _give_up(pending: Path) -> str:
    return f"give the change up and keep the files as they are now: rm -r {shlex.quote(str(pending))}"


def _branch(name: str) -> str:
    return f"the branch {printable(name)}" if name else "no branch"


def _listed(paths: Sequence[str]) -> str:
    return "\n".join(f"- {printable(path)}" for path in paths)
