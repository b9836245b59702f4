"""What can stand in the way of merging two queues on trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


class NotARepository(UsageError):
    """There are no branches to compare with."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is not in the work tree of a git repository.",
            why="--against and --merge read commits of the repository that holds the project.",
            mend="Without them, check looks at the folder alone.",
        )


class GitTooOld(UsageError):
    """git is too old: it cannot merge without a work tree."""

    def __init__(self, version: str) -> None:
        super().__init__(
            f"git {version} is too old for --against and --merge: they need 2.38 or later.",
            why="git merge-tree --write-tree, which merges without touching a work tree, came with 2.38.",
            mend="Install a newer git.",
        )


class OtherObjectFormat(UsageError):
    """The repository does not name its objects by SHA-1."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"The repository of the project names its objects by {found}.",
            why="--against and --merge know SHA-1 only, which llama.cpp uses as well.",
        )


class ShallowHistory(UsageError):
    """The clone ends before the place where the two histories part."""

    def __init__(self, ours: str, theirs: str) -> None:
        super().__init__(
            f"{ours} and {theirs} have no common commit in this clone, which is shallow.",
            why="Where they parted was not fetched, and without that nothing can be merged.",
            mend="Fetch the whole history: git fetch --unshallow\n"
            "On GitHub Actions: actions/checkout with fetch-depth: 0.",
        )


class UnrelatedHistories(UsageError):
    """The two sides have no commit in common."""

    def __init__(self, ours: str, theirs: str) -> None:
        super().__init__(
            f"{ours} and {theirs} have no common commit.",
            why="git refuses to merge unrelated histories, so that these two queues never meet by a merge.",
            mend="Look for the right branch: git branch --all",
        )


class MergeFailed(UsageError):
    """git could not merge at all: for one, contents are missing."""

    def __init__(self, ours: str, theirs: str, said: str) -> None:
        super().__init__(
            f"git cannot merge {ours} and {theirs}.",
            why=said.strip(),
            mend="If it lacks an object, the clone is partial: git fetch --refetch --no-filter origin",
        )
