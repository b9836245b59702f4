"""What can stop a renumbering, beside a lack of numbers (queue/numbererrors.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import ConfigError, PatchError, SkippyError, WrongTree
from skippy_patches.queue.assignment.errors import CannotRenumber

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.queue.patch import Patch


class AmbiguousPin(ConfigError):
    """`pinned:` has a bare number, or a name without its lane, that several patches have."""

    def __init__(self, file: Path, entry: str, paths: Sequence[str]) -> None:
        names = [path.rsplit("/", 1)[-1] for path in paths]
        names = names if len({*names}) == len(names) else [*paths]
        super().__init__(
            f"'pinned' has {entry}, which {len(paths)} patches have: {', '.join(paths)}",
            file=file,
            why="Only one of them can keep the number, and the entry alone does not say which.",
            mend=f"Name it there as {' or '.join(names)}",
        )


class PinsCollide(CannotRenumber):
    """Two patches of one number are both named by evidence or configuration.

    claims: path of each patch, and what pins it.
    """

    def __init__(self, number: int, claims: Sequence[tuple[str, str]]) -> None:
        super().__init__(
            f"Number {number:04d} must stay with {len(claims)} patches.",
            why="\n".join(f"{path} is pinned by {source}" for path, source in claims),
            mend="Decide which of them keeps it, and take away what pins the other: its entry in `pinned:`,"
            " or the record.\nIts build can be recorded again once it has its new number.",
        )


class PatchesDoNotCommute(PatchError):
    """A pin would change the order of application, and that changes what comes out."""

    def __init__(self, first: Patch, second: Patch, pin: str, reason: str) -> None:
        super().__init__(
            f"{second.path} keeps {second.number:04d} ({pin}), so it would be applied before {first.path}; "
            "but these two do not commute.",
            why=reason,
            mend=f"Nothing was changed. Let {first.path} keep the number: take away what pins the other."
            f"\nOr rebase the commit of {first.path} onto that of {second.path}, and export it again.",
        )


class NeitherOrderApplies(PatchError):
    """The queue does not apply as it is, nor in the order that a pin asks for."""

    def __init__(self, before: PatchError, after: PatchError) -> None:
        super().__init__(
            "A pin changes the order of application, and the queue applies in neither order.",
            why=f"As it is: {before.what}\n{before.why}\nIn the new order: {after.what}\n{after.why}",
            mend="Nothing was changed. Mend the patch that does not apply first; then the two orders can be"
            " compared.",
        )


class OtherCommits(SkippyError):
    """The same patches made other commits a second time: a damaged ledger, or a defect."""

    def __init__(self, equal: int) -> None:
        super().__init__(
            f"The same patches make other commits than before; the first {equal} are the same.",
            why="The checkout's ledger is damaged, or skippy-patches has a defect. Nothing was changed.",
            mend="Compare with git itself: skippy-patches apply --verify-with-git",
        )


class NotAsPlanned(WrongTree):
    """After the renames the queue is another one than was planned: somebody changed it meanwhile."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            "The patches were renamed, and the queue is not what was planned. It differs in:",
            why="\n".join(f"- {path}" for path in paths),
            mend="Somebody changed it at the same time. Look at it: skippy-patches check\n"
            "To take the renames back: skippy-patches renumber --undo",
        )
