"""One apply at a time in a checkout, one build at a time in a folder.

The lock is flock(2) on an open file, not the file itself: it ends with its holders whatever kills them.
Its descriptor is handed to every git child, which a lock library cannot do; so a git that outlives its
killed parent still holds the lock, and the next command waits for it instead of racing with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.progress import Reporter


@contextlib.contextmanager
def hold(file: Path, reporter: Reporter) -> Iterator[int]:
    """Hold `file` locked; yield its descriptor. The file names its last holder, for those who wait."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _wait(descriptor, file, reporter)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait(descriptor: int, file: Path, reporter: Reporter) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        reporter.step(f"Waiting for process {holder or 'unknown'}, which holds {file}")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
