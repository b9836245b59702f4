"""Finds the programs that a build uses, as values: where, which version, which bytes.

cmake and ninja come as Python packages with skippy-patches; those beside the running Python are taken
before those on PATH. Compilers are CC and CXX when these are set, else what cmake would take.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import launcher as launchers
from skippy_patches.build import pip
from skippy_patches.build.errors import ToolMissing
from skippy_patches.build.tool import Tool, beside_python, examine, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skippy_patches.build.engine import Launcher

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
        "c": lambda: _compiler("C", "CC", variables, ("cc", "gcc", "clang")),
        "cxx": lambda: _compiler("C++", "CXX", variables, ("c++", "g++", "clang++")),
    }


def _python_tool(name: str, path: str) -> Tool:
    """The program of the PyPI package `name`, beside this Python, or the one on PATH."""
    own = beside_python(name)
    found = str(own) if own else shutil.which(name, path=path)
    if found is None:
        raise ToolMissing(
            name,
            why="It belongs to skippy-patches' own requirements and is neither there nor on PATH.",
            mend=f"Install it: {pip.install(name)}",
        )
    tool = examine(name, Path(found))
    require(tool, f"Update it: {pip.install(name, '--upgrade')}")
    return tool


def _ctest(cmake: Tool) -> Tool:
    for file in (cmake.path.parent / "ctest", cmake.path.resolve().parent / "ctest"):
        if os.access(file, os.X_OK):
            return dataclasses.replace(cmake, name="ctest", path=file, sha256="")
    raise ToolMissing("ctest", why=f"It should be beside {cmake.path}.", mend="Reinstall cmake.")


def _compiler(language: str, variable: str, variables: Mapping[str, str], names: tuple[str, ...]) -> Tool:
    """What the variable names, else the first of `names` that there is."""
    wanted, path = variables.get(variable), variables.get("PATH", os.defpath)
    found = next((file for name in ([wanted] if wanted else names) if (file := _which(name, path))), None)
    if found is None and wanted:
        raise _misnamed(variable, wanted, path)
    if found is None:
        raise ToolMissing(f"A {language} compiler", why=f"Looked for: {', '.join(names)}.", mend=_get())
    return examine(Path(found).name, Path(found).absolute())


def _misnamed(variable: str, wanted: str, path: str) -> ToolMissing:
    """What is the matter with a variable that names no compiler."""
    why, mend = f"{variable} names it, and no other one is taken then.", f"Correct it, or: unset {variable}"
    if shutil.which(wanted, path=path):
        why = f"{variable} names it, and it is a compiler cache under another name."
        mend = f"Name the compiler itself, and the cache with --launcher. Or: unset {variable}"
    elif shutil.which(wanted.strip().split(" ")[0], path=path):
        why = f"{variable} must name one program: flags in it are not recorded."
        mend = "Put flags into the recipe (CMAKE_C_FLAGS, CMAKE_CXX_FLAGS), a cache into --launcher."
    return ToolMissing(f"'{wanted}'", why=why, mend=mend)


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
