"""Refuses variables of a recipe that nothing reads: cmake takes any -D, and a misspelt one does nothing.

A name of llama.cpp's (GGML_*, LLAMA_*) must stand in some CMake file of the checkout, one of CMake's in those
files or in `cmake --help-variable-list`. Other names are anybody's, and are taken as they are.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import explain
from skippy_patches.errors import ConfigError
from skippy_patches.yamlfile import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Tool

_CMAKE = "CMAKE_"
_WORD = re.compile(r"\b(?:GGML|LLAMA|CMAKE)_\w+")
_PLACEHOLDER = re.compile(r"<[^>]*>")  # CMAKE_<LANG>_FLAGS
_NO_SOURCES = frozenset({".git", "build", "models", "node_modules"})
_TIMEOUT = 60  # seconds for cmake to tell its variables


def check(recipe: Recipe, source: Path, cmake: Tool) -> None:
    """Raise ConfigError, with file and line, for the first variable that has no effect in `source`."""
    asked = [name for name, _ in recipe.cmake if _WORD.fullmatch(name)]
    known = set(_words(source))
    documented = _documented(cmake) if any(name.startswith(_CMAKE) for name in asked) else ()
    for name in asked:
        if name in known or any(pattern.fullmatch(name) for pattern in documented):
            continue
        whose = "CMake" if name.startswith(_CMAKE) else "this llama.cpp"
        place = explain.where(recipe.folder, recipe.name, f"cmake.{name}")
        file, line = place or (recipe.file, None)
        names = known | {pattern.pattern for pattern in documented if pattern.pattern.isidentifier()}
        near = suggest(name, (each for each in names if each.startswith(name.partition("_")[0])))
        raise ConfigError(
            f"'{name}' is no variable of {whose}",
            file=file,
            line=line,
            why="cmake would take it, and nothing would read it.",
            mend=near if near.startswith("Did") else "Delete the line.",
        )


def _words(source: Path) -> Iterator[str]:
    """Every name of a variable in the CMake files of `source`."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in _NO_SOURCES]
        for name in files:
            if name == "CMakeLists.txt" or name.endswith(".cmake"):
                text = Path(folder, name).read_text("utf-8", "replace")
                yield from _WORD.findall(text)


def _documented(cmake: Tool) -> tuple[re.Pattern[str], ...]:
    """CMake's own variables; what stands for a language or a configuration is any word."""
    done = subprocess.run(
        [cmake.path, "--help-variable-list"], capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    names = [line.strip() for line in done.stdout.splitlines() if line.startswith(_CMAKE)]
    return tuple(re.compile(_PLACEHOLDER.sub(r"\\w+", name)) for name in names)
