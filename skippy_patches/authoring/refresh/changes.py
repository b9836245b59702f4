"""What a refresh is about to do, patch by patch: shown before anything is written."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.apply.ledger import Row
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


class Action(enum.StrEnum):
    """What becomes of a patch file."""

    KEPT = "kept"  # the same bytes under the same name
    RENAMED = "renamed"  # the same bytes under another number
    REWRITTEN = "rewritten"  # exported again, perhaps under another number
    NEW = "new"
    DROPPED = "dropped"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Change:
    """One patch. path: of its file afterwards, or of the file that goes. before: its file now, if it has one.

    commit: the author's, None for a patch that is not checked out or is dropped. subject: empty where the
    patch is not checked out and nothing before it changed.
    """

    action: Action
    number: int
    path: str
    before: str | None
    subject: str
    commit: ObjectId | None

    def as_json(self) -> dict[str, Any]:
        """One object of `refresh --format json`."""
        return {
            "action": self.action,
            "number": self.number,
            "file": self.path,
            "before": self.before,
            "subject": self.subject,
            "commit": self.commit,
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """The queue afterwards, in apply order, with what is dropped behind.

    patches, rows: of the queue as it will be; the first `held` of them are checked out. files: path ->
    bytes before and after, None for no file.
    """

    changes: tuple[Change, ...]
    patches: tuple[Patch, ...]
    rows: tuple[Row, ...]
    held: int
    files: Mapping[str, tuple[bytes | None, bytes | None]]

    @property
    def has_changes(self) -> bool:
        """Whether a file is to be written, renamed or deleted."""
        return bool(self.files)

    def of(self, *actions: Action) -> list[Change]:
        """The changes of these kinds."""
        return [change for change in self.changes if change.action in actions]

    def summary(self) -> str:
        """How many of each kind, in a line."""
        counts = [(len(self.of(action)), action.value) for action in Action]
        return ", ".join(f"{count} {word}" for count, word in counts if count)
