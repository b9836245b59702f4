"""Writing state so that a kill leaves the old content or the new, never half."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_ABANDONED_SECONDS = 24 * 3600


def write_atomically(file: Path, content: bytes) -> None:
    """Write `file`, and its folder where there is none: state of our own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    replace(file, content)


def replace(file: Path, content: bytes, mode: int | None = None) -> None:
    """Replace `file`: temporary file, fsync, rename, fsync of the folder (rename(2), fsync(2)).

    mode: the permissions; None for those of any new file.
    """
    # Fits wherever `file` does. Nobody can guess it: in a folder that others write to, a link of that name
    # would lead elsewhere, and in one that two containers share a process of that number would write to it.
    temporary = file.with_name(f".skippy-patches.{os.urandom(8).hex()}")
    try:
        with temporary.open("xb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def make_generated_folder(folder: Path) -> None:
    """Make a folder of generated files, which hides itself from the git around it."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        folder.mkdir(parents=True, exist_ok=True)
        text = "# Everything here is made by skippy-patches and can be made again.\n*\n"
        ignore.write_text(text, encoding="utf-8")


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Remove what killed commands left a day ago or earlier; a younger folder may be in use."""
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):  # another command was faster
            if folder.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make a rename or a removal in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
