"""cmake, ctest, ninja, git and the compiler launcher: there, running, and new enough."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import launcher as launchers
from skippy_patches.build import tool
from skippy_patches.build.doctor import finding
from skippy_patches.build.errors import ToolTooOld
from skippy_patches.compilercache import AUTO, CCACHE, NOT_CONFIGURED
from skippy_patches.errors import SkippyError
from skippy_patches.git import GitMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_GIT = (2, 38)  # merge-tree --write-tree
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_UPDATE_GIT = "Update it. Debian, Ubuntu: apt install git. macOS: xcode-select --install"


def cmake(case: Case) -> Iterator[Finding]:
    """The one that is taken, and the ctest that belongs to it."""
    try:
        case.tool("cmake")
        case.tool("ctest")
    except SkippyError as error:
        yield finding.of(error)


def ninja(case: Case) -> Iterator[Finding]:
    """The one that is taken."""
    try:
        case.tool("ninja")
    except SkippyError as error:
        yield finding.of(error)


def git(case: Case) -> Iterator[Finding]:
    """On PATH: it applies the queue, and tells llama.cpp's configure step its commit."""
    program = case.host.which("git")
    if program is None:
        yield finding.of(GitMissing())
        return
    try:
        found = tool.examine("git", program)
    except SkippyError as error:
        yield finding.of(error)
        return
    match = _NUMBERS.match(found.version)
    if match and tuple(map(int, match.groups())) < _GIT:
        wanted = ".".join(map(str, _GIT))
        old = ToolTooOld(
            "git", program, found.version, wanted=f"for check --merge {wanted}", mend=_UPDATE_GIT
        )
        yield finding.of(old, finding.INFO)


def launcher(case: Case) -> Iterator[Finding]:
    """What runs in front of the compilers, without asking the servers that it may share with."""
    wanted = case.asked.launcher
    try:
        chosen = launchers.find(wanted, NOT_CONFIGURED, case.host.variables)
    except SkippyError as error:
        yield finding.of(error)
        return
    found = launchers.locate(CCACHE, case.host.variables.get("PATH", os.defpath))
    if wanted == AUTO and chosen is None and found:
        yield _left_out(Path(found))


def _left_out(path: Path) -> Finding:
    """Say that ccache is there, and that auto passes over it."""
    wanted = ".".join(map(str, tool.MINIMUM[CCACHE]))
    mend = f"Update it: pip install {launchers.PACKAGES[CCACHE]}"
    found = tool.examine(CCACHE, path)
    return finding.of(ToolTooOld(CCACHE, path, found.version, wanted=wanted, mend=mend), finding.WARNING)
