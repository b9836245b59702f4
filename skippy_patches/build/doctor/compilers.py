"""The host's compilers: there, new enough, of one kind, and able to make a program."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding, remembered
from skippy_patches.build.doctor.case import first_lines
from skippy_patches.build.errors import ToolTooOld
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding
    from skippy_patches.build.tool import Tool

# std::filesystem without a library of its own, which llama.cpp does not link.
OLDEST = {"gcc": (9, 0), "clang": (9, 0)}
_CLANG = re.compile(r"clang version (\d+)\.(\d+)")
_LAST_NUMBER = re.compile(r"(\d+)\.(\d+)[\d.]*(?=\D*$)")
_PROGRAM = "int main() { return 0; }\n"
_VARIABLES = ("CC", "CXX")
_EXAMPLE = {"gcc": "CC=gcc-12 CXX=g++-12", "clang": "CC=clang-16 CXX=clang++-16"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """family: gcc or clang; empty: another one. version: major and minor."""

    family: str
    version: tuple[int, int]

    @property
    def told(self) -> str:
        """As people write it."""
        version = f" {'.'.join(map(str, self.version))}" if any(self.version) else ""
        return f"{self.family or 'of another kind'}{version}"


def kind_of(compiler: Tool) -> Kind:
    """What a compiler says it is in the first line of --version, which names gcc as it was called."""
    if match := _CLANG.search(compiler.version):
        return Kind(family="clang", version=(int(match[1]), int(match[2])))
    match = _LAST_NUMBER.search(compiler.version)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    is_gcc = re.match(r"(?:.*-)?(?:cc|c\+\+|gcc|g\+\+)(?:-[\d.]+)?$", compiler.name) is not None
    return Kind(family="gcc" if is_gcc and match else "", version=version)


def c(case: Case) -> Iterator[Finding]:
    """CC, or the one on PATH."""
    yield from _one(case, "c")


def cxx(case: Case) -> Iterator[Finding]:
    """CXX, or the one on PATH."""
    yield from _one(case, "cxx")


def _one(case: Case, role: str) -> Iterator[Finding]:
    try:
        compiler = case.tool(role)
        kind = kind_of(compiler)
        oldest = OLDEST.get(kind.family)
        if oldest is not None and kind.version < oldest:
            wanted = f"{kind.family} {'.'.join(map(str, oldest))}"
            mend = f"Install a newer one and name it, with its version: {_EXAMPLE[kind.family]}"
            old = ToolTooOld(compiler.name, compiler.path, compiler.version, wanted=wanted, mend=mend)
            yield finding.of(old, finding.WARNING)
    except SkippyError as error:
        yield finding.of(error)


def pair(case: Case) -> Iterator[Finding]:
    """Both of one kind: one of CC and CXX is easily set without the other."""
    first, second = case.tool_if_there("c"), case.tool_if_there("cxx")
    if first is None or second is None or kind_of(first) == kind_of(second):
        return
    told = {name: f"{tool.path} is {kind_of(tool).told}" for name, tool in (("C", first), ("C++", second))}
    is_set = [variable for variable in _VARIABLES if case.host.variables.get(variable)]
    missing = [variable for variable in _VARIABLES if variable not in is_set]
    mend = f"Name both, for example: {_EXAMPLE['gcc']}"
    if is_set and missing:
        mend = f"{is_set[0]} is set and {missing[0]} is not. {mend}"
    yield finding.warning(
        "compilers-differ",
        f"The C and the C++ compiler do not belong together: {told['C']}, {told['C++']}.",
        why="Each may bring another OpenMP and other instructions, and the libraries hold code of both.",
        mend=mend,
    )


def linking(case: Case) -> Iterator[Finding]:
    """A program of one line: finds a compiler without its linker or its C library."""
    compiler = case.tool_if_there("cxx")
    if compiler is None:
        return
    key = remembered.key("linking", compiler.sha256, str(compiler.path), _PROGRAM)
    if remembered.is_fine(case.host, key):
        return
    with tempfile.TemporaryDirectory(prefix="skippy-doctor-") as folder:
        command = (compiler.path, "-x", "c++", "-", "-o", Path(folder) / "program")
        ran = case.host.run(tuple(map(str, command)), _PROGRAM)
    if ran.is_fine:
        remembered.note(case.host, key)
        return
    yield finding.error(
        "compiler-cannot-link",
        f"{compiler.path} cannot make a program of one line.",
        why=first_lines(ran.output),
        mend="Install the whole compiler, with linker and C library. "
        "Debian, Ubuntu: apt install build-essential",
    )
