"""Files from their old bytes to the new ones, in an order that tells afterwards how far it came."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING

from skippy_patches.files import sync_folder
from skippy_patches.journal.errors import ChangedSince

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.journal.plan import FileChange


@contextlib.contextmanager
def prepared(root: Path, files: Sequence[FileChange]) -> Iterator[None]:
    """Write the new bytes beside their places. They go again when the context fails. Raises OSError."""
    try:
        for each in files:
            if each.new is not None:
                _write_stand_in(root / each.path, each.new, each.mode)
        yield
    except BaseException:
        remove_stand_ins(root, files)
        raise


def settle(root: Path, files: Sequence[FileChange], pending: Path) -> None:
    """Bring every file to its new content, or see that it is there already. Raises ChangedSince, OSError.

    All writes come before the first removal. So a file that is gone while another one is not yet written was
    not removed here: another branch was checked out, or a person was at work.
    """
    found = {each.path: content(root / each.path) for each in files}
    changed = [each.path for each in files if found[each.path] not in (each.old, each.new)]
    unwritten = [each for each in files if each.new is not None and found[each.path] != each.new]
    removed = [each.path for each in files if each.new is None and found[each.path] is None]
    if changed or (unwritten and removed):
        raise ChangedSince(changed or removed, pending)
    for each in unwritten:
        _put(root / each.path, each)
    for each in files:
        if each.new is None:
            (root / each.path).unlink(missing_ok=True)
    remove_stand_ins(root, files)
    for folder in {(root / each.path).parent for each in files}:
        sync_folder(folder)


def remove_stand_ins(root: Path, files: Sequence[FileChange]) -> None:
    """Remove the new bytes that wait beside their places."""
    for each in files:
        _stand_in(root / each.path).unlink(missing_ok=True)


def content(file: Path) -> bytes | None:
    """The bytes of a file; None when nothing is there."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def mode(file: Path) -> int | None:
    """The permissions of a file; None when nothing is there."""
    return file.stat().st_mode & 0o777 if file.exists() else None


def _put(file: Path, change: FileChange) -> None:
    assert change.new is not None  # noqa: S101 - see settle
    if content(_stand_in(file)) != change.new:
        _write_stand_in(file, change.new, change.mode)
    _stand_in(file).replace(file)


def _write_stand_in(file: Path, new: bytes, permissions: int | None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with _stand_in(file).open("wb") as stream:
        if permissions is not None:
            os.fchmod(stream.fileno(), permissions)
        stream.write(new)
        stream.flush()
        os.fsync(stream.fileno())


def _stand_in(file: Path) -> Path:
    """Where the new bytes of `file` wait; of one length, so that no name is too long for it."""
    return file.with_name(f".skippy-{hashlib.sha256(os.fsencode(file.name)).hexdigest()[:16]}")
