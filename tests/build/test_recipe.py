from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches.build import recipe
from skippy_patches.build.errors import UnknownRecipe
from skippy_patches.build.recipe import Platform
from skippy_patches.errors import ConfigError

RECIPES = Path(__file__).parents[2] / "recipes"
LINUX = Platform(system="linux", machine="x86_64")
MAC = Platform(system="macos", machine="arm64")

FULL = """\
description: Everything
cmake:
  GGML_NATIVE: OFF
  LLAMA_BUILD_NUMBER: 007
  EMPTY:
cmake_on:
  linux: {GGML_RPC: ON}
  x86_64: {GGML_AVX2: ON}
  macos: {GGML_NATIVE: on}
targets: [llama, test-x]
artifacts: [libllama]
tests:
  include: ^test-
  exclude:
    - {name: test-a, reason: needs the network}
  require: [test-skippy-*]
  needs: {test-b: test-c}
  timeout: 60
  environment: {OMP_NUM_THREADS: 2}
"""


def write(folder: Path, text: str) -> Path:
    (folder / "mine.yaml").write_text(text)
    return folder


def test_everything_a_recipe_can_say(tmp_path: Path) -> None:
    loaded = recipe.load(write(tmp_path, FULL), "mine", target=LINUX)

    assert loaded.name == "mine"
    assert loaded.cmake == (
        ("GGML_NATIVE", "OFF"),
        ("LLAMA_BUILD_NUMBER", "007"),
        ("EMPTY", ""),
        ("GGML_RPC", "ON"),
        ("GGML_AVX2", "ON"),
    )
    assert loaded.targets == ("llama", "test-x")
    assert [(entry.name, entry.reason) for entry in loaded.tests.exclude] == [("test-a", "needs the network")]
    assert loaded.tests.is_required("test-skippy-kv-page-abi")
    assert not loaded.tests.is_required("test-sampling")
    assert loaded.tests.needs == (("test-b", "test-c"),)
    assert (loaded.tests.timeout, loaded.tests.environment) == (60, (("OMP_NUM_THREADS", "2"),))


def test_a_platform_part_beats_the_common_one(tmp_path: Path) -> None:
    loaded = recipe.load(write(tmp_path, FULL), "mine", target=MAC)

    assert dict(loaded.cmake) == {"GGML_NATIVE": "on", "LLAMA_BUILD_NUMBER": "007", "EMPTY": ""}


def test_defaults(tmp_path: Path) -> None:
    loaded = recipe.load(write(tmp_path, "description: short\n"), "mine")

    assert loaded.artifacts == ("libllama",)
    assert loaded.tests.timeout == 900


@pytest.mark.parametrize(
    ("text", "line", "says", "mend"),
    [
        ("description: x\ntarget: [llama]\n", 2, "unknown key 'target'", "Did you mean 'targets'?"),
        ("description: x\ncmake_on:\n  amd64: {A: ON}\n", 3, "unknown key 'cmake_on.amd64'", "Did you mean"),
        ("description: x\ncmake:\n  -DGGML_RPC: ON\n", 3, "not the name of a CMake variable", "without -D"),
        ("description: x\ncmake:\n  A: [ON]\n", 3, "must be a single value", ""),
        ("cmake: {A: ON}\n", 1, "'description' is missing", ""),
        ("description: x\ntests:\n  exclude:\n    - {name: t}\n", 4, "'tests.exclude.reason' is missing", ""),
        (
            "description: x\ntests:\n  exclude:\n    - {name: t, reason: ' '}\n",
            4,
            "say why t is left out",
            "",
        ),
        ("description: x\ntests:\n  timeout: 0\n", 3, "above 0", ""),
        ("description: x\ntests:\n  timeout: 1h\n", 3, "must be a whole number, not '1h'", ""),
        ("description: x\ntests:\n  include: 'a('\n", 3, "is not a regular expression", ""),
        (
            "description: x\ntests:\n  exclude: [{name: t, reason: r}, {name: t, reason: r}]\n",
            3,
            "names t twice",
            "",
        ),
        (
            "description: x\ntests:\n  require: [test-*]\n  exclude: [{name: test-a, reason: r}]\n",
            4,
            "leaves out test-a, which `require` asks for",
            "",
        ),
    ],
)
def test_mistakes_are_shown_with_file_and_line(
    tmp_path: Path, text: str, line: int, says: str, mend: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        recipe.load(write(tmp_path, text), "mine")

    assert caught.value.what.startswith(f"{tmp_path / 'mine.yaml'}:{line}: ")
    assert says in caught.value.what
    assert mend in caught.value.mend


def test_an_unknown_recipe_names_the_nearest(tmp_path: Path) -> None:
    for name in ("cpu", "cuda"):
        (tmp_path / f"{name}.yaml").write_text("description: x\n")

    with pytest.raises(UnknownRecipe, match="no recipe 'cuad'") as caught:
        recipe.load(tmp_path, "cuad")

    assert caught.value.mend == "Did you mean 'cuda'?"
    assert caught.value.exit_status == 2


def test_a_name_that_is_a_path_is_no_recipe(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    write(tmp_path, "description: x\n")

    with pytest.raises(UnknownRecipe):
        recipe.load(tmp_path / "inner", "../mine")


@pytest.mark.parametrize("target", [LINUX, MAC, Platform(system="linux", machine="arm64")])
def test_the_shipped_recipes_are_valid(target: Platform) -> None:
    names = recipe.names(RECIPES)

    assert "cpu" in names
    for name in names:
        loaded = recipe.load(RECIPES, name, target=target)
        assert all(len(entry.reason.split()) > 2 for entry in loaded.tests.exclude)


def test_the_cpu_recipe_names_the_instruction_set_on_x86_only() -> None:
    intel = dict(recipe.load(RECIPES, "cpu", target=LINUX).cmake)
    arm = dict(recipe.load(RECIPES, "cpu", target=MAC).cmake)

    wanted = {"GGML_SSE42", "GGML_AVX", "GGML_AVX2", "GGML_FMA", "GGML_F16C", "GGML_BMI2"}
    assert {name for name in intel if intel[name] == "ON"} >= wanted
    assert not wanted & arm.keys()
    assert intel["GGML_NATIVE"] == arm["GGML_NATIVE"] == "OFF"
