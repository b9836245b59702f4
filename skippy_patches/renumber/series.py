"""The series file of a lane, when its patches get other names: nothing else in it changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.queue import series

if TYPE_CHECKING:
    from collections.abc import Mapping


def renamed(content: bytes, names: Mapping[str, str]) -> bytes:
    """`content` with other names of patches. Lines, order, comments and blanks stay as they are."""
    lines = os.fsdecode(content).split("\n")
    for entry in series.parse(content):
        if entry.name in names:
            line = lines[entry.number - 1]
            start = len(line) - len(line.lstrip())
            end = start + len(entry.name)
            lines[entry.number - 1] = line[:start] + names[entry.name] + line[end:]
    return os.fsencode("\n".join(lines))
