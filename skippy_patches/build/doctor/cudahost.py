"""nvcc with the host's compiler: a source of one line is compiled, which no table of versions can stand for.

That takes nvcc about a second, so what went well is remembered, by the hashes of both compilers and by the
headers at which they meet (remembered.py).
"""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import cuda, finding, remembered
from skippy_patches.build.doctor.case import first_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.cuda import CudaToolkit
    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding
    from skippy_patches.build.doctor.host import Ran

_SOURCE = "__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); }\n"
_VARIABLE = "CMAKE_CUDA_HOST_COMPILER"
_FLAGS = "CMAKE_CUDA_FLAGS"  # among them may be -allow-unsupported-compiler
# crt/host_config.h: "#error -- unsupported GNU version! gcc versions later than 15 are not supported! ..."
_REFUSED = re.compile(r"unsupported (?:GNU|clang)[^!]*! *(?P<why>[^!]*)!")
_NEWEST = re.compile(r"gcc versions later than (\d+)")
# What glibc declares in <math.h> since some version, with noexcept: a declaration without it is an error.
_DECLARED: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((2, 41), ("sinpi", "cospi")),
    ((2, 42), ("rsqrt",)),
)
_MEETING = "crt/math_functions.h"


def host_compiler(case: Case) -> Iterator[Finding]:
    """The pair that the build will use."""
    toolkit, compiler = case.toolkit(), _compiler(case)
    if toolkit is None or compiler is None or not cuda.header(toolkit, "cuda_runtime.h"):
        return
    key = _key(case, toolkit, compiler)
    if remembered.is_fine(case.host, key):
        return
    ran = _compile(case, toolkit, compiler)
    output = ran.output
    if ran.is_fine:
        remembered.note(case.host, key)
    elif clash := _clash(case, toolkit):
        yield clash
    elif match := _REFUSED.search(output):
        yield _refusal(case, toolkit, compiler, match["why"])
    else:
        yield finding.error(
            "nvcc-cannot-compile",
            f"{toolkit.nvcc.path} does not compile a source of one line with {compiler}.",
            why=first_lines(output),
            mend="Try another host compiler: CC=gcc-12 CXX=g++-12, or toolkit: CUDACXX=FOLDER/bin/nvcc",
        )


def _compiler(case: Case) -> Path | None:
    """What nvcc hands the host's part of a source to."""
    if named := case.recipe.variable(_VARIABLE):
        return case.host.which(named)
    found = case.tool_if_there("cxx")
    return found.path if found else None


def _compile(case: Case, toolkit: CudaToolkit, compiler: Path) -> Ran:
    with tempfile.TemporaryDirectory(prefix="skippy-doctor-") as folder:
        source = Path(folder, "one.cu")
        source.write_text(_SOURCE, encoding="ascii")
        oldest = [f"-arch=compute_{toolkit.architectures[0]}"] if toolkit.architectures else []
        flags = _words(case.recipe.variable(_FLAGS))
        target = ["-std=c++17", "-c", str(source), "-o", str(source.with_suffix(".o"))]
        return case.host.run([str(toolkit.nvcc.path), "-ccbin", str(compiler), *oldest, *flags, *target])


def _words(flags: str) -> list[str]:
    """As a shell splits them; a quote without its pair is CMake's to complain of."""
    try:
        return shlex.split(flags)
    except ValueError:
        return flags.split()


def _refusal(case: Case, toolkit: CudaToolkit, compiler: Path, why: str) -> Finding:
    newest = _NEWEST.search(why)
    return finding.error(
        "host-compiler",
        f"CUDA {toolkit.release} does not work with this C++ compiler: {compiler}.",
        why=f"nvcc says: {why}. It compiles none of the .cu files with it.",
        mend=_others(case, int(newest[1])) if newest else "Name another one: CC=gcc-12 CXX=g++-12",
    )


def _others(case: Case, newest: int) -> str:
    """An older gcc of this machine, else which one to get."""
    build = f"skippy-patches build --recipe {case.recipe.name}"
    for number in range(newest, 8, -1):
        if case.host.which(f"gcc-{number}") and case.host.which(f"g++-{number}"):
            return f"gcc {number} is here, too. Use it: CC=gcc-{number} CXX=g++-{number} {build}"
    return (
        f"Install gcc {newest} or older (Debian, Ubuntu: apt install g++-{newest}), and use it: "
        f"CC=gcc-{newest} CXX=g++-{newest} {build}\nOr take a newer CUDA toolkit."
    )


def _clash(case: Case, toolkit: CudaToolkit) -> Finding | None:
    """What the C library and CUDA's headers declare differently: why a source of one line did not compile."""
    file = cuda.header(toolkit, _MEETING)
    if case.host.glibc is None or file is None:
        return None
    text = file.read_text("utf-8", "replace")
    for since, names in _DECLARED:
        plain = [name for name in names if re.search(rf"\bdouble\s+{name}\(double x\)\s*;", text)]
        if case.host.glibc >= since and plain:
            glibc, oldest = (".".join(map(str, version)) for version in (case.host.glibc, since))
            return finding.error(
                "cuda-glibc",
                f"CUDA {toolkit.release} does not go with glibc {glibc}: both declare {' and '.join(plain)}.",
                why=f"glibc does so since {oldest}, with noexcept; {file} does it without, "
                "so that no .cu file compiles.",
                mend="Take a newer CUDA toolkit, or build in a container whose glibc is older than "
                f"{oldest} (Ubuntu 24.04, Debian 12).",
            )
    return None


def _key(case: Case, toolkit: CudaToolkit, compiler: Path) -> str:
    """What the answer depends on."""
    host = case.tool_if_there("cxx")
    of_host = host.sha256 if host and host.path == compiler else _stamp(compiler.resolve())
    meeting = cuda.header(toolkit, _MEETING)
    return remembered.key(
        toolkit.nvcc.sha256,
        str(toolkit.root),
        of_host,
        str(compiler),
        repr(case.host.glibc),
        _stamp(meeting) if meeting else "",
        case.recipe.variable(_FLAGS),
        _SOURCE,
    )


def _stamp(file: Path) -> str:
    known = file.stat()
    return f"{known.st_size} {known.st_mtime_ns}"
