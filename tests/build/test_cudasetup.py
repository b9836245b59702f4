from __future__ import annotations

import ctypes
import dataclasses
import sys
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import arguments, cuda, cudasetup
from skippy_patches.build.cudaerrors import CublasMissing, NotForCuda, NvccMissing, StubFailed
from skippy_patches.build.layout import Layout
from tests.build import fakecuda

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skippy_patches.build.cuda import CudaToolkit
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain
    from tests.build.conftest import Listener


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> fakecuda.FakeCuda:
    """A toolkit that is the only one, on a machine without a driver."""
    made = fakecuda.make(tmp_path / "tools")
    real = cuda.find

    def find(variables: Mapping[str, str] | None = None) -> CudaToolkit | None:
        return real(variables, folders=(), packages=[made.wheels])

    monkeypatch.setattr(cuda, "find", find)
    monkeypatch.setattr(cudasetup, "_DRIVER_FOLDERS", ())
    return made


@pytest.fixture
def wanted(recipe: Recipe) -> Recipe:
    """A recipe for CUDA."""
    variables = (*recipe.cmake, ("CMAKE_CUDA_ARCHITECTURES", "75-virtual"))
    return dataclasses.replace(recipe, cmake=variables, requires=("cuda", "cublas"))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Where the recipe is built."""
    return Layout.of(tmp_path / ".skippy", "toy")


def test_a_recipe_without_cuda_is_left_alone(recipe: Recipe, tools: Toolchain, layout: Layout) -> None:
    assert cudasetup.equip(recipe, tools, layout) == (recipe, tools)
    assert not layout.folder.exists()
    with pytest.raises(NotForCuda, match="'toy' does not build for CUDA"):
        cudasetup.equip(recipe, tools, layout, architectures="90")


def test_a_wheel_s_cublas_gets_the_names_that_linkers_want(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout, listener: Listener
) -> None:
    wheel = fake.add_wheel()
    before = sorted(wheel.iterdir())

    equipped, with_nvcc = cudasetup.equip(
        wanted, tools, layout, architectures="90", variables=fake.variables, reporter=listener
    )

    own = layout.folder / "cuda"
    given = dict(equipped.cmake)
    assert given["CMAKE_CUDA_ARCHITECTURES"] == "90"
    assert given["GGML_AVX2"] == "ON"
    assert given["CUDA_cublas_LIBRARY"] == str(own / "lib/libcublas.so")
    assert (own / "lib/libcublas.so").readlink() == wheel / "libcublas.so.13"
    assert (own / "lib/libcublasLt.so.13").readlink() == wheel / "libcublasLt.so.13"
    # Only its own headers: beside them lie those of another toolkit.
    assert given["CMAKE_CUDA_STANDARD_INCLUDE_DIRECTORIES"] == str(own / "include")
    assert sorted(file.name for file in (own / "include").iterdir()) == ["cublas_api.h", "cublas_v2.h"]
    assert sorted(wheel.iterdir()) == before
    assert with_nvcc.cuda is not None
    assert with_nvcc.cuda.path == fake.root / "bin/nvcc"
    assert listener.steps == ["CUDA 13.0 for 90 (named by --cuda-arch)"]


def test_the_toolkit_s_own_cublas_needs_no_help(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()

    equipped, _ = cudasetup.equip(wanted, tools, layout, variables=fake.variables)

    assert not [name for name, _ in equipped.cmake if "cublas" in name or "INCLUDE" in name]
    assert not (layout.folder / "cuda/lib").exists()


def test_without_a_driver_a_stub_stands_in_for_it(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()

    equipped, _ = cudasetup.equip(wanted, tools, layout, variables=fake.variables)

    stubs = layout.folder / "cuda/stubs"
    assert dict(equipped.cmake)["CUDA_cuda_driver_LIBRARY"] == str(stubs / "libcuda.so")
    path = dict(equipped.tests.environment)["LD_LIBRARY_PATH"].split(":")
    assert path == [str(fake.root / "lib64"), str(stubs)]
    library = ctypes.CDLL(str(stubs / "libcuda.so.1"))
    assert [library.cuInit(0), library.cuMemFree_v2(0)] == [34, 34]  # CUDA_ERROR_STUB_LIBRARY
    assert b"libcuda.so.1\0" in (stubs / "libcuda.so").read_bytes()  # the name that goes into the library

    made = (stubs / "libcuda.so").stat().st_mtime_ns
    assert cudasetup.equip(wanted, tools, layout, variables=fake.variables)[0] == equipped
    assert (stubs / "libcuda.so").stat().st_mtime_ns == made


def test_the_toolkit_s_stub_is_taken_where_it_has_one(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()
    theirs = fake.root / "lib64/stubs/libcuda.so"
    fakecuda.touch(theirs)

    cudasetup.equip(wanted, tools, layout, variables=fake.variables)

    for name in ("libcuda.so", "libcuda.so.1"):
        assert (layout.folder / "cuda/stubs" / name).readlink() == theirs


def test_a_driver_is_not_hidden_from_the_tests(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()
    fake.add_gpu("9.0, 580.65.06")

    equipped, _ = cudasetup.equip(wanted, tools, layout, variables=fake.variables)

    assert dict(equipped.cmake)["CMAKE_CUDA_ARCHITECTURES"] == "90"
    assert "stubs" not in dict(equipped.tests.environment)["LD_LIBRARY_PATH"]


def test_without_vmm_no_driver_is_wanted(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()
    without = dataclasses.replace(wanted, cmake=(*wanted.cmake, ("GGML_CUDA_NO_VMM", "on")))

    equipped, _ = cudasetup.equip(without, tools, layout, variables=fake.variables)

    assert "CUDA_cuda_driver_LIBRARY" not in dict(equipped.cmake)
    assert not (layout.folder / "cuda").exists()


def test_what_the_recipe_says_stays(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout
) -> None:
    fake.add_cublas()
    tests = dataclasses.replace(wanted.tests, environment=(("LD_LIBRARY_PATH", "/mine"),))
    said = (*wanted.cmake, ("CUDA_cuda_driver_LIBRARY", "/lib/mine.so"))

    equipped, _ = cudasetup.equip(
        dataclasses.replace(wanted, cmake=said, tests=tests), tools, layout, variables=fake.variables
    )

    assert dict(equipped.cmake)["CUDA_cuda_driver_LIBRARY"] == "/lib/mine.so"
    assert equipped.tests.environment == (("LD_LIBRARY_PATH", "/mine"),)


def test_what_is_missing_names_its_cure(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout, tmp_path: Path
) -> None:
    with pytest.raises(NvccMissing, match="nvcc was not found") as nvcc:
        cudasetup.equip(wanted, tools, layout, variables={"PATH": str(tmp_path)})
    assert "CUDACXX" in nvcc.value.mend

    with pytest.raises(CublasMissing, match=r"cuBLAS for CUDA 13\.0 was not found") as cublas:
        cudasetup.equip(wanted, tools, layout, variables=fake.variables)
    assert f"{sys.executable} -m pip install 'nvidia-cublas==13.0.*'" in cublas.value.mend
    assert cublas.value.exit_status == nvcc.value.exit_status == 6


def test_a_stub_that_cannot_be_made(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout, tmp_path: Path
) -> None:
    fake.add_cublas()
    broken = fakecuda.script(tmp_path / "cc", "#!/bin/sh\nprintf 'no linker \\377\\n' >&2\nexit 1\n")
    without = dataclasses.replace(tools, c=dataclasses.replace(tools.c, path=broken))

    with pytest.raises(StubFailed, match="No stand-in for the driver's library") as caught:
        cudasetup.equip(wanted, without, layout, variables=fake.variables)
    assert caught.value.why == "no linker \N{REPLACEMENT CHARACTER}"
    assert not list((layout.folder / "cuda/stubs").glob("*"))


def test_cmake_is_given_nvcc_its_host_compiler_and_the_launcher(
    fake: fakecuda.FakeCuda, wanted: Recipe, tools: Toolchain, layout: Layout, tmp_path: Path
) -> None:
    fake.add_cublas()
    cached = dataclasses.replace(tools, launcher=dataclasses.replace(tools.c, name="ccache"))
    equipped, with_nvcc = cudasetup.equip(wanted, cached, layout, variables=fake.variables)

    given = arguments.variables(equipped, with_nvcc, tmp_path / "src", layout.tree)

    assert given["CMAKE_CUDA_COMPILER"] == str(fake.root / "bin/nvcc")
    assert given["CMAKE_CUDA_HOST_COMPILER"] == given["CMAKE_CXX_COMPILER"] == str(tools.cxx.path)
    assert given["CMAKE_CUDA_COMPILER_LAUNCHER"] == given["CMAKE_C_COMPILER_LAUNCHER"] == str(tools.c.path)
    assert ("cuda", with_nvcc.cuda) in list(with_nvcc.tools())
    assert "CMAKE_CUDA_COMPILER" not in arguments.variables(wanted, tools, tmp_path / "src", layout.tree)
