"""What can stop an apply."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skippy_patches.errors import PatchError, SkippyError, UsageError, WrongTree
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch

_MOST_LISTED = 20


class PatchDoesNotApply(PatchError):
    """A hunk finds no place, a file is missing or in the way. `report` tells which and why."""

    def __init__(self, patch: Patch, report: str) -> None:
        super().__init__(f"Patch {patch.number:04d} does not apply: {patch.path}", why=report)
        self.patch = patch

    def keep(self, checkout: Path, before: Sequence[Patch], head: ObjectId | None) -> None:
        """Say what was kept: the checkout as it was, and the patches `before` this one."""
        standing = f"at {head.short}" if head else "empty"
        last = before[-1].number if before else 0
        kept = {0: "It is the first patch.", 1: "The patch before it applies and is kept."}.get(
            len(before), f"The {len(before)} patches before it apply and are kept."
        )
        self.mend = (
            f"{checkout} is as it was ({standing}). {kept}\n"
            f"See the tree that it should fit: skippy-patches apply --to {last}\n"
            "A patch that only a 3-way merge could place is stale: rebase its commit and export it again."
        )


class PatchHasNoEffect(PatchError):
    """A patch applied, and a file that it touches is as before."""

    def __init__(self, patch: Patch, paths: Sequence[str]) -> None:
        what = f"changes nothing in {listed(paths)}" if paths else "changes nothing"
        super().__init__(f"Patch {patch.number:04d} {what}: {patch.path}", why="Its change is already there.")


class EngineDisagrees(SkippyError):
    """`git am` made another commit than the engine: a defect of skippy-patches."""

    def __init__(self, patch: Patch, expected: ObjectId, found: ObjectId) -> None:
        super().__init__(
            f"git am makes commit {expected} of {patch.path}, skippy-patches {found}.",
            why="This is a defect of skippy-patches; nothing was moved.",
            mend="Please report it with this patch file.",
        )


class NoSuchPatch(UsageError):
    """--to names a number that no patch carries."""

    def __init__(self, number: int, known: Sequence[int]) -> None:
        numbers = ", ".join(f"{each:04d}" for each in known) or "none: the queue is empty"
        super().__init__(f"There is no patch {number:04d} in the queue.", why=f"There are: {numbers}.")


class EmptyQueue(UsageError):
    """There is nothing to apply."""

    def __init__(self, lanes: Sequence[Path]) -> None:
        super().__init__(
            f"The queue is empty: no NNNN-subject.patch in {', '.join(map(str, lanes))}.",
            why="An apply that applies nothing would report a modified llama.cpp that is not one.",
            mend="To check out the pin alone, say so: skippy-patches apply --to 0",
        )


class LostCommits(SkippyError):
    """There are not as many commits as patches: a defect of skippy-patches."""

    def __init__(self, patches: int, commits: int) -> None:
        super().__init__(
            f"{patches} patches made {commits} commits.",
            why="This is a defect of skippy-patches; nothing was moved.",
        )


class ForeignWork(WrongTree):
    """The checkout holds changes that are not in the queue."""

    def __init__(self, checkout: Path, findings: Sequence[str], *, is_editing: bool = False) -> None:
        rest = (
            "An edit is stopped there. Have the patches behind it follow: skippy-patches continue\n"
            "Or give it up; what is there is saved: skippy-patches edit --abort"
            if is_editing
            else "Commits of yours become patches of the queue: skippy-patches refresh\n"
            "Save it under refs/skippy/saved/ and go on: skippy-patches apply --discard"
        )
        super().__init__(
            f"{checkout} holds work that apply would overwrite or leave behind:",
            why="\n".join(f"- {printable(finding)}" for finding in shortened(findings)),
            mend=f"Look at it: git -C {shlex.quote(str(checkout))} status\n{rest}",
        )


class ConfigurationChanged(WrongTree):
    """The configuration is not the one that the command began with."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} was changed while the command waited for the checkout.",
            why="It began with another configuration; nothing was moved.",
            mend="Run it again.",
        )


class InTheWay(WrongTree):
    """Files that git ignores stand where the queue adds files of its own."""

    def __init__(self, checkout: Path, names: Sequence[str]) -> None:
        super().__init__(
            f"Something in {checkout} stands where the queue puts these files:",
            why="\n".join(f"- {printable(name)}" for name in shortened(names)),
            mend="Move it out of the way: git ignores it, so that nothing else can save it.",
        )


class CannotSave(WrongTree):
    """The checkout holds something that --discard cannot save, so that it will not discard it."""

    def __init__(self, checkout: Path, findings: Sequence[str], mend: str) -> None:
        super().__init__(
            f"{checkout} holds something that cannot be saved:",
            why="\n".join(f"- {printable(finding)}" for finding in shortened(findings)),
            mend=mend,
        )


class IndexLocked(WrongTree):
    """A git command works in the checkout, or died there."""

    def __init__(self, lock: Path) -> None:
        super().__init__(
            f"{lock} is there.",
            why="Another git is at work there (an open commit message, an editor's plugin), or was killed.",
            mend=f"Let it end. If there is none: rm {shlex.quote(str(lock))}",
        )


class ForeignAttributes(WrongTree):
    """A person's attributes in the git dir would change what is written into the work tree."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} was changed.",
            why="It decides which bytes git writes into the work tree; skippy-patches keeps its own there.",
            mend=f"Remove it: rm {shlex.quote(str(file))}",
        )


class NotOurs(WrongTree):
    """The checkout's folder is not a repository that skippy-patches made."""

    def __init__(self, checkout: Path, reason: str) -> None:
        super().__init__(
            f"{checkout} is not a checkout of skippy-patches: {reason}.",
            why="It is left alone: nothing in it can be told from a person's own work.",
            mend="Move it away and run the command again, or set `checkout:` to another folder.",
        )


def listed(paths: Sequence[str]) -> str:
    """Paths for a sentence."""
    return ", ".join(shortened(paths))


def shortened(lines: Sequence[str]) -> list[str]:
    """At most twenty of the lines, and how many more there are."""
    more = len(lines) - _MOST_LISTED
    return [*lines[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
