"""Variables of the dynamic loader that would put another libggml or libllama in the place of the built one.

The built libraries find each other by $ORIGIN in DT_RUNPATH, which LD_LIBRARY_PATH and LD_PRELOAD beat
(ld.so(8)). The tests run without both, unless the recipe sets them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_PATHS = {"linux": "LD_LIBRARY_PATH", "macos": "DYLD_LIBRARY_PATH"}
_PRELOADS = {"linux": "LD_PRELOAD", "macos": "DYLD_INSERT_LIBRARIES"}
_OURS = ("libggml", "libllama")
_SUFFIXES = ("*.so*", "*.dylib")
_WHY = "A program that you start would load that one instead of the one that was built"


def check(case: Case) -> Iterator[Finding]:
    """The person's environment, and what the recipe gives the tests."""
    system = case.host.platform.system
    path, preload = _PATHS.get(system, ""), _PRELOADS.get(system, "")
    given = dict(case.recipe.tests.environment)
    if found := _another(case.host.variables.get(path, "")):
        yield finding.warning(
            "loader-path",
            f"{path} leads to another {found.name}: {found}.",
            why=f"{_WHY}. The tests run without {path}.",
            mend=f"Take {found.parent} out of it, or: unset {path}",
        )
    if found := _another(given.get(path, "")):
        yield finding.warning(
            "loader-path",
            f"The recipe's tests would load another {found.name}: {found}.",
            why=f"It stands in {path}, which beats the libraries' own run path: another one would be tested.",
            mend=f"Take {found.parent} out of tests.environment in {case.recipe.file}",
        )
    names = case.host.variables.get(preload, "").replace(":", " ").split()
    for name in (name for name in names if Path(name).name.startswith(_OURS)):
        yield finding.warning(
            "preloaded-library",
            f"{preload} names {name}.",
            why=f"{_WHY}. The tests run without {preload}.",
            mend=f"Take it out of it, or: unset {preload}",
        )


def _another(path: str) -> Path | None:
    """The first such library in the folders of `path`."""
    for folder in (Path(part) for part in path.split(os.pathsep) if part):
        for name in _OURS:
            found = next((file for end in _SUFFIXES for file in sorted(folder.glob(name + end))), None)
            if found:
                return found
    return None
