"""The commit that was made in the place of an edited patch, remembered until `refresh` has written it.

Where an author replaces all of a patch, message and date too, nothing in the commit tells that it is that
patch; `edit N` told. The commit changes with every amend; its author and author date do not.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.authoring.history import Commit


@dataclasses.dataclass(frozen=True, kw_only=True)
class Edited:
    """patch: the file that was edited. email, date: of the author of the first commit in its place."""

    patch: str
    email: str
    date: str

    def place(self, commits: Sequence[Commit]) -> int | None:
        """Where the commit is now, if there is exactly one like it."""
        found = [at for at, each in enumerate(commits) if (each.email, each.date) == (self.email, self.date)]
        return found[0] if len(found) == 1 else None


def load(checkout: Checkout) -> Edited | None:
    """What is remembered; what cannot be read is nothing."""
    try:
        found = json.loads(checkout.edited.read_text(encoding="utf-8"))
        return Edited(patch=str(found["patch"]), email=str(found["email"]), date=str(found["date"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(checkout: Checkout, edited: Edited) -> None:
    """Remember this one, and no other."""
    write_atomically(checkout.edited, json.dumps(dataclasses.asdict(edited)).encode())


def forget(checkout: Checkout) -> None:
    """Remember none."""
    checkout.edited.unlink(missing_ok=True)
