"""Which patches can matter to another one: those that share files with it, or with such."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.queue import diffscan
from skippy_patches.queue.reader import with_parents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skippy_patches.queue.patch import Patch


def needed_before(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """The patches before the last one on which it may stand, in their order.

    `git apply` looks at the files that a patch names and at nothing else. So one that shares no file with
    the last patch, nor with one that matters to it, changes nothing for it.
    """
    *earlier, last = patches
    reached = places([last])
    found: list[Patch] = []
    for patch in reversed(earlier):
        theirs = places([patch])
        if _meet(theirs, reached):
            reached |= theirs
            found.append(patch)
    return tuple(reversed(found))


def places(patches: Iterable[Patch]) -> frozenset[str]:
    """Every path that the patches read or write, from the top of the tree; bytes as surrogates."""
    files = [file for patch in patches for file in diffscan.parse(patch.content).files]
    return frozenset(path for file in files for path in (file.old_path, file.new_path) if path)


def folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders that these paths lie in."""
    return frozenset(folder for path in paths for folder in with_parents(path)[:-1])


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sets of paths share one, or one has a file where the other has a folder."""
    return not (
        some.isdisjoint(others) and some.isdisjoint(folders(others)) and others.isdisjoint(folders(some))
    )
