"""Reads what ninja says: how far it is, what it compiled, and which command failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OUTPUT_LINES = 40
_STATUS = re.compile(r"\[(\d+)/(\d+)\] (.*)")  # NINJA_STATUS as environment.py sets it
_OBJECT = re.compile(r"Building \w+ object ")
_FAILED = "FAILED: "
# gcc and clang when the kernel killed their worker; the status of a killed shell; allocations that failed.
_KILLED = re.compile(
    r"Killed signal terminated program|unable to execute command: Killed|internal compiler error: Killed"
    r"|FAILED: \[code=137\]|^Killed$|virtual memory exhausted|out of memory allocating"
    r"|cc1plus: out of memory|std::bad_alloc"
)
_FULL = re.compile(r"No space left on device")
_UNKNOWN_TARGET = re.compile(r"ninja: error: unknown target ")


class Progress:
    """Counts the steps that ninja ran. `listen` is called with (done, total) after each."""

    def __init__(self, listen: Callable[[int, int], None]) -> None:
        self.steps = 0
        self.compiled = 0
        self._listen = listen

    def read(self, line: str) -> None:
        """Take one line of output."""
        match = _STATUS.match(line)
        if match is None:
            return
        self.steps += match[1] != "0"  # 0: ninja tells what it does before it begins
        self.compiled += bool(_OBJECT.match(match[3]))
        self._listen(int(match[1]), int(match[2]))


def failure(lines: Sequence[str]) -> tuple[str, ...]:
    """The first failed command and its output, at most OUTPUT_LINES; else the last lines."""
    for start, line in enumerate(lines):
        if line.startswith(_FAILED):
            rest = lines[start + 1 :]
            end = next((at for at, text in enumerate(rest) if _ends(text)), len(rest))
            return _shortened([line, *rest[:end]])
    return tuple(lines[-OUTPUT_LINES:])


def is_out_of_memory(lines: Sequence[str]) -> bool:
    """Whether a compiler was killed, or found no memory."""
    return any(_KILLED.search(line) for line in lines)


def is_disk_full(lines: Sequence[str]) -> bool:
    """Whether something could not be written for want of space."""
    return any(_FULL.search(line) for line in lines)


def is_unknown_target(lines: Sequence[str]) -> bool:
    """Whether ninja does not know what it was asked to build."""
    return any(_UNKNOWN_TARGET.match(line) for line in lines)


def _ends(line: str) -> bool:
    return bool(_STATUS.match(line)) or line.startswith((_FAILED, "ninja: build stopped"))


def _shortened(lines: list[str]) -> tuple[str, ...]:
    """The beginning matters most: a compiler's first error explains the others."""
    if len(lines) <= OUTPUT_LINES:
        return tuple(lines)
    left_out = len(lines) - OUTPUT_LINES + 1
    return (*lines[: OUTPUT_LINES - 1], f"... {left_out} more lines are in the log")
