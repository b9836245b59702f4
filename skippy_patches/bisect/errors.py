"""What can stand in the way of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import SkippyError, UsageError
from skippy_patches.queue.findings import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.bisect.judge import Failure, Verdict
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


CANNOT_TELL = 125  # git-bisect(1), "bisect run": the commit cannot be tested


class NoAnswer(SkippyError):
    """An error while git bisect run waits: to it, any status below 128 would say something of the commit."""

    exit_status = 128

    def __init__(self, error: SkippyError) -> None:
        super().__init__(error.what, why=error.why, mend=error.mend)


class NotAHistory(UsageError):
    """A folder is not a repository that can be searched."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"{folder} cannot be searched: {reason}.",
            mend="Name the top of a clone of upstream, or a bare one: --repository DIR",
        )


class NoHistory(UsageError):
    """No place that is configured holds the commits. looked: what was wrong with each."""

    def __init__(self, looked: Sequence[str]) -> None:
        super().__init__(
            "Nothing that is configured holds the history between the two commits.",
            why="\n".join(f"- {reason}" for reason in looked)
            or "No repository is configured. Packages and bundles hold the pin, without what led to it.",
            mend="Name a clone of upstream that does: --repository DIR\n"
            "Or an address, as `repository` below `upstream` in skippy-patches.yaml",
        )


class UnknownRevision(UsageError):
    """A name says nothing in the clone."""

    def __init__(self, revision: str, place: str, fetch: str) -> None:
        super().__init__(
            f"{place} knows no commit {printable(revision)!r}.",
            why="It was not fetched there, it is misspelt, or that is no clone of upstream.",
            mend=f"Fetch it: {fetch}\nOr name another clone: --repository DIR",
        )


class NotFetched(UsageError):
    """An address gives no such commit, or no answer. said: by git."""

    def __init__(self, revision: str, address: str, said: str) -> None:
        super().__init__(
            f"Commit {printable(revision)!r} cannot be fetched from {address}.",
            why=said.strip(),
            mend="Name a branch, a tag or a full SHA that is there\n"
            "Or a clone that knows it: --repository DIR",
        )


class HistoryMissing(UsageError):
    """The clone is shallow, and cut off between the two commits."""

    def __init__(self, place: str, cuts: int, deepen: str) -> None:
        super().__init__(
            f"{place} does not hold the whole history between the two commits: it is shallow.",
            why=f"It is cut off there at {counted(cuts, 'commit')}, and what lies behind was not fetched.",
            mend=f"Fetch it: {deepen}",
        )


class PartialClone(UsageError):
    """The clone was made with --filter, and git would fetch contents one by one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is a partial clone: it may lack contents of files.",
            why="A search tries patches on old contents, which would have to be fetched one after the other.",
            mend="Name a clone that was made without --filter: --repository DIR",
        )


class NotAnAncestor(UsageError):
    """Good is not in the history of bad."""

    def __init__(self, good: ObjectId, bad: ObjectId, base: ObjectId | None, *, is_reversed: bool) -> None:
        if is_reversed:
            why, mend = "It comes after it.", f"They are the other way round: --good {bad} --bad {good}"
        elif base is None:
            why, mend = "They have no commit in common.", "Name two commits of one history."
        else:
            why, mend = f"They parted at {base}.", f"Begin there, if the patch applies there: --good {base}"
        super().__init__(f"The good commit {good} is no ancestor of the bad one, {bad}.", why=why, mend=mend)


class NothingBetween(UsageError):
    """Good and bad are one commit."""

    def __init__(self, patch: Patch, commit: ObjectId) -> None:
        super().__init__(
            f"The good commit and the bad one are the same: {commit}.",
            why="A search needs a commit on which the patch applies, and a later one on which it does not.",
            mend="Name a later one: --bad REV\n"
            f"To try this one: skippy-patches bisect {patch.number} --once --at {commit} --repository DIR",
        )


class DoesNotApplyAtGood(UsageError):
    """The patch, or one on which it stands, does not apply where it should."""

    def __init__(self, patch: Patch, verdict: Verdict) -> None:
        error = verdict.left_out[0].error if verdict.left_out else verdict.error
        super().__init__(
            f"Patch {patch.number:04d} does not apply on the good commit {verdict.commit}.",
            why=f"{error.what}\n{error.why}".rstrip() if error else "",
            mend="Name a commit on which the queue applies up to there: --good REV (by default the pin)",
        )


class AppliesAtBad(UsageError):
    """There is nothing to find."""

    def __init__(self, patch: Patch, verdict: Verdict) -> None:
        missing = _names(verdict.left_out)
        super().__init__(
            f"Patch {patch.number:04d} applies on the bad commit {verdict.commit}: nothing broke it.",
            why=f"It applies without these, which do not: {missing}." if missing else "",
            mend=f"Ask for the one that does not: skippy-patches bisect {verdict.left_out[0].patch.number}"
            if missing
            else "Name a later commit: --bad REV",
        )


class CannotTellAtBad(SkippyError):
    """A patch that this one needs does not apply at the end of the search."""

    exit_status = CANNOT_TELL

    def __init__(self, patch: Patch, verdict: Verdict, good: ObjectId) -> None:
        first = verdict.left_out[0]
        super().__init__(
            f"Whether patch {patch.number:04d} applies on the bad commit {verdict.commit} cannot be told.",
            why=f"It needs {_names(verdict.left_out)}. {first.error.what}\n{first.error.why}",
            mend="Find where that one broke: "
            f"skippy-patches bisect {first.patch.number} --good {good} --bad {verdict.commit}",
        )


def _names(failures: Sequence[Failure]) -> str:
    return ", ".join(failure.patch.name for failure in failures)
