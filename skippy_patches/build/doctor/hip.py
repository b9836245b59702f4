"""ROCm for AMD's GPUs: found as llama.cpp's CMakeLists.txt and CMake find it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_FOLDER = "/opt/rocm"
_OLDEST = (6, 1)  # ggml-hip/CMakeLists.txt
_VERSION = re.compile(r"(\d+)\.(\d+)")
_INSTALL = (
    "Install ROCm 6.1 or newer (rocm.docs.amd.com; no GPU is needed to build), or name it: ROCM_PATH=/path"
)
_COMPILERS = ("llvm/bin/clang++", "lib/llvm/bin/clang++", "bin/amdclang++")
_LIBRARIES = ("hipblas", "rocblas")


def variables(case: Case) -> Iterator[Finding]:
    """HIPCXX, HIP_PATH and ROCM_PATH, where they are set."""
    named = case.host.variables
    wrong = [name for name in ("HIP_PATH", "ROCM_PATH") if named.get(name) and not Path(named[name]).is_dir()]
    for name in wrong:
        yield finding.warning(
            "hip-variable",
            f"{name} is {named[name]}, which is no folder.",
            why="llama.cpp and CMake look there first, and then take another ROCm than was meant.",
            mend=f"Correct it, or: unset {name}",
        )
    if named.get("HIPCXX") and case.host.which(named["HIPCXX"]) is None:
        yield finding.error(
            "hip-variable",
            f"HIPCXX is {named['HIPCXX']}, which is no program.",
            why="CMake takes that one alone, and stops.",
            mend="Correct it, or: unset HIPCXX",
        )


def rocm(case: Case) -> Iterator[Finding]:
    """There, and new enough."""
    root = _root(case)
    if root is None:
        yield finding.error(
            "rocm-missing",
            "ROCm was not found: no HIP in ROCM_PATH, HIP_PATH, /opt/rocm or /usr.",
            why="The HIP backend is compiled with its compiler and linked with its libraries.",
            mend=_INSTALL if case.host.platform.system == "linux" else "Build this recipe on Linux.",
        )
        return
    version = _version(root)
    if version is not None and version < _OLDEST:
        told = ".".join(map(str, version))
        yield finding.error(
            "rocm-old",
            f"ROCm {told} ({root}) is too old: 6.1 or newer is needed.",
            why="llama.cpp's CMakeLists.txt stops at it.",
            mend=_INSTALL,
        )


def compiler(case: Case) -> Iterator[Finding]:
    """HIP's clang."""
    root = _root(case)
    if root is None or case.host.variables.get("HIPCXX"):
        return
    if not any((root / name).is_file() for name in _COMPILERS) and case.host.which("amdclang++") is None:
        yield finding.warning(
            "hip-compiler-missing",
            f"There is no compiler for HIP in {root}: looked for {', '.join(_COMPILERS)}.",
            why="The system's compilers do not compile for AMD's GPUs.",
            mend="Install ROCm's (Debian, Ubuntu: apt install rocm-llvm). Or: HIPCXX=/path/to/clang++",
        )


def libraries(case: Case) -> Iterator[Finding]:
    """CMake packages of hipBLAS, and of rocBLAS under it."""
    root = _root(case)
    if root is None:
        return
    places = (root, *case.prefixes())
    missing = [name for name in _LIBRARIES if not any(_has_package(place, name) for place in places)]
    if missing:
        yield finding.error(
            "hipblas-missing",
            f"{root} has no {' and no '.join(missing)} to link with.",
            why="llama.cpp's CMakeLists.txt stops without them.",
            mend="With AMD's packages: apt install " + " ".join(f"{name}-dev" for name in missing),
        )


def _root(case: Case) -> Path | None:
    """The first folder that has HIP's CMake package."""
    named = [case.host.variables.get(name) for name in ("ROCM_PATH", "HIP_PATH")]
    places = [*(Path(name) for name in named if name), case.host.place(_FOLDER), *case.prefixes()]
    return next((place for place in places if _has_package(place, "hip")), None)


def _has_package(root: Path, name: str) -> bool:
    places = ("lib/cmake", "lib64/cmake", "lib/*/cmake")
    return any(next(root.glob(f"{place}/{name}/{name}-config.cmake"), None) for place in places)


def _version(root: Path) -> tuple[int, int] | None:
    """From the file that ROCm leaves in its folder."""
    try:
        match = _VERSION.match((root / ".info" / "version").read_text("utf-8", "replace"))
    except OSError:
        return None
    return (int(match[1]), int(match[2])) if match else None
