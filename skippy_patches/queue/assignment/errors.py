"""What keeps the numbers of a queue from being given anew."""

from __future__ import annotations

from skippy_patches.errors import SkippyError
from skippy_patches.queue.patch import HIGHEST_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class CannotRenumber(SkippyError):
    """The numbers that must stay leave no way to number the rest."""

    exit_status: ClassVar[int] = 1


class PinnedTwice(CannotRenumber):
    """Two patches with one number must both keep it."""

    def __init__(self, number: int, first: str, second: str) -> None:
        super().__init__(
            f"Number {number:04d} is pinned for two patches: {first} and {second}.",
            why="Records (records/) or `pinned:` in skippy-patches.yaml name both; one of them must move.",
            mend="Decide which of them keeps it, and take away what pins the other: its line in `pinned:`, or"
            " the record.\nIts build can be recorded again once it has its new number.",
        )


class PinnedOutOfOrder(CannotRenumber):
    """A pinned patch is applied after one that is pinned to a higher number."""

    def __init__(self, first: str, number: int, second: str, lower: int) -> None:
        super().__init__(
            f"{first} is applied before {second}, and both are pinned: {number:04d} before {lower:04d}.",
            why="In a lane without a series file numbers rise in the order of application.",
            mend="Give up one of the pins (`pinned:` in skippy-patches.yaml, or a record in records/),"
            " or order the\nlane by a series file.",
        )


class NoRoom(CannotRenumber):
    """There are more patches than numbers at some place.

    key: the first patch that finds none. place: `up to 9999`, or its zone, `in band mtp (0100-0199)`. after,
    before: the pinned patches around the place, or empty.
    """

    def __init__(self, key: str, place: str, *, after: str, before: str) -> None:
        bounds = [f"after {after}, which is pinned" if after else ""]
        bounds.append(f"before {before}, which is pinned" if before else "")
        limits = " and ".join(bound for bound in bounds if bound)
        where = f"It has to come {limits}. " if limits else ""
        bands = (
            ", give the band more numbers (`bands:`),\nor rename patches into another band by hand"
            if "band" in place
            else ""
        )
        super().__init__(
            f"There is no number left {place} for {key}.",
            why=f"{where}Every number that it could get belongs to a patch that cannot move away, or is"
            f" reserved by a record. Numbers end at {HIGHEST_NUMBER}.",
            mend=f"Make room: drop or unpin a patch there{bands}.",
        )
