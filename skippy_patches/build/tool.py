"""A program of the build as a value: where it is, which version, which bytes."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import sysconfig
from pathlib import Path

from skippy_patches.build import artifacts
from skippy_patches.build.ask import ask
from skippy_patches.build.errors import ToolBroken, ToolTooOld

MINIMUM = {
    "cmake": (3, 24),  # ctest --test-output-truncation
    "ninja": (1, 10),
    "ccache": (4, 7),
    "sccache": (0, 16),  # an older one writes to a remote that it was told to read only
}
_VERSION = re.compile(r"\d+(\.\d+)+")
_TIMEOUT = 10  # seconds for a program to tell its version; with nvcc's own less than doctor waits


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A program. path: the file that runs. version: its own words. sha256: of the real file's bytes."""

    name: str
    path: Path
    version: str
    sha256: str


_examined: dict[tuple[str, Path, tuple[int, ...]], Tool] = {}


def examine(name: str, path: Path) -> Tool:
    """Ask the program for its version and hash it, once while it is the same file. Raises ToolBroken (6)."""
    key = (name, path, _identity(path))
    if key not in _examined:
        _examined[key] = _examine(name, path)
    return _examined[key]


def beside_python(name: str) -> Path | None:
    """The program that a package of this Python brought.

    It beats the one on PATH: it is what the project's own requirements pin, in every shell.
    """
    candidates = (
        Path(sysconfig.get_path("purelib"), name, "data", "bin", name),  # the binary behind cmake's script
        Path(sysconfig.get_path("scripts"), name),
        Path(sys.executable).parent / name,
    )
    return next((file for file in candidates if file.is_file() and os.access(file, os.X_OK)), None)


def _identity(path: Path) -> tuple[int, ...]:
    try:
        known = path.stat()
    except OSError:
        return ()
    return (known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)


def _examine(name: str, path: Path) -> Tool:
    answer = ask([path, "--version"], timeout=_TIMEOUT)
    lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
    if answer.status != 0 or not lines:
        raise ToolBroken(name, path, answer.problem or answer.err or answer.out)
    # cmake and ccache: "cmake version 3.25.1"; a compiler's whole line says whose build it is.
    version = re.sub(rf"^{re.escape(name)} (version )?", "", lines[0])
    return Tool(name=name, path=path, version=version, sha256=artifacts.sha256(path.resolve()))


def require(tool: Tool, mend: str) -> None:
    """Raise ToolTooOld (6) for what is below MINIMUM."""
    if is_old(tool):
        wanted = ".".join(map(str, MINIMUM[tool.name]))
        raise ToolTooOld(tool.name, tool.path, tool.version, wanted=wanted, mend=mend)


def is_old(tool: Tool) -> bool:
    """Whether it is below MINIMUM."""
    match = _VERSION.search(tool.version)
    numbers = tuple(int(part) for part in match[0].split(".")) if match else ()
    return numbers < MINIMUM.get(tool.name, ())
