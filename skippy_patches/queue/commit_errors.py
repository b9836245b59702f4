"""Why a queue cannot be read from a commit."""

from __future__ import annotations

import re

from skippy_patches.errors import UsageError

_BRANCH = re.compile(r"[^-~^:@{}?*\[\\\s.][^~^:@{}?*\[\\\s]*")  # no revision syntax (gitrevisions(7)) in it


class NoSuchCommit(UsageError):
    """A name on the command line is no commit here."""

    def __init__(self, name: str) -> None:
        branch = name.removeprefix("origin/")
        is_branch = _BRANCH.fullmatch(branch) is not None
        fetch = f"git fetch origin {branch}" if is_branch else "git fetch origin"
        super().__init__(
            f"There is no commit '{name}' in this repository.",
            why="It is misspelt, or was never fetched: CI often fetches the one commit that it builds.",
            mend=f"Fetch it: {fetch}; on GitHub, actions/checkout wants fetch-depth: 0."
            "\nSee what is here: git branch --all",
        )


class NotACommit(UsageError):
    """A name on the command line is there, and names something else."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(
            f"'{name}' is no commit but a {kind}.",
            why="A tag can name anything, and a commit alone has a history that can be merged.",
            mend="Name a branch, a tag of a commit, or a SHA. See what is here: git branch --all",
        )


class NoMergeBase(UsageError):
    """The two ends of A...B have no commit in common."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{name}' names nothing: the two have no common commit here.",
            why="Their histories are unrelated, or the clone is shallow and ends before they parted.",
            mend="Fetch the whole history: git fetch --unshallow",
        )


class NotConfigured(UsageError):
    """The commit has no skippy-patches.yaml where the project is."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(
            f"{name} has no {path}.",
            why="The queue of a commit is the one that its own configuration describes.",
            mend=f"See what is there: git ls-tree {name}",
        )


class MissingObjects(UsageError):
    """The repository lacks contents that its own commits name."""

    def __init__(self, name: str, object_id: str) -> None:
        super().__init__(
            f"{name} names the object {object_id}, which is not in this repository.",
            why="A partial clone (git clone --filter) leaves contents out until they are checked out.",
            mend="Fetch everything: git fetch --refetch --no-filter origin",
        )
