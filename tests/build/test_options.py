from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import options, recipe
from skippy_patches.build.errors import ToolBroken
from tests.build import fakecuda

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.toolchain import Toolchain


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The CMake files of a llama.cpp, and files that are none."""
    folder = tmp_path / "source"
    fakecuda.touch(folder / "CMakeLists.txt", "option(LLAMA_BUILD_TOOLS x ON)\n")
    fakecuda.touch(folder / "ggml/src/CMakeLists.txt", "option(GGML_CUDA x OFF)\nif (CMAKE_OF_THEIRS)\n")
    fakecuda.touch(folder / "cmake/common.cmake", "set(GGML_CUDA_FA ON CACHE BOOL x)\n")
    fakecuda.touch(folder / "ggml/src/code.cpp", "// GGML_ONLY_IN_CODE\n")
    return folder


def load(folder: Path, variables: str) -> recipe.Recipe:
    (folder / "parent.yaml").write_text(f"description: x\ncmake:\n{variables}", encoding="utf-8")
    (folder / "mine.yaml").write_text("extends: parent\ndescription: x\n", encoding="utf-8")
    return recipe.load(folder, "mine")


def test_what_something_reads_passes(source: Path, tmp_path: Path, tools: Toolchain) -> None:
    text = """\
  GGML_CUDA: ON
  GGML_CUDA_FA: OFF
  LLAMA_BUILD_TOOLS: ON
  CMAKE_BUILD_TYPE: Release
  CMAKE_CXX_FLAGS_RELEASE: -O1
  CMAKE_CUDA_ARCHITECTURES: 75
  CMAKE_PROJECT_ggml_INCLUDE: x
  CMAKE_OF_THEIRS: ON
  BUILD_SHARED_LIBS: ON
  CUDA_cublas_LIBRARY: x
"""
    assert list(options.unknown(load(tmp_path, text), source, tools.cmake)) == []


@pytest.mark.parametrize(
    ("name", "whose", "mend"),
    [
        ("GGML_CUDDA", "this llama.cpp", "Did you mean 'GGML_CUDA'?"),
        ("LLAMA_BUILD_TOOL", "this llama.cpp", "Did you mean 'LLAMA_BUILD_TOOLS'?"),
        ("GGML_ONLY_IN_CODE", "this llama.cpp", "Delete the line."),
        ("CMAKE_CUDA_ARCHITECTURE", "CMake", "Did you mean 'CMAKE_CUDA_ARCHITECTURES'?"),
        ("CMAKE_BUILD_TYP", "CMake", "Did you mean 'CMAKE_BUILD_TYPE'?"),
    ],
)
def test_what_nothing_reads_names_the_nearest(
    source: Path, tmp_path: Path, tools: Toolchain, name: str, whose: str, mend: str
) -> None:
    wrong = load(tmp_path, f"  GGML_CUDA: ON\n  {name}: ON\n")

    (found,) = options.unknown(wrong, source, tools.cmake)

    assert found.what == f"{tmp_path / 'parent.yaml'}:4: '{name}' is no variable of {whose}"
    assert (found.mend, found.exit_status) == (mend, 2)


def test_what_cmake_says_that_nothing_has_read(tmp_path: Path) -> None:
    """The warning of CMake 3.24 to 4.4; what stands below it is not part of it."""
    text = "  GGML_CUDA: ON\n  BUILD_SHARED_LIB: ON\n  CMAKE_CUDA_FLAGS: -O1\n  Vulkan_INCLUDE_DIR: x\n"
    loaded = load(tmp_path, text)
    ours = dataclasses.replace(loaded, cmake=(*loaded.cmake, ("CUDA_cublas_LIBRARY", "x")))
    output = [
        "-- Generating done",
        "CMake Warning (unused-cli):",
        "  Manually-specified variables were not used by the project:",
        "",
        "    BUILD_SHARED_LIB",
        "    CMAKE_CUDA_FLAGS",
        "    CUDA_cublas_LIBRARY",
        "    LLAMA_BUILD_NUMBER",
        "",
        "",
        "-- Build files have been written to: /tree",
        "    Vulkan_INCLUDE_DIR",
    ]

    (found,) = options.unused(ours, output, ["BUILD_SHARED_LIBS", "BUILD_SHARED_LIB"])

    assert found.what.startswith(f"{tmp_path / 'parent.yaml'}:4: 'BUILD_SHARED_LIB' is no variable of this")
    assert found.mend == "Did you mean 'BUILD_SHARED_LIBS'?"
    assert list(options.unused(ours, output[:1], [])) == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("printf 'CMAKE_OF_\\377\\nCMAKE_BUILD_TYPE\\n'", ""),
        ("echo sick >&2; exit 1", "sick"),
        ("exec sleep 60", "It did not answer within 0.2 s"),
    ],
)
def test_a_cmake_with_a_strange_answer_or_none(
    source: Path, tmp_path: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch, answer: str, says: str
) -> None:
    monkeypatch.setattr(options, "_TIMEOUT", 0.2)
    (source / "gone.cmake").symlink_to("nowhere")
    strange = fakecuda.script(tmp_path / "bin/cmake", f"#!/bin/sh\n{answer}\n")
    asked = options.unknown(
        load(tmp_path, "  CMAKE_BUILD_TYPE: x\n"), source, dataclasses.replace(tools.cmake, path=strange)
    )
    if says:
        with pytest.raises(ToolBroken) as caught:
            list(asked)
        assert says in caught.value.why
    else:
        assert list(asked) == []


def test_a_recipe_that_is_no_file_any_more(source: Path, tmp_path: Path, tools: Toolchain) -> None:
    loaded = dataclasses.replace(load(tmp_path, "  GGML_CUDA: ON\n"), cmake=(("GGML_CUDDA", "ON"),))

    (found,) = options.unknown(loaded, source, tools.cmake)

    assert found.what == f"{tmp_path / 'mine.yaml'}: 'GGML_CUDDA' is no variable of this llama.cpp"
