"""Finds the programs that a build uses, as values: where, which version, which bytes.

cmake and ninja come as Python packages with skippy-patches; those beside the running Python are taken
before those on PATH. Compilers are CC and CXX when these are set, else what cmake would take.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import launcher as launchers
from skippy_patches.build.errors import ToolMissing
from skippy_patches.build.tool import Tool, beside_python, examine, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skippy_patches.build.launcher import Launcher

__all__ = ["Tool", "Toolchain", "find"]

_MASQUERADING = frozenset({"ccache", "sccache", "distcc", "icecc"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Toolchain:
    """Everything that makes bytes, and ctest. launcher: what runs in front of the compilers, or None.

    cuda: nvcc, where the recipe builds for CUDA (cudasetup).
    """

    cmake: Tool
    ctest: Tool
    ninja: Tool
    c: Tool
    cxx: Tool
    launcher: Tool | None
    cuda: Tool | None = None

    def tools(self) -> Iterator[tuple[str, Tool]]:
        """Role and tool, of those that take part in building."""
        yield from (("cmake", self.cmake), ("ninja", self.ninja), ("c", self.c), ("cxx", self.cxx))
        if self.cuda is not None:
            yield "cuda", self.cuda
        if self.launcher is not None:
            yield "launcher", self.launcher


def find(
    launcher: Launcher | str | None = "auto", *, variables: Mapping[str, str] | None = None
) -> Toolchain:
    """Look for every program. launcher: what launcher.find has chosen, or what to ask it for.

    Raises ToolMissing, ToolTooOld, ToolBroken (6) and BadLauncher (2).
    """
    own = os.environ if variables is None else variables
    seek = seekers(own)
    cmake = seek["cmake"]()
    chosen = launchers.find(launcher, variables=own) if isinstance(launcher, str) else launcher
    return Toolchain(
        cmake=cmake,
        ctest=_ctest(cmake),
        ninja=seek["ninja"](),
        c=seek["c"](),
        cxx=seek["cxx"](),
        launcher=chosen.tool if chosen else None,
    )


def seekers(variables: Mapping[str, str]) -> dict[str, Callable[[], Tool]]:
    """What looks for each program, by its role: cmake, ctest, ninja, c, cxx. Raises what `find` does."""
    path = variables.get("PATH", os.defpath)
    return {
        "cmake": lambda: _python_tool("cmake", path),
        "ctest": lambda: _ctest(_python_tool("cmake", path)),
        "ninja": lambda: _python_tool("ninja", path),
        "c": lambda: _compiler("C", variables.get("CC"), ("cc", "gcc", "clang"), path),
        "cxx": lambda: _compiler("C++", variables.get("CXX"), ("c++", "g++", "clang++"), path),
    }


def _python_tool(name: str, path: str) -> Tool:
    """The program of the PyPI package `name`, beside this Python, or the one on PATH."""
    own = beside_python(name)
    found = str(own) if own else shutil.which(name, path=path)
    if found is None:
        raise ToolMissing(
            name,
            why="It belongs to skippy-patches' own requirements and is neither there nor on PATH.",
            mend=f"Install it: {sys.executable} -m pip install {name}",
        )
    tool = examine(name, Path(found))
    require(tool, f"Update it: {sys.executable} -m pip install --upgrade {name}")
    return tool


def _ctest(cmake: Tool) -> Tool:
    for file in (cmake.path.parent / "ctest", cmake.path.resolve().parent / "ctest"):
        if os.access(file, os.X_OK):
            return dataclasses.replace(cmake, name="ctest", path=file, sha256="")
    raise ToolMissing("ctest", why=f"It should be beside {cmake.path}.", mend="Reinstall cmake.")


def _compiler(language: str, wanted: str | None, names: tuple[str, ...], path: str) -> Tool:
    words = shlex.split(wanted) if wanted else []
    if len(words) > 1:
        raise ToolMissing(
            f"'{wanted}'",
            why=f"CC and CXX must each be one program: flags in them are not recorded ({language}).",
            mend="Put flags into the recipe (CMAKE_C_FLAGS, CMAKE_CXX_FLAGS), a cache into --launcher.",
        )
    found = next((file for name in words or names if (file := _which(name, path))), None)
    if found is None:
        raise ToolMissing(
            f"A {language} compiler", why=f"Looked for: {', '.join(words or names)}.", mend=_get()
        )
    return examine(Path(found).name, Path(found))


def _which(name: str, path: str) -> str | None:
    """Look past links of the kind /usr/lib/ccache/cc, which are an unrecorded cache, not a compiler."""
    for folder in path.split(os.pathsep):
        found = shutil.which(name, path=folder)
        if found and Path(found).resolve().name not in _MASQUERADING:
            return found
    return None


def _get() -> str:
    if platform.system() == "Darwin":
        return "Install Apple's command line tools: xcode-select --install"
    return "Debian, Ubuntu: apt install build-essential. Fedora: dnf install gcc-c++."
