from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches.build import explain, recipe
from skippy_patches.build.explain import Stated
from skippy_patches.build.recipe import Platform

RECIPES = Path(__file__).parents[2] / "recipes"
LINUX = Platform(system="linux", machine="x86_64")
MAC = Platform(system="macos", machine="arm64")
PARENT = """\
description: The parent
cmake:
  GGML_NATIVE: OFF                   # else the bytes are this machine's
  GGML_BLAS: "a # b"
  # Said above,
  # in two lines.
  GGML_LTO: ON
cmake_on:
  linux:
    GGML_NATIVE: ON                  # for Linux
  x86_64: {GGML_AVX2: ON}
targets: [llama]
tests:
  exclude:
    - name: test-a
      reason: needs the network
  needs: {test-b: test-c}
  environment:
    A: "1"
"""
CHILD = """\
extends: parent
description: The child
requires: [cuda]   # nvcc
cmake: {GGML_LTO: OFF}
tests:
  timeout: 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parent.yaml").write_text(PARENT, encoding="utf-8")
    (tmp_path / "child.yaml").write_text(CHILD, encoding="utf-8")
    return tmp_path


def test_every_value_names_file_line_place_and_reason(folder: Path) -> None:
    shown = explain.explain(folder, "child", target=LINUX)

    assert shown.parents == ("parent",)
    assert shown.values == (
        Stated(
            key="cmake.GGML_NATIVE",
            value="ON",
            file="parent.yaml",
            line=10,
            place="linux",
            reason="for Linux",
        ),
        Stated(key="cmake.GGML_BLAS", value="a # b", file="parent.yaml", line=4),
        Stated(key="cmake.GGML_LTO", value="OFF", file="child.yaml", line=4),
        Stated(key="cmake.GGML_AVX2", value="ON", file="parent.yaml", line=11, place="x86_64"),
        Stated(key="requires", value=("cuda",), file="child.yaml", line=3, reason="nvcc"),
        Stated(key="targets", value=("llama",), file="parent.yaml", line=12),
        Stated(key="artifacts", value=("libllama",)),
        Stated(key="tests.exclude.test-a", value="needs the network", file="parent.yaml", line=15),
        Stated(key="tests.needs.test-b", value="test-c", file="parent.yaml", line=17),
        Stated(key="tests.timeout", value=5, file="child.yaml", line=6),
        Stated(key="tests.environment.A", value="1", file="parent.yaml", line=19),
    )


def test_another_platform_says_another_place(folder: Path) -> None:
    shown = {stated.key: stated for stated in explain.explain(folder, "child", target=MAC).values}

    native = shown["cmake.GGML_NATIVE"]
    assert (native.value, native.line, native.place) == ("OFF", 3, "")
    assert native.reason == "else the bytes are this machine's"
    assert "cmake.GGML_AVX2" not in shown


def test_a_reason_may_stand_above(folder: Path) -> None:
    shown = {stated.key: stated for stated in explain.explain(folder, "parent", target=MAC).values}

    assert shown["cmake.GGML_LTO"].reason == "Said above, in two lines."


def test_differences_are_of_values_not_of_places(folder: Path) -> None:
    before, after = (explain.explain(folder, name, target=LINUX) for name in ("parent", "child"))

    found = {each.key: (each.before, each.after) for each in explain.differences(before, after)}

    assert list(found) == ["cmake.GGML_LTO", "tests.timeout", "requires"]
    assert found["requires"][0] is None
    old, new = found["cmake.GGML_LTO"]
    assert old is not None
    assert new is not None
    assert (old.value, new.value) == ("ON", "OFF")
    assert explain.differences(after, after) == ()


@pytest.mark.parametrize("name", recipe.names(RECIPES))
@pytest.mark.parametrize("target", [LINUX, MAC])
def test_every_value_of_the_shipped_recipes_has_a_place(name: str, target: Platform) -> None:
    shown = explain.explain(RECIPES, name, target=target)

    assert [stated.key for stated in shown.values if not stated.file] == []
    files = {each.file for each in shown.values}
    texts = {file: (RECIPES / file).read_text("utf-8").splitlines() for file in files}
    for stated in shown.values:
        assert stated.key.rpartition(".")[2] in texts[stated.file][stated.line - 1]


@pytest.mark.parametrize("name", ["cuda", "cuda-smoke", "metal", "hip"])
def test_every_flag_of_a_backend_has_its_reason(name: str) -> None:
    """The flag that turns it on, and those that go together, need none of their own."""
    shown = explain.explain(RECIPES, name, target=LINUX)
    own = [each for each in shown.values if each.file == f"{name}.yaml"]
    without = {stated.key for stated in own if stated.key.startswith("cmake.") and not stated.reason}

    assert without <= {
        "cmake.GGML_CUDA",
        "cmake.GGML_METAL",
        "cmake.GGML_HIP",
        "cmake.CMAKE_BUILD_WITH_INSTALL_RPATH",
        "cmake.CMAKE_EXE_LINKER_FLAGS",
    }
