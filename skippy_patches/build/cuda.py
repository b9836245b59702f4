"""Finds the CUDA toolkit, cuBLAS, the driver and the GPUs of this machine, as values. Nothing here raises.

nvcc is what CUDACXX names, else the one in CUDAToolkit_ROOT, CUDA_PATH or CUDA_HOME, on PATH, or where
NVIDIA's installers put it. What is found there may be a wrapper (a script on PATH, a compiler cache): the one
that is taken is the toolkit's own, which `nvcc -v` tells. cuBLAS may be the toolkit's, or NVIDIA's wheel of
PyPI (`pip install 'skippy-patches[cuda]'`).
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import artifacts
from skippy_patches.build.ask import ask
from skippy_patches.build.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

VARIABLE = "CUDACXX"  # of the compiler; the folders of toolkits are in these:
ROOT_VARIABLES = ("CUDAToolkit_ROOT", "CUDA_PATH", "CUDA_HOME")
FOLDERS = (Path("/usr/local/cuda"), Path("/opt/cuda"))  # NVIDIA's installers; Arch
_PASSED = ("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR")  # NVCC_PREPEND_FLAGS and kin would change the answers
_RELEASE = re.compile(r"release (\d+)\.(\d+), V([\d.]+)")
_TOP = re.compile(r"^#\$ TOP=(.+)$", re.MULTILINE)
_ARCHITECTURE = re.compile(r"^compute_(\d+)$", re.MULTILINE)
_GPU = re.compile(r"^(\d+)\.(\d+), *([\d.]+)$", re.MULTILINE)
_TIMEOUT = 8  # seconds for nvcc
_SLOW = 15  # for nvidia-smi, where no daemon keeps the driver loaded


@dataclasses.dataclass(frozen=True, kw_only=True)
class CudaToolkit:
    """A toolkit, and what belongs to it.

    architectures: compute capabilities that nvcc compiles for, times ten. cublas: the folder of the library.
    driver: its version. gpus: the compute capabilities of those in this machine, times ten.
    """

    root: Path
    nvcc: Tool
    version: tuple[int, int]
    architectures: tuple[int, ...]
    cublas: Path | None
    driver: str | None
    gpus: tuple[int, ...]

    @property
    def release(self) -> str:
        """Its version as people write it: 13.0."""
        return ".".join(map(str, self.version))


def find(
    variables: Mapping[str, str] | None = None,
    *,
    folders: Sequence[Path] = FOLDERS,
    packages: Sequence[Path] | None = None,
) -> CudaToolkit | None:
    """The toolkit, or None.

    variables: the environment. folders: toolkits that are tried after PATH. packages: folders `nvidia` of
    site-packages; None: those of this Python.
    """
    own = os.environ if variables is None else variables
    wheels = _packages() if packages is None else packages
    found = (_toolkit(program, own, wheels) for program in programs(own, folders))
    return next((toolkit for toolkit in found if toolkit is not None), None)


def library_folders(root: Path) -> tuple[Path, ...]:
    """The folders of a toolkit with libraries: of NVIDIA's installers, conda, NVIDIA's HPC SDK, Debian."""
    folders = [root / "lib64", *sorted(root.glob("targets/*/lib")), root / "lib"]
    folders += sorted(root.glob("../../math_libs/*/lib64"))
    if root.is_relative_to("/usr/lib"):
        folders += sorted(Path("/usr/lib").glob("*-linux-gnu"))
    return tuple(folder for folder in folders if folder.is_dir())


def cublas_headers(toolkit: CudaToolkit) -> Path | None:
    """The folder with the headers of `toolkit.cublas`."""
    if toolkit.cublas is None:
        return None
    return _headers(toolkit.cublas, toolkit.root)


def programs(variables: Mapping[str, str], folders: Sequence[Path]) -> Iterator[str]:
    """Where nvcc may be, the most wanted first. CUDACXX is the only one when it is set."""
    path = variables.get("PATH", os.defpath)
    named = variables.get(VARIABLE)
    before, after = ([str(folder / "bin") for folder in each] for each in (roots(variables), folders))
    places = [*before, path, *after]
    for place in [path] if named else places:
        if program := shutil.which(named or "nvcc", path=place):
            yield str(Path(program).absolute())


def roots(variables: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders of toolkits that variables name."""
    return tuple(Path(variables[name]) for name in ROOT_VARIABLES if variables.get(name))


def astray(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables that name a toolkit, or its compiler, where there is none: name -> what is the matter."""
    named = variables.get(VARIABLE)
    if named:
        found = shutil.which(named, path=variables.get("PATH", os.defpath))
        return {} if found else {VARIABLE: f"is {named}, which is no program"}
    wrong: dict[str, str] = {}
    for name in ROOT_VARIABLES:
        folder = variables.get(name)
        if folder and not Path(folder).is_dir():
            wrong[name] = f"is {folder}, which is no folder"
        elif folder and shutil.which("nvcc", path=f"{folder}/bin") is None:
            wrong[name] = f"is {folder}, which has no bin/nvcc"
    return wrong


def _toolkit(program: str, variables: Mapping[str, str], packages: Sequence[Path]) -> CudaToolkit | None:
    release = _RELEASE.search(_told([program, "--version"], variables))
    if release is None:
        return None
    top = _TOP.search(_told([program, "-v", "__toolkit"], variables))
    root = Path(top[1].strip()).resolve() if top else Path(program).resolve().parent.parent
    real = root / "bin" / "nvcc"
    nvcc = real if os.access(real, os.X_OK) else Path(program)
    version = (int(release[1]), int(release[2]))
    try:
        digest = artifacts.sha256(nvcc.resolve())
    except OSError:
        return None
    driver, gpus = _gpus(variables)
    return CudaToolkit(
        root=root,
        nvcc=Tool(name="nvcc", path=nvcc, version=release[3], sha256=digest),
        version=version,
        architectures=tuple(sorted(_numbers(_told([str(nvcc), "--list-gpu-arch"], variables)))),
        cublas=_cublas(root, version[0], packages),
        driver=driver,
        gpus=gpus,
    )


def _numbers(text: str) -> set[int]:
    return {int(number) for number in _ARCHITECTURE.findall(text)}


def _cublas(root: Path, major: int, packages: Sequence[Path]) -> Path | None:
    """The folder of libcublas.so of the toolkit's generation: its own, else that of a wheel.

    Without headers beside it, it is only what a program needs to run.
    """
    wheels = [folder / name / "lib" for folder in packages for name in (f"cu{major}", "cublas")]
    for folder in (*library_folders(root), *wheels):
        own = folder / f"libcublas.so.{major}"
        if own.is_file() and _headers(folder, root) is not None:
            return folder
    return None


def _headers(library: Path, root: Path) -> Path | None:
    beside = (library.parent / "include", library.parent.parent / "include", root / "include")
    places = (*beside, *root.glob("targets/*/include"))
    return next((place for place in places if (place / "cublas_v2.h").is_file()), None)


def _packages() -> tuple[Path, ...]:
    """The folders of the namespace that NVIDIA's wheels share."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return ()
    return tuple(Path(place) for place in (spec.submodule_search_locations or ())) if spec else ()


def _gpus(variables: Mapping[str, str]) -> tuple[str | None, tuple[int, ...]]:
    """The driver's version and the GPUs, as nvidia-smi tells them."""
    program = shutil.which("nvidia-smi", path=variables.get("PATH", os.defpath))
    if program is None:
        return None, ()
    query = [program, "--query-gpu=compute_cap,driver_version", "--format=csv,noheader"]
    rows = _GPU.findall(_told(query, variables, _SLOW))
    gpus = sorted({int(major) * 10 + int(minor) for major, minor, _ in rows})
    return (rows[0][2] if rows else None), tuple(gpus)


def _told(command: Sequence[str], variables: Mapping[str, str], timeout: float = _TIMEOUT) -> str:
    """What a program says on both streams; nothing when it cannot be run. nvcc -v ends with an error."""
    own = {name: variables[name] for name in _PASSED if name in variables}
    return ask(command, environment=own, timeout=timeout, is_merged=True).out
