"""git in the project's own repository: for commands that compare branches or move patches in its index.

Here a person's configuration counts (safe.directory, for one), but nothing that aims git elsewhere: not
what a hook exports (CASES 2), and no replacement refs. The pre-commit hook has the lighter git_host.py.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.errors import UsageError
from skippy_patches.git import Result, run_as_user

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIXED = {
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProjectGit:
    """The repository that holds the project.

    folder: the project's. top: of the work tree. prefix: the folder relative to it, `a/b/` or empty.
    git_dir: of this work tree. common_dir: of all work trees, with objects and refs.
    """

    folder: Path
    top: Path
    prefix: str
    git_dir: Path
    common_dir: Path

    @classmethod
    def open(cls, folder: Path) -> ProjectGit | None:
        """The repository around `folder`, or None when there is none, or none with a work tree.

        Raises UsageError when git's answer cannot be read: a folder's name has a line end in it.
        """
        words = ("--show-toplevel", "--show-prefix", "--absolute-git-dir", "--git-common-dir")
        answer = run_as_user("rev-parse", *words, cwd=folder, env=_FIXED, check=False)
        lines = os.fsdecode(answer.stdout).split("\n")
        if answer.status:
            return None
        if len(lines) != len(words) + 1:
            raise UsageError(
                f"{folder} or a folder around it has a line end in its name.",
                mend="Rename it: git's answers about it cannot be told apart.",
            )
        top, prefix, git_dir, common_dir = lines[:-1]
        return cls(
            folder=folder,
            top=Path(top),
            prefix=prefix,
            git_dir=Path(git_dir),
            common_dir=(folder / common_dir).resolve(),
        )

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str | bytes] | None = None,
        check: bool = True,
    ) -> Result:
        """Run `git ARGUMENTS` in the folder. With `check`, raise GitFailed unless its status is 0."""
        return run_as_user(
            *arguments, cwd=self.folder, stdin=stdin, env=_FIXED | dict(env or {}), check=check
        )
