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
            "Bring them to either and run the command again; or keep all files as they are now and give the "
            f"change up: rm -r {shlex.quote(str(pending))}",
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


def _listed(paths: Sequence[str]) -> str:
    return "\n".join(f"- {printable(path)}" for path in paths)
