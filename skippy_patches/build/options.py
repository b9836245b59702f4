"""Refuses variables of a recipe that nothing reads: cmake takes any -D, and a misspelt one does nothing.

A name of llama.cpp's (GGML_*, LLAMA_*) must stand in some CMake file of the checkout, one of CMake's in those
files or in `cmake --help-variable-list`: that is looked at before anything is configured. Other names are
anybody's; of those cmake tells, once it has configured, which ones nothing has read.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import explain
from skippy_patches.build.ask import ask
from skippy_patches.build.errors import ToolBroken, UnknownVariable
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Tool

_CMAKE = "CMAKE_"
_WORD = re.compile(r"\b(?:GGML|LLAMA|CMAKE)_\w+")
_PLACEHOLDER = re.compile(r"<[^>]*>")  # CMAKE_<LANG>_FLAGS
_NO_SOURCES = frozenset({".git", "build", "models", "node_modules"})
_UNUSED = "Manually-specified variables were not used by the project:"
_TIMEOUT = 60  # seconds for cmake to tell its variables


def unknown(recipe: Recipe, source: Path, cmake: Tool) -> Iterator[UnknownVariable]:
    """An error, with file and line, for each variable that has no effect in `source`.

    Raises ToolBroken (6) for a cmake that does not tell its own.
    """
    asked = [name for name, _ in recipe.cmake if _WORD.fullmatch(name)]
    known = set(_words(source))
    documented = _documented(cmake) if any(name.startswith(_CMAKE) for name in asked) else ()
    for name in asked:
        if name in known or any(pattern.fullmatch(name) for pattern in documented):
            continue
        whose = "CMake" if name.startswith(_CMAKE) else "this llama.cpp"
        names = known | {pattern.pattern for pattern in documented if pattern.pattern.isidentifier()}
        near = (each for each in names if each.startswith(name.partition("_")[0]))
        file, line = _place(recipe, name) or (recipe.file, None)
        yield UnknownVariable(name, whose, near, file=file, line=line)


def unused(recipe: Recipe, output: Sequence[str], cached: Iterable[str]) -> Iterator[UnknownVariable]:
    """An error for each variable of the recipe of which cmake's output says that nothing read it.

    It does for a folder that it configures for the first time. Left out are names of which `unknown` tells,
    and ours, which no file of the recipe says. cached: the names in CMakeCache.txt.
    """
    told = set(_told_unused(output))
    names = set(cached) - told
    for name, _ in recipe.cmake:
        if name in told and not _WORD.fullmatch(name) and (place := _place(recipe, name)):
            whose = "this llama.cpp as it was configured"
            yield UnknownVariable(name, whose, names, file=place[0], line=place[1])


def _told_unused(output: Sequence[str]) -> Iterator[str]:
    """The names below cmake's warning, which are indented."""
    is_below = False
    for line in output:
        if line.strip() == _UNUSED:
            is_below = True
        elif is_below and line.strip() and not line.startswith("    "):
            return
        elif is_below and line.strip():
            yield line.strip()


def _place(recipe: Recipe, name: str) -> tuple[Path, int] | None:
    """File and line that say it; None: no file does, or none any more."""
    with contextlib.suppress(SkippyError):
        return explain.where(recipe.folder, recipe.name, f"cmake.{name}")
    return None


def _words(source: Path) -> Iterator[str]:
    """Every name of a variable in the CMake files of `source`."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in _NO_SOURCES]
        for name in files:
            if name == "CMakeLists.txt" or name.endswith(".cmake"):
                with contextlib.suppress(OSError):  # a link that leads nowhere
                    yield from _WORD.findall(Path(folder, name).read_text("utf-8", "replace"))


def _documented(cmake: Tool) -> tuple[re.Pattern[str], ...]:
    """CMake's own variables; what stands for a language or a configuration is any word."""
    answer = ask([cmake.path, "--help-variable-list"], timeout=_TIMEOUT)
    if answer.status != 0:
        raise ToolBroken(cmake.name, cmake.path, answer.problem or answer.err or answer.out)
    names = [line.strip() for line in answer.out.splitlines() if line.startswith(_CMAKE)]
    return tuple(re.compile(_PLACEHOLDER.sub(r"\\w+", name)) for name in names)
