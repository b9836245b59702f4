"""Why a queue cannot be adopted as it was asked for; nothing was written then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_WHY_FULL = "A short SHA, a tag or a branch can mean another commit tomorrow, or on another machine."
_FIND = "Find the full SHA with: git ls-remote REPOSITORY 'refs/tags/TAG^{}' refs/tags/TAG"


class AlreadyAdopted(UsageError):
    """The folder has a skippy-patches.yaml."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} is there already.",
            why="It may hold what somebody decided, so it is never overwritten.",
            mend="Edit it, then: skippy-patches check. Or delete it and run this command again.",
        )


class NoSuchQueue(UsageError):
    """`--queue` names no folder."""

    def __init__(self, folder: Path) -> None:
        what = "is not a folder" if folder.exists() else "does not exist"
        super().__init__(
            f"The folder of the queue, {folder}, {what}.",
            why="--queue counts from the current folder, or from the one that -C names.",
            mend="Name the folder that holds the patches: --queue DIR",
        )


class QueueOutside(UsageError):
    """`--queue` names a folder outside the one that is to hold skippy-patches.yaml."""

    def __init__(self, queue: Path, folder: Path) -> None:
        super().__init__(
            f"The queue in {queue} lies outside {folder}, where skippy-patches.yaml would be.",
            why="What the next commit holds can be checked in the project's folder and below it only.",
            mend="Run the command in a folder above both, or name it: skippy-patches -C DIR init ...",
        )


class PinIsNoCommit(UsageError):
    """`--pin` is neither a full SHA nor a file."""

    def __init__(self, pin: str, folder: Path) -> None:
        is_short = 4 <= len(pin) < 40 and set(pin.lower()) <= set("0123456789abcdef")
        what = "is a short SHA, and no file" if is_short else "is neither a full 40-digit SHA nor a file"
        super().__init__(
            f"The pin '{pin}' {what}.", why=_WHY_FULL, mend=f"{_FIND}\nA file is looked for in {folder}."
        )


class PinFileUnclear(UsageError):
    """The file that `--pin` names holds something else than one full SHA."""

    def __init__(self, file: Path, what: str) -> None:
        super().__init__(
            f"The pin file {file} {what}.",
            why="It must hold one full 40-digit commit SHA and nothing else, so that nobody can misread it.",
            mend=f"Mend it, or name the commit itself: --pin SHA\n{_FIND}",
        )


class NotText(UsageError):
    """A path cannot be written into a text file."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"'{text}' is not UTF-8 text.", mend="skippy-patches.yaml is: rename what it is to name."
        )
