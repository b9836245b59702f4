"""What can stop a refresh, apart from the checkout (errors.py) and messages (message_errors.py)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skippy_patches.authoring.errors import git_in
from skippy_patches.errors import SkippyError, UsageError, WrongTree
from skippy_patches.queue.findings import describe, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.authoring.history import Commit
    from skippy_patches.authoring.refresh.changes import Plan
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.patch import Patch


class CrossesLanes(SkippyError):
    """The commits stand in an order that the lanes cannot hold."""

    exit_status = 1

    def __init__(self, checkout: Path, first: str, second: str) -> None:
        super().__init__(
            f"{first} stands before {second} in the checkout, and its lane is applied after that one's.",
            why="Lanes are applied one after the other (`queue:` in skippy-patches.yaml).",
            mend=f"Bring the commits into the order of the lanes: {git_in(checkout)} rebase -i\n"
            "Or move the patch file into the other lane and apply first.",
        )


class UnnamedDrops(SkippyError):
    """Patches have no commit any more, and --drop does not name them. `plan` shows all."""

    exit_status = 1

    def __init__(self, plan: Plan, patches: Sequence[Patch]) -> None:
        options = " ".join(f"--drop {patch.number}" for patch in patches)
        paths = [patch.path for patch in patches]
        super().__init__(
            f"No commit is left of {', '.join(paths)}. Nothing was written.",
            why="A patch is deleted only when it is named: a commit can also be lost by mistake.",
            mend=f"If it is to go: skippy-patches refresh {options}\n"
            "If not, look for it: git reflog skippy, in the checkout\n"
            "Or go back to the queue as it is; your commits are saved: skippy-patches apply --discard",
        )
        self.plan = plan


class NotDropped(UsageError):
    """--drop names what is not to be dropped."""

    def __init__(self, checkout: Path, name: str, known: bool) -> None:
        super().__init__(
            f"--drop {name}: "
            + (
                "its commit was not taken out of the checkout."
                if known
                else "there is no such patch in the queue."
            ),
            mend=f"Take the commit out first: {git_in(checkout)} rebase -i"
            if known
            else "Name it by its number or its file's name: skippy-patches list",
        )


class AutosquashLeft(SkippyError):
    """Commits that `git commit --fixup` or --squash made are still on their own."""

    exit_status = 1

    def __init__(self, checkout: Path, commits: Sequence[Commit], pin: ObjectId) -> None:
        super().__init__(
            "Commits that are meant for other commits are not in them yet. Nothing was written.",
            why="\n".join(f"- {each.id.short} {printable(each.subject)}" for each in commits),
            mend=f"Put them where they belong: {git_in(checkout)} rebase -i --autosquash {pin.short}\n"
            "One that is to be a patch of its own needs another subject: reword it there.",
        )


class QueueTouched(WrongTree):
    """Somebody changed patch files while refresh wrote."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            "Somebody else changed the patch files while refresh wrote them.",
            why="What refresh wrote is there, and the other change beside it; your commits are as they were.",
            mend=f"Look at both: git -C {shlex.quote(str(root))} status\n"
            "Take the other change out, then: skippy-patches refresh",
        )


class NothingLeft(SkippyError):
    """Every patch would be deleted."""

    exit_status = 1

    def __init__(self, checkout: Path) -> None:
        super().__init__(
            f"There is no commit above the pin in {checkout}: every patch would be deleted.",
            why="A refresh never empties a queue; a branch that was reset looks like that.",
            mend=f"Get the commits back: {git_in(checkout)} reflog skippy\n"
            "Or put the queue back, as its files are: skippy-patches apply --discard\n"
            "To end the queue, delete the files yourself.",
        )


class RestDoesNotApply(WrongTree):
    """A patch behind the prefix that is checked out does not fit the changed prefix."""

    def __init__(self, patch: str, last: str, report: str) -> None:
        super().__init__(
            f"{patch}, which is not checked out, no longer applies. Nothing was written.",
            why=f"The checkout holds the queue up to {last} only; what you changed there collides.\n{report}",
            mend="Your commits stay as they are. To have the patches behind follow, in the checkout:\n"
            "git branch mine, skippy-patches apply --discard, skippy-patches edit NUMBER (the last one\n"
            "that is checked out now), git reset --hard mine, then continue and refresh",
        )


class Unusable(SkippyError):
    """The check would refuse the queue that refresh is about to write."""

    exit_status = 1

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(
            "The check refuses the patches that these commits make. Nothing was written.",
            why="\n".join(describe(finding) for finding in findings),
            mend="Change the commits, then refresh again.",
        )
        self.findings = tuple(findings)


class NormaliseAlone(SkippyError):
    """--normalise, and the commits hold changes."""

    exit_status = 1

    def __init__(self, plan: Plan) -> None:
        super().__init__(
            "There are other changes to write than those of --normalise. Nothing was written.",
            why="Mixed, nobody could see what was changed and what only looks different.",
            mend="First: skippy-patches refresh. Commit that, then: skippy-patches refresh --normalise",
        )
        self.plan = plan


class NumberDoesNotFit(SkippyError):
    """A number or band that was asked for does not lie where the commit stands."""

    exit_status = 1

    def __init__(self, commit: Commit, wish: str, reason: str) -> None:
        super().__init__(
            f'Commit {commit.id.short} "{printable(commit.subject)}" cannot have {wish}.',
            why=printable(reason),
            mend="Move the commit to its place (git rebase -i).\n"
            "Or drop it and begin it anew with another number: skippy-patches new",
        )
