"""Space for the checkout and the build."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_MB = 1 << 20
_FULL = 64 * _MB  # not even the configure step
_CHECKOUT = 300 * _MB  # 215 MB with b10361
# What a build folder grows to: cpu 100 MB, sanitizers 150, vulkan 300, each GPU architecture 66 and more.
_TREE = 400 * _MB
_MORE = {"vulkan": 400 * _MB, "cuda": 1600 * _MB, "hip": 1600 * _MB}


def check(case: Case) -> Iterator[Finding]:
    """Where the checkout and the build folder are or will be."""
    layout = case.layout()
    if case.project is None or layout is None:
        return
    is_there = (case.project.checkout / ".git").is_dir()
    was_built = layout.built.is_file() or (layout.tree / "build.ninja").is_file()
    tree = _TREE + sum(_MORE.get(name, 0) for name in case.recipe.requires)
    wanted = (0 if was_built else tree) + (0 if is_there else _CHECKOUT)
    wanted += tree + _CHECKOUT if case.asked.is_twice else 0
    free = case.host.free(layout.folder)
    if free < _FULL and not was_built:
        yield finding.error(
            "disk-full",
            f"The disk is full: {_told(free)} are free at {case.project.state}.",
            why="Nothing can be configured or compiled there.",
            mend="Free some space, or move the project.",
        )
    elif free < wanted:
        what = "this build and the second one take" if case.asked.is_twice else "this build takes"
        yield finding.warning(
            "disk-low",
            f"{_told(free)} are free at {case.project.state}, and {what} about {_told(wanted)}.",
            why="When the disk is full, compiling or linking stops somewhere in the middle.",
            mend="Free some space. Builds of recipes that you no longer use can go: "
            f"{case.project.state / 'build'}",
        )


def writable(case: Case) -> Iterator[Finding]:
    """Where the checkout and the build folder are or will be: a folder, and one that may be written to."""
    layout = case.layout()
    if case.project is None or layout is None:
        return
    places = (layout.folder, case.project.checkout)
    for there in dict.fromkeys(_nearest(place) for place in places):
        if not there.is_dir():
            problem = "is no folder"
        elif not os.access(there, os.W_OK | os.X_OK):
            problem = "cannot be written to"
        else:
            continue
        yield finding.error(
            "folder-unwritable",
            f"{there} {problem}.",
            why="The checkout and the build would be there.",
            mend="Change that, or work in a copy of the project.",
        )


def _nearest(place: Path) -> Path:
    """What there is of a path; a link that leads nowhere is something, too."""
    return next(each for each in (place, *place.parents) if os.path.lexists(each))


def _told(size: int) -> str:
    return f"{size / (1 << 30):.1f} GB" if size >= 1 << 30 else f"{size // _MB} MB"
