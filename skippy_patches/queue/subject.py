"""The subject of a patch as git am would write it, read by git itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.git import run_anywhere

if TYPE_CHECKING:
    from skippy_patches.queue.patch import Patch


def subject_of(patch: Patch, subject_prefix: str) -> str:
    """Decoded and unfolded (git-mailinfo(1)); empty when git finds none. subject_prefix: strip or keep."""
    keep = ["-b"] if subject_prefix == "keep" else []
    info = run_anywhere(
        "mailinfo", *keep, "--encoding=UTF-8", os.devnull, os.devnull, stdin=patch.content, check=False
    )
    found = [
        line.removeprefix("Subject: ") for line in info.text.splitlines() if line.startswith("Subject: ")
    ]
    return " ".join(found)
