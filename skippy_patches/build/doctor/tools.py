"""cmake, ctest, ninja, git and the compiler launcher: there, running, and new enough."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skippy_patches.build import launcher as launchers
from skippy_patches.build import pip, sharing, tool
from skippy_patches.build.doctor import finding
from skippy_patches.build.errors import ToolTooOld
from skippy_patches.compilercache import AUTO, CCACHE
from skippy_patches.errors import SkippyError
from skippy_patches.git import GitMissing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    """What runs in front of the compilers, and what of the team's it cannot use."""
    try:
        choice = case.launcher()
    except SkippyError as error:
        yield finding.of(error)
        return
    for unused in choice.unused:
        yield finding.warning(
            "cache-unused",
            unused.what,
            why="The build goes on without it: what others could spare this machine is compiled here.",
            mend=unused.mend,
        )
    if choice.launcher is None and case.asked.launcher == case.asked.cache.launcher == AUTO:
        found = launchers.places(CCACHE, case.host.variables)
        yield from (_left_out(place) for place in found[:1])


def _left_out(path: Path) -> Finding:
    """Say that ccache is there, and that auto passes over it."""
    wanted = ".".join(map(str, tool.MINIMUM[CCACHE]))
    mend = f"Update it: {pip.install(sharing.PACKAGES[CCACHE], '--upgrade')}"
    try:
        found = tool.examine(CCACHE, path)
    except SkippyError as error:
        return finding.of(error, finding.WARNING)
    return finding.of(ToolTooOld(CCACHE, path, found.version, wanted=wanted, mend=mend), finding.WARNING)
