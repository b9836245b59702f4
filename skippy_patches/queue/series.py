"""The series file of a lane: one patch name a line, in apply order, as quilt(1) keeps it.

Blank lines and comments (`#` at the start, or after a blank) are passed over. Quilt's options behind a
name (`-p0`, `-R`) have no meaning here and are reported by the check.
"""

from __future__ import annotations

import os

from skippy_patches.lighttuple import NamedTuple
from skippy_patches.queue.patch import SUFFIX


class SeriesLine(NamedTuple):
    """A line that names a patch. number: 1-based. rest: words behind it. is_padded: blanks at its end."""

    number: int
    name: str
    rest: str
    is_padded: bool


def parse(content: bytes) -> list[SeriesLine]:
    """The naming lines in order."""
    texts = enumerate(os.fsdecode(content).split("\n"), 1)
    return [line for number, text in texts if (line := _line(number, text)) is not None]


def _line(number: int, line: str) -> SeriesLine | None:
    before, comment, _ = line.partition("#") if line.startswith("#") else line.partition(" #")
    text = before.strip()
    if not text:
        return None
    name, _, rest = (text, "", "") if text.endswith(SUFFIX) else text.partition(" ")
    return SeriesLine(number, name, rest.strip(), not comment and before != before.rstrip())
