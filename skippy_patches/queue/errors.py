"""The errors that only the queue can meet."""

from __future__ import annotations

from skippy_patches.errors import PatchError, SkippyError
from skippy_patches.queue.findings import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.patch import Patch


class QueueError(SkippyError):
    """The queue's order or safety is in doubt: nothing is applied from it. `findings` says why."""

    exit_status = 1

    def __init__(self, findings: Sequence[Finding]) -> None:
        count = "1 error" if len(findings) == 1 else f"{len(findings)} errors"
        super().__init__(
            f"The queue cannot be used: {count}.",
            why="\n".join(describe(finding) for finding in findings),
            mend="Mend them, then see that all is well with: skippy-patches check",
        )
        self.findings = tuple(findings)


class UnreadablePatch(PatchError):
    """git cannot take the file apart, or the commit would not be the same everywhere."""

    def __init__(self, patch: Patch, reason: str) -> None:
        super().__init__(
            f"Patch {patch.number:04d} cannot be read: {patch.path}",
            why=reason,
            mend="Export it again with git format-patch; `skippy-patches check` tells more.",
        )
