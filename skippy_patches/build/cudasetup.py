"""Puts a recipe for CUDA on this machine: architectures, nvcc, cuBLAS, a stand-in for the driver's library.

A machine that builds needs no GPU and no driver. What a build wants of them lies in `cuda/` beside cmake's
folder, so that nothing is ever written into a toolkit or into site-packages:

    lib/      libcublas.so and its kin, links to the wheel's: wheels bring no names to link with
    include/  its headers, one link each: the folder they come from may hold another toolkit's as well
    stubs/    libcuda.so, a link to the toolkit's stub, else made here; libcuda.so.1, for tests to start
"""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import cuda, cudaarch
from skippy_patches.build.ask import ask
from skippy_patches.build.cudaerrors import CublasMissing, NotForCuda, NvccMissing, StubFailed
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skippy_patches.build.cuda import CudaToolkit
    from skippy_patches.build.layout import Layout
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.progress import Reporter

NEEDS_TOOLKIT, NEEDS_CUBLAS = "cuda", "cublas"
NO_DRIVER = "GGML_CUDA_NO_VMM"  # with it, the library does not name the driver's
LOADER_PATH = "LD_LIBRARY_PATH"
_DRIVER = "libcuda.so.1"
_DRIVER_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib", "/usr/lib")
_FUNCTION = re.compile(r"\bcu[A-Z]\w*")
_STUB_LIBRARY = 34  # CUDA_ERROR_STUB_LIBRARY of cuda.h
_TIMEOUT = 60  # seconds for the host's compiler, on one file of a few hundred short functions


def equip(
    recipe: Recipe,
    tools: Toolchain,
    layout: Layout,
    *,
    architectures: str = "",
    variables: Mapping[str, str] | None = None,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> tuple[Recipe, Toolchain]:
    """The recipe with what this machine adds to it, and the toolchain with nvcc; both unchanged without CUDA.

    architectures: what --cuda-arch says, or "". Raises NotForCuda, NotAnArchitecture, BadArchitecture,
    NoArchitecture (2), NvccMissing, CublasMissing and StubFailed (6).
    """
    check_asked(recipe, architectures)
    if NEEDS_TOOLKIT not in recipe.requires:
        return recipe, tools
    toolkit = cuda.find(variables)
    if toolkit is None:
        raise NvccMissing(cuda.astray(os.environ if variables is None else variables))
    if toolkit.cublas is None and NEEDS_CUBLAS in recipe.requires:
        raise CublasMissing(toolkit)
    chosen = cudaarch.choose(architectures, recipe.name, recipe.variable(cudaarch.VARIABLE), toolkit)
    reporter.step(f"CUDA {toolkit.release} for {', '.join(chosen.entries)} (named by {chosen.source})")
    place = _Place(layout.folder.resolve() / "cuda", toolkit, tools)
    added = place.link_cublas()
    wants_driver = not recipe.is_on(NO_DRIVER)
    if wants_driver:
        added |= place.link_driver()
    merged = {**added, **dict(recipe.cmake), cudaarch.VARIABLE: chosen.value}
    equipped = dataclasses.replace(
        recipe,
        cmake=tuple(merged.items()),
        tests=dataclasses.replace(
            recipe.tests, environment=_environment(recipe, place.loader_path(wants_driver=wants_driver))
        ),
    )
    return equipped, dataclasses.replace(tools, cuda=toolkit.nvcc)


def check_asked(recipe: Recipe, architectures: str) -> None:
    """Raise what is wrong with --cuda-arch whatever the machine has: NotForCuda, NotAnArchitecture (2)."""
    if architectures and NEEDS_TOOLKIT not in recipe.requires:
        raise NotForCuda(recipe.name)
    cudaarch.check_form(architectures)


def _environment(recipe: Recipe, loader_path: str) -> tuple[tuple[str, str], ...]:
    """With where the toolkit is: no library has a run path to it, so that it is in no bytes."""
    return tuple(({LOADER_PATH: loader_path} | dict(recipe.tests.environment)).items())


class _Place:
    """The folder `cuda/` of one build."""

    def __init__(self, folder: Path, toolkit: CudaToolkit, tools: Toolchain) -> None:
        self.folder = folder
        self.toolkit = toolkit
        self.tools = tools
        self.libraries = folder / "lib"
        self.headers = folder / "include"
        self.stubs = folder / "stubs"
        library = toolkit.cublas
        self.wheel = None if library is None or (library / "libcublas.so").exists() else library

    def link_cublas(self) -> dict[str, str]:
        """The variables with which CMake finds cuBLAS; none when it finds the toolkit's own by itself."""
        library, headers = self.wheel, cuda.cublas_headers(self.toolkit)
        if library is None or headers is None:
            return {}
        major = self.toolkit.version[0]
        for name in ("libcublas.so", "libcublasLt.so"):
            file = library / f"{name}.{major}"
            _link(self.libraries / name, file)
            _link(self.libraries / file.name, file)
        for header in sorted(headers.glob("cublas*.h")):
            _link(self.headers / header.name, header)
        return {
            "CUDA_cublas_LIBRARY": str(self.libraries / "libcublas.so"),
            "CUDA_cublasLt_LIBRARY": str(self.libraries / "libcublasLt.so"),
            "CMAKE_CUDA_STANDARD_INCLUDE_DIRECTORIES": str(self.headers),
        }

    def link_driver(self) -> dict[str, str]:
        """The variable that names the library to link against instead of the driver's."""
        found = (folder / "stubs" / "libcuda.so" for folder in cuda.library_folders(self.toolkit.root))
        stub = next((file for file in found if file.is_file()), None) or self._make_stub()
        for name in ("libcuda.so", _DRIVER):
            if stub != self.stubs / name:
                _link(self.stubs / name, stub)
        return {"CUDA_cuda_driver_LIBRARY": str(self.stubs / "libcuda.so")}

    def loader_path(self, *, wants_driver: bool) -> str:
        """Where the tests' loader finds the runtime, cuBLAS and, without a driver, the stand-in for it."""
        own = self.libraries if self.wheel else self.toolkit.cublas
        folders = [*([own] if own else []), *cuda.library_folders(self.toolkit.root)]
        if wants_driver and not self.toolkit.driver and not _has_driver():
            folders.append(self.stubs)
        return os.pathsep.join(dict.fromkeys(map(str, folders)))

    def _make_stub(self) -> Path:
        """A library with every function of cuda.h, each of which says that it is a stub."""
        library = self.stubs / "libcuda.so"
        if library.is_file():
            return library
        text = "".join(f"int {name}(void) {{ return {_STUB_LIBRARY}; }}\n" for name in self._functions())
        self.stubs.mkdir(parents=True, exist_ok=True)
        new = library.with_suffix(f".{os.getpid()}")
        line = [
            str(self.tools.c.path),
            "-shared",
            "-fPIC",
            f"-Wl,-soname,{_DRIVER}",
            "-x",
            "c",
            "-",
            "-o",
            str(new),
        ]
        answer = ask(line, given=text, timeout=_TIMEOUT)
        if answer.status != 0:
            new.unlink(missing_ok=True)
            raise StubFailed(library, answer.problem or answer.err)
        new.replace(library)
        return library

    def _functions(self) -> Iterable[str]:
        """Names in cuda.h that look like the driver's functions, their versions (_v2, _ptsz) among them."""
        places = (self.toolkit.root, *self.toolkit.root.glob("targets/*"), Path("/usr"))
        header = next((file for place in places if (file := place / "include" / "cuda.h").is_file()), None)
        text = header.read_text("utf-8", "replace") if header else ""
        return sorted(set(_FUNCTION.findall(text)))


def _has_driver() -> bool:
    root = Path("/")
    return any(next(root.glob(f"{each.lstrip('/')}/{_DRIVER}"), None) for each in _DRIVER_FOLDERS)


def _link(link: Path, target: Path) -> None:
    """Make `link` point at `target`; it is replaced only when it points elsewhere."""
    if link.is_symlink() and link.readlink() == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    new = link.with_name(f"{link.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.replace(link)
