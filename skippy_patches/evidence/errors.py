"""What can go wrong between a build and its record: one class a condition."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skippy_patches.errors import BuildError, SkippyError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class OtherCommitBuilt(BuildError):
    """The libraries were built from another commit than the queue gives now."""

    def __init__(self, recipe: str, built: str, applied: str) -> None:
        super().__init__(
            f"The last build of '{recipe}' is of {built}, and the queue now gives {applied}.",
            why="A record must name the patches that are in the libraries.",
            mend=f"Build again: skippy-patches build --recipe {shlex.quote(recipe)}",
        )


class LibrariesChanged(BuildError):
    """The files are no longer those that the build made."""

    def __init__(self, recipe: str, names: Sequence[str]) -> None:
        super().__init__(
            f"Changed since they were built: {', '.join(names)}.",
            why="Something else wrote to the build folder; these bytes have no known origin.",
            mend=f"Build again: skippy-patches build --recipe {shlex.quote(recipe)}",
        )


class NoRecord(BuildError):
    """A recipe has not been recorded."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"There is no record {file}.", mend="Make one: skippy-patches record")


class RecordBroken(SkippyError):
    """A record file is not what this version of skippy-patches writes."""

    exit_status = 2

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(
            f"{file} is not a record: {problem}.", mend="Take it back from git, or record again."
        )


class RecordDiffers(SkippyError):
    """The records folder has another record of the same commit, recipe and platform."""

    exit_status = 1

    def __init__(self, file: Path, differences: Sequence[str]) -> None:
        super().__init__(
            f"{file} holds another record of this commit and recipe.",
            why=f"They differ in: {', '.join(differences)}.",
            mend="Find out which is right. To replace it, delete it first; git keeps the old one.",
        )
