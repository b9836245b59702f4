"""Why a patch does not apply: the hunk, the file, and the lines there that look most like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


def failure(repository: Repository, parent: ObjectId, patch: Patch, said: str) -> str:
    """Read what `git apply` said on stderr and add what it does not say."""
    return said.strip()
