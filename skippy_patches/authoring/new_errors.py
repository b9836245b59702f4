"""What can stop `new`."""

from __future__ import annotations

from skippy_patches.errors import UsageError
from skippy_patches.queue.findings import printable


class NoIdentity(UsageError):
    """git does not know who the author is."""

    def __init__(self, said: str) -> None:
        reason = said.strip().splitlines()[-1:] or ["git names no author."]
        super().__init__(
            "git does not know who you are, so the patch would have no author.",
            why=reason[0],
            mend='Tell it: git config --global user.name "YOUR NAME"\n'
            "and: git config --global user.email YOU@EXAMPLE.ORG",
        )


class SubjectDoesNotSurvive(UsageError):
    """The subject would be another one after it was a patch file."""

    def __init__(self, subject: str, why: str, mend: str) -> None:
        super().__init__(
            f'"{printable(subject)}" cannot be the subject of a patch.',
            why=why,
            mend=mend,
        )


class TwoWishes(UsageError):
    """--number and --band contradict each other."""

    def __init__(self) -> None:
        super().__init__(
            "--number and --band are both given.",
            why="A band means its next free number, which may be another one.",
            mend="Leave one of them out.",
        )


class NumberTaken(UsageError):
    """--number names a number that is in use."""

    def __init__(self, number: int, holder: str) -> None:
        super().__init__(
            f"Number {number:04d} is taken by {printable(holder)}.",
            mend="See which is free: skippy-patches next-number",
        )


class NumberOutOfReach(UsageError):
    """--number names a number that does not lie where the commit would stand."""

    def __init__(self, number: int, place: str) -> None:
        super().__init__(
            f"Number {number:04d} does not fit where the patch would stand: {printable(place)}.",
            why="Numbers rise as patches are applied, and `new` begins a patch at the tip of the checkout.",
            mend="Stop where it belongs first: skippy-patches edit NUMBER\n"
            "Or take a number that fits: skippy-patches next-number",
        )
