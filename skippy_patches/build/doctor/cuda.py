"""The CUDA toolkit: there, whole, of one version, and for the GPUs that are asked for; no GPU is needed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import cuda as toolkits
from skippy_patches.build import cudaarch, pip, tool
from skippy_patches.build.cudaerrors import CublasMissing, NvccMissing
from skippy_patches.build.cudasetup import NO_DRIVER
from skippy_patches.build.doctor import finding
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.cuda import CudaToolkit
    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

Version = tuple[int, int]
_DEFINED = re.compile(r"^#define CUDA_VERSION (\d+)$", re.MULTILINE)
_CUBLAS = re.compile(r"^#define CUBLAS_VER_MAJOR (\d+)$", re.MULTILINE)
# The oldest driver on which a toolkit's programs start, by its generation: NVIDIA, "CUDA Compatibility".
_DRIVERS = {11: 450, 12: 525, 13: 580}
_HEADER_BYTES = 1 << 20
_RUNTIME = ("libcudart.so", "libcudart_static.a")


def nvcc(case: Case) -> Iterator[Finding]:
    """There, and running."""
    if case.toolkit() is not None:
        return
    folders = tuple(case.host.place(folder) for folder in toolkits.FOLDERS)
    program = next(toolkits.programs(case.host.variables, folders), None)
    if program is None:
        yield finding.of(NvccMissing(toolkits.astray(case.host.variables)))
        return
    try:
        tool.examine("nvcc", Path(program))
    except SkippyError as error:
        yield finding.of(error)
    else:
        yield finding.error(
            "nvcc-missing",
            f"{program} does not tell its version as NVIDIA's nvcc does.",
            why="It may be a wrapper that leads nowhere: what it stands for cannot be told.",
            mend="Name the toolkit's own: CUDACXX=/usr/local/cuda/bin/nvcc",
        )


def variables(case: Case) -> Iterator[Finding]:
    """Those that name a toolkit where there is none, so that another one is taken."""
    toolkit = case.toolkit()
    wrong = toolkits.astray(case.host.variables) if toolkit else {}
    for name, what in wrong.items():
        yield finding.warning(
            "cuda-variable",
            f"{name} {what}.",
            why=f"So another toolkit is taken than was meant: {toolkit.root if toolkit else ''}.",
            mend=f"Correct it, or: unset {name}",
        )


def parts(case: Case) -> Iterator[Finding]:
    """The runtime's headers and library, and one version of all."""
    toolkit = case.toolkit()
    if toolkit is None:
        return
    missing = [] if header(toolkit, "cuda_runtime.h") else ["cuda_runtime.h"]
    folders = toolkits.library_folders(toolkit.root)
    if not any((folder / name).exists() for folder in folders for name in _RUNTIME):
        missing.append(_RUNTIME[0])
    if missing:
        yield finding.error(
            "cuda-incomplete",
            f"The CUDA toolkit in {toolkit.root} has no {' and no '.join(missing)}.",
            why="nvcc alone compiles nothing that llama.cpp has; CMake does not take it for a toolkit.",
            mend="Install the toolkit's runtime package: "
            f"cuda-cudart-dev-{toolkit.version[0]}-{toolkit.version[1]}",
        )
    found = version_of(toolkit.root)
    if found is not None and found != toolkit.version:
        yield finding.warning(
            "cuda-mixed",
            f"{toolkit.nvcc.path} is of CUDA {toolkit.release}, and the headers beside it of {_told(found)}.",
            why="Two installations lie over each other: what they make may not link, or not run.",
            mend="Install one of them again into a folder of its own, and name it: CUDACXX=FOLDER/bin/nvcc",
        )


def several(case: Case) -> Iterator[Finding]:
    """Toolkits besides the one that is taken, of another version."""
    taken = case.toolkit()
    if taken is None:
        return
    others = {root: version for root, version in _roots(case).items() if version != taken.version}
    if others:
        told = ", ".join(f"{_told(version)} in {root}" for root, version in others.items())
        first = next(iter(others))
        yield finding.warning(
            "cuda-several",
            f"There are several CUDA toolkits: {taken.release} in {taken.root} is taken; there are {told}.",
            why="Programs must find the libraries of the one that they were built with.",
            mend=f"To take another one: CUDACXX={first / 'bin/nvcc'}",
        )


def architectures(case: Case) -> Iterator[Finding]:
    """Those of the command line, the GPU or the recipe, against what nvcc compiles for."""
    toolkit = case.toolkit()
    if toolkit is None:
        return
    try:
        cudaarch.choose(
            case.asked.architectures, case.recipe.name, case.recipe.variable(cudaarch.VARIABLE), toolkit
        )
    except SkippyError as error:
        yield finding.of(error)


def driver_library(case: Case) -> Iterator[Finding]:
    """What the build links in place of the driver: a stub; where the toolkit has none, cuda.h makes one."""
    toolkit = case.toolkit()
    if toolkit is None or case.recipe.is_on(NO_DRIVER) or header(toolkit, "cuda.h"):
        return
    folders = toolkits.library_folders(toolkit.root)
    if not any((folder / "stubs/libcuda.so").is_file() for folder in folders):
        yield finding.error(
            "libcuda-missing",
            f"The CUDA toolkit in {toolkit.root} has no stub of libcuda, and no cuda.h to make one from.",
            why="libggml-cuda names the driver's library, unless it is told to allocate without it.",
            mend=f"Do without: {NO_DRIVER}: ON in {case.recipe.file}\n"
            "Or install the toolkit's stubs: "
            f"cuda-driver-dev-{toolkit.version[0]}-{toolkit.version[1]}",
        )


def driver(case: Case) -> Iterator[Finding]:
    """What the built library will meet here. The build itself needs neither GPU nor driver."""
    toolkit = case.toolkit()
    if toolkit is None:
        return
    if toolkit.driver is None or not toolkit.gpus:
        yield finding.info(
            "gpu-missing",
            "This machine shows no NVIDIA GPU (nvidia-smi), so what is built for CUDA is not run here.",
            why="The build needs none. The tests then run on the processor, with libggml-cuda loaded.",
            mend=f"Nothing, or run the tests where a GPU is: skippy-patches test --recipe {case.recipe.name}",
        )
        return
    oldest = _DRIVERS.get(toolkit.version[0], max(_DRIVERS.values()))
    if int(toolkit.driver.partition(".")[0]) < oldest:
        yield finding.warning(
            "cuda-driver-old",
            f"The NVIDIA driver {toolkit.driver} is too old for CUDA {toolkit.release}: "
            f"its programs want {oldest} or newer.",
            why="It builds, but nothing runs on this GPU: the CUDA backend finds no device.",
            mend="Update the driver, or build with an older toolkit: CUDACXX=FOLDER/bin/nvcc",
        )


def cublas(case: Case) -> Iterator[Finding]:
    """Of the toolkit's generation."""
    toolkit = case.toolkit()
    if toolkit is None:
        yield finding.error(
            "cublas-missing",
            "cuBLAS was not looked for: there is no CUDA toolkit that it would have to belong to.",
            why="libggml-cuda is linked with it.",
            mend="NVIDIA's installer of the toolkit brings it. Beside a toolkit without it: "
            + pip.install("skippy-patches[cuda]"),
        )
        return
    if toolkit.cublas is None:
        yield finding.of(CublasMissing(toolkit))
        return
    folder = toolkits.cublas_headers(toolkit)
    match = _CUBLAS.search(_text(folder / "cublas_api.h")) if folder else None
    if folder and match and int(match[1]) != toolkit.version[0]:
        yield finding.warning(
            "cuda-mixed",
            f"cuBLAS's headers in {folder} are of CUDA {match[1]}, and the toolkit is {toolkit.release}.",
            why="They do not belong to the library that is linked.",
            mend=CublasMissing(toolkit).mend,
        )


def header(toolkit: CudaToolkit, name: str) -> Path | None:
    """A header of the toolkit."""
    return _header(toolkit.root, name)


def version_of(root: Path) -> Version | None:
    """What the headers of a toolkit say; None for a folder that is none."""
    file = _header(root, "cuda.h")
    match = _DEFINED.search(_text(file)) if file else None
    return (int(match[1]) // 1000, int(match[1]) % 1000 // 10) if match else None


def _header(root: Path, name: str) -> Path | None:
    places = [root / "include", *sorted(root.glob("targets/*/include"))]
    places += [Path("/usr/include")] if root.is_relative_to("/usr/lib") else []  # Debian's own package
    return next((place / name for place in places if (place / name).is_file()), None)


def _roots(case: Case) -> dict[Path, Version]:
    """Every toolkit that is named or found, links resolved."""
    roots = list(toolkits.roots(case.host.variables))
    for folder in case.host.path.split(os.pathsep):
        program = Path(folder, "nvcc")
        if folder and program.is_file():
            roots += [program.resolve().parent.parent]
    roots += [case.host.place(folder) for folder in toolkits.FOLDERS]
    roots += sorted(case.host.place("/usr/local").glob("cuda-*"))
    found = {root.resolve(): version_of(root) for root in roots}
    return {root: version for root, version in found.items() if version is not None}


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_HEADER_BYTES)
    except OSError:
        return ""


def _told(version: Version) -> str:
    return ".".join(map(str, version))
