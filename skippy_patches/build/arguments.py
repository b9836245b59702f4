"""The arguments of cmake's configure step: the recipe's, and those that make the same bytes everywhere."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from skippy_patches.build import ggmlgit, plainincludes, recipefile
from skippy_patches.build.errors import UnusablePath

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.result import Applied
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain

GENERATOR = "Ninja"
NO_BUILD_NUMBER = 0
_TAG = re.compile(r"b(\d+)")
_LANGUAGES = ("C", "CXX")
_CUDA_FLAGS = "CMAKE_CUDA_FLAGS"
_NVCC = "--objdir-as-tempdir"  # else every object holds the random name of a temporary file
_UNUSABLE = ",;$\"'\\\n"  # seen: a comma fails in configure, a dollar sign is expanded in flags


def build_number(tag: str) -> int | None:
    """The number in upstream's tags of the form b10361; None for others."""
    match = _TAG.fullmatch(tag)
    return int(match[1]) if match else None


def refuse_unusable(*paths: Path) -> None:
    """Raise UnusablePath for a path that cmake splits or expands, before an hour is spent."""
    for path in paths:
        for character in _UNUSABLE:
            if character in str(path):
                raise UnusablePath(path, character)


def identity(applied: Applied) -> dict[str, str]:
    """The variables that say what is built. They change with the queue and need no new build folder.

    llama.cpp would count the commits of the checkout, and a shallow one holds only the queue's.
    """
    number = build_number(applied.upstream_tag)
    return {
        "LLAMA_BUILD_NUMBER": str(NO_BUILD_NUMBER if number is None else number),
        "LLAMA_BUILD_COMMIT": applied.patched.commit.short,
    }


def variables(recipe: Recipe, toolchain: Toolchain, source: Path, tree: Path) -> dict[str, str]:
    """Every other variable. What the recipe sets beats ours, except that its compiler flags are extended."""
    launcher = str(toolchain.launcher.path) if toolchain.launcher else ""
    ours = {
        "CMAKE_MAKE_PROGRAM": str(toolchain.ninja.path),
        "CMAKE_C_COMPILER": str(toolchain.c.path),
        "CMAKE_CXX_COMPILER": str(toolchain.cxx.path),
        "CMAKE_C_COMPILER_LAUNCHER": launcher,
        "CMAKE_CXX_COMPILER_LAUNCHER": launcher,
        "CMAKE_BUILD_RPATH_USE_ORIGIN": "ON",  # $ORIGIN instead of the build folder's path
        ggmlgit.VARIABLE: str(ggmlgit.place(tree)),
        **_cuda(toolchain, launcher),
    }
    merged = ours | {name: recipefile.placed(value, recipe.folder) for name, value in recipe.cmake}
    includes = (merged.get(plainincludes.VARIABLE, ""), str(plainincludes.place(tree)))
    merged[plainincludes.VARIABLE] = ";".join(filter(None, includes))
    maps = " ".join(_quoted(f"-ffile-prefix-map={old}={new}") for old, new in prefix_maps(source, tree))
    for language in _LANGUAGES:
        name = f"CMAKE_{language}_FLAGS"
        merged[name] = f"{merged.get(name, '')} {maps}".strip()
    if toolchain.cuda is not None:
        merged[_CUDA_FLAGS] = f"{merged.get(_CUDA_FLAGS, '')} {_NVCC}".strip()
    return merged


def _cuda(toolchain: Toolchain, launcher: str) -> dict[str, str]:
    """nvcc, and what it hands the host's part of a source to: else it takes any g++ on PATH."""
    if toolchain.cuda is None:
        return {}
    return {
        "CMAKE_CUDA_COMPILER": str(toolchain.cuda.path),
        "CMAKE_CUDA_COMPILER_LAUNCHER": launcher,
        "CMAKE_CUDA_HOST_COMPILER": str(toolchain.cxx.path),
    }


def prefix_maps(source: Path, tree: Path) -> tuple[tuple[str, str], ...]:
    """The rewriting of paths that __FILE__ and debug information hold.

    ccache makes paths relative before the compiler sees them, hence the second: cached and plain objects
    hold the same text.
    """
    return (
        (str(source), "../src"),
        (os.path.relpath(source, tree), "../src"),
        (str(tree), "."),
    )


def command(given: dict[str, str], source: Path, tree: Path) -> tuple[str, ...]:
    """All arguments, without the program."""
    defined = (f"-D{name}={value}" for name, value in given.items())
    return ("-S", str(source), "-B", str(tree), "-G", GENERATOR, *defined)


def _quoted(flag: str) -> str:
    """A word of CMAKE_<LANG>_FLAGS. Double quotes: cmake takes single ones off the ends of a value."""
    return flag if shlex.quote(flag) == flag else f'"{flag}"'
