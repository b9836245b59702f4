"""Numbers that were asked for with `new`, remembered until `refresh` gives them.

The commit changes with every amend; its author and author date do not, so a wish is known by them.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.authoring.history import Commit


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wish:
    """email, date: of the author of the commit; subject: its first one. number: 0 when a band was named."""

    email: str
    date: str
    subject: str
    number: int
    band: str

    def described(self, number: int) -> str:
        """For a sentence."""
        return f"number {number:04d}" + (f", the next one of band {self.band}" if self.band else "")


def load(checkout: Checkout) -> list[Wish]:
    """All that are remembered; what cannot be read is none."""
    try:
        found = json.loads(checkout.wishes.read_text(encoding="utf-8"))
        return [
            Wish(
                email=str(each["email"]),
                date=str(each["date"]),
                subject=str(each["subject"]),
                number=int(each["number"]),
                band=str(each["band"]),
            )
            for each in found
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def save(checkout: Checkout, wishes: Iterable[Wish]) -> None:
    """Remember exactly these."""
    write_atomically(checkout.wishes, json.dumps([dataclasses.asdict(each) for each in wishes]).encode())


def grant(wishes: Sequence[Wish], commits: Sequence[Commit]) -> dict[str, Wish]:
    """Commit id -> its wish, each given once. Among commits of one author and second the subject decides."""
    found: dict[str, Wish] = {}
    for by_subject in (True, False):
        for wish in wishes:
            fitting = [
                str(commit.id)
                for commit in commits
                if (wish.email, wish.date) == (commit.email, commit.date)
                and (not by_subject or wish.subject == commit.subject)
                and str(commit.id) not in found
            ]
            if fitting and wish not in found.values():
                found[fitting[0]] = wish
    return found
