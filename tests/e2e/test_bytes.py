"""CUDA objects in two folders, by the real nvcc on a small project: some 30 seconds.

E2E_CUDA=none, as in test_cuda.py, where there is no toolkit.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import cmake, mount, tool, toolchain
from tests.build.conftest import make_bench, recipe

if TYPE_CHECKING:
    from skippy_patches.build.recipe import Recipe

__all__ = ["recipe"]  # a fixture

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.environ.get("E2E_CUDA") == "none", reason="E2E_CUDA=none: no CUDA toolkit here"),
]
KERNEL = """
static __global__ void kernel(int * out) { *out = __LINE__; }
extern "C" const char * run(int * out) { kernel<<<1, 1>>>(out); return __FILE__; }
"""
LIBRARY = "project(toy C CXX CUDA)\nadd_library(ggml-cuda SHARED kernel.cu)"


def _built(folder: Path, recipe: Recipe, method: str | None) -> tuple[str, str]:
    """The method, and the hash of libggml-cuda."""
    nvcc = shutil.which("nvcc")
    assert nvcc, "There is no nvcc. Install the CUDA toolkit, or say that it is so: E2E_CUDA=none"
    tools = dataclasses.replace(toolchain.find("none"), cuda=tool.examine("nvcc", Path(nvcc)))
    chosen = dataclasses.replace(recipe, cmake=(*recipe.cmake, ("CMAKE_CUDA_ARCHITECTURES", "75-virtual")))
    bench = make_bench(folder)
    script = bench.applied.checkout / "CMakeLists.txt"
    script.write_text(script.read_text("utf-8").replace("project(toy C CXX)", LIBRARY), encoding="utf-8")
    (bench.applied.checkout / "kernel.cu").write_text(KERNEL, encoding="utf-8")
    built = cmake.build(bench.applied, chosen, tools, bench.layout, method=method)
    return built.method, {each.name: each.sha256 for each in built.artifacts}["libggml-cuda.so"]


def test_the_mount_gives_the_same_cuda_objects_and_prefix_maps_do_not(tmp_path: Path, recipe: Recipe) -> None:
    folders = ("one", "another of other length")
    mounted = {_built(tmp_path / "mount" / name, recipe, None) for name in folders}
    plain = {_built(tmp_path / "plain" / name, recipe, mount.PREFIX_MAP) for name in folders}
    assert [method for method, _ in mounted] == [mount.MOUNT]
    assert len(plain) == 2
