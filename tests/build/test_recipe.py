from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from skippy_patches.build import recipe, recipefile
from skippy_patches.build.errors import UnknownRecipe
from skippy_patches.build.recipe import Exclusion, Platform, TestPlan
from skippy_patches.errors import ConfigError

RECIPES = Path(__file__).parents[2] / "recipes"
LINUX = Platform(system="linux", machine="x86_64")
MAC = Platform(system="macos", machine="arm64")

FULL = """\
description: Everything
cmake:
  GGML_NATIVE: OFF
  LLAMA_BUILD_NUMBER: 007
  EMPTY: ""
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
    assert [file.name for file in loaded.files] == ["mine.yaml"]
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
        (
            "description: x\nrequires: [cuda, cublass]\n",
            2,
            "names 'cublass', which is no",
            "Did you mean 'cublas'?",
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


PARENT = """\
description: The parent
cmake: {GGML_NATIVE: OFF, GGML_BLAS: OFF, CMAKE_BUILD_TYPE: Release}
cmake_on:
  x86_64: {GGML_AVX2: ON}
requires: [cuda, cublas]
targets: [llama]
artifacts: [libllama, libggml]
tests:
  include: ^test-
  exclude: [{name: test-a, reason: needs the network}, {name: test-b, reason: needs a model}]
  require: [test-skippy-*]
  needs: {test-c: test-d}
  timeout: 60
  environment: {OMP_NUM_THREADS: 2, LC_ALL: C}
"""


def family(folder: Path, child: str, *, parent: str = PARENT) -> Path:
    (folder / "parent.yaml").write_text(parent)
    return write(folder, "extends: parent\ndescription: The child\n" + child)


def test_a_recipe_that_says_nothing_is_its_parent(tmp_path: Path) -> None:
    child = recipe.load(family(tmp_path, ""), "mine", target=LINUX)
    parent = recipe.load(tmp_path, "parent", target=LINUX)

    own = {"name": "mine", "file": tmp_path / "mine.yaml", "description": "The child"}
    assert child == dataclasses.replace(parent, files=child.files, **own)  # type: ignore[arg-type]
    assert [file.name for file in child.files] == ["mine.yaml", "parent.yaml"]
    assert child.files[1:] == parent.files


def test_mappings_are_merged_and_lists_replaced(tmp_path: Path) -> None:
    text = """\
cmake: {GGML_RPC: ON, GGML_BLAS: ON}
targets: [llama, "test-*"]
tests:
  include: ^test-skippy-
  exclude: [{name: test-e, reason: takes an hour}, {name: test-b, reason: another reason}]
  require: [test-mine]
  needs: {test-e: test-f}
  timeout: 5
  environment: {OMP_NUM_THREADS: 1}
"""
    loaded = recipe.load(family(tmp_path, text), "mine", target=LINUX)

    assert loaded.cmake == (
        ("GGML_NATIVE", "OFF"),
        ("GGML_BLAS", "ON"),
        ("CMAKE_BUILD_TYPE", "Release"),
        ("GGML_AVX2", "ON"),
        ("GGML_RPC", "ON"),
    )
    assert (loaded.targets, loaded.requires) == (("llama", "test-*"), ("cuda", "cublas"))
    assert loaded.artifacts == ("libllama", "libggml")
    assert loaded.tests == TestPlan(
        include="^test-skippy-",
        exclude=(
            Exclusion(name="test-a", reason="needs the network"),
            Exclusion(name="test-b", reason="another reason"),
            Exclusion(name="test-e", reason="takes an hour"),
        ),
        require=("test-mine",),
        needs=(("test-c", "test-d"), ("test-e", "test-f")),
        timeout=5,
        environment=(("OMP_NUM_THREADS", "1"), ("LC_ALL", "C")),
    )


def test_null_takes_away(tmp_path: Path) -> None:
    text = """\
cmake: {GGML_BLAS: null}
cmake_on: {x86_64: {GGML_AVX2: null}, macos: {GGML_NATIVE: null}}
requires: null
targets: null
artifacts: null
tests: {include: null, exclude: null, require: null, needs: {test-c: null}, timeout: null, environment: null}
"""
    loaded = recipe.load(family(tmp_path, text), "mine", target=LINUX)

    assert loaded.cmake == (("GGML_NATIVE", "OFF"), ("CMAKE_BUILD_TYPE", "Release"))
    assert (loaded.targets, loaded.artifacts, loaded.requires) == ((), ("libllama",), ())
    assert loaded.tests == recipe.load(write(tmp_path, "description: x\n"), "mine").tests


def test_what_the_child_says_beats_the_parents_platform_part(tmp_path: Path) -> None:
    """Otherwise a child could not turn off what its parent turns on for one processor."""
    loaded = recipe.load(family(tmp_path, "cmake: {GGML_AVX2: OFF}\n"), "mine", target=LINUX)

    assert dict(loaded.cmake)["GGML_AVX2"] == "OFF"


def test_a_grandparent(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(PARENT)
    middle = "extends: base\ndescription: y\ncmake: {GGML_BLAS: null, A: one}\n"
    loaded = recipe.load(family(tmp_path, "cmake: {A: two}\n", parent=middle), "mine", target=MAC)

    assert dict(loaded.cmake) == {"GGML_NATIVE": "OFF", "CMAKE_BUILD_TYPE": "Release", "A": "two"}
    assert [file.name for file in loaded.files] == ["mine.yaml", "parent.yaml", "base.yaml"]


@pytest.mark.parametrize(
    ("child", "line", "says", "why"),
    [
        ("cmake: {GGML_CUDA: null}\n", 3, "'cmake.GGML_CUDA' is null", "parent says nothing of it."),
        ("cmake_on:\n  arm64:\n    A:\n", 5, "'cmake_on.arm64.A' is null", "parent says nothing of it."),
        (
            "tests:\n  needs: {test-x: null}\n",
            4,
            "'tests.needs.test-x' is null",
            "parent says nothing of it.",
        ),
        ("cmake: null\n", 3, "'cmake' is null", ""),
        ("cmake_on: null\n", 3, "'cmake_on' is null", ""),
        ("cmake_on:\n  linux: null\n", 4, "'cmake_on.linux' is null", ""),
        (
            "tests:\n  exclude: [{name: test-skippy-x, reason: slow as well}]\n",
            4,
            "leaves out test-skippy-x, which `require` asks for",
            "",
        ),
    ],
)
def test_mistakes_of_a_child(tmp_path: Path, child: str, line: int, says: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        recipe.load(family(tmp_path, child), "mine")

    assert caught.value.what.startswith(f"{tmp_path / 'mine.yaml'}:{line}: ")
    assert says in caught.value.what
    assert caught.value.why == why


def test_a_mistake_of_the_parent_is_shown_in_the_parents_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        recipe.load(family(tmp_path, "", parent="description: x\ntarget: [llama]\n"), "mine")

    assert caught.value.what.startswith(f"{tmp_path / 'parent.yaml'}:2: unknown key 'target'")


def test_null_without_a_parent_takes_nothing_away(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'cmake\.A' is null") as caught:
        recipe.load(write(tmp_path, "description: x\ncmake:\n  A:\n"), "mine")

    assert caught.value.line == 3
    assert 'write "" for an empty value' in caught.value.mend


def test_files_that_variables_name_belong_to_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "extra").mkdir()
    for name in ("extra/a.cmake", "extra/b.h", "alone.cmake", "other.cmake"):
        (tmp_path / name).write_text(name)
    text = 'cmake: {X: "{recipes}/extra/a.cmake", Y: "-include {recipes}/alone.cmake"}\n'

    loaded = recipe.load(family(tmp_path, text), "mine", target=LINUX)

    names = ["mine.yaml", "parent.yaml", "extra/a.cmake", "extra/b.h", "alone.cmake"]
    assert [file.name for file in loaded.files] == names
    assert recipefile.placed(dict(loaded.cmake)["X"], loaded.folder) == str(tmp_path / "extra/a.cmake")


def test_a_file_that_a_variable_names_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'cmake' has X name .*/gone\.cmake, which is no file"):
        recipe.load(family(tmp_path, 'cmake: {X: "{recipes}/gone.cmake"}\n'), "mine")


def test_a_parent_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "parent.yaml").write_text(PARENT)
    with pytest.raises(ConfigError, match="'extends' names 'parnet', which is no recipe") as caught:
        recipe.load(write(tmp_path, "extends: parnet\ndescription: x\n"), "mine")

    assert caught.value.line == 1
    assert caught.value.mend == "Did you mean 'parent'?"


@pytest.mark.parametrize("size", [1, 3])
def test_a_circle_is_shown(tmp_path: Path, size: int) -> None:
    names = ["mine", "b", "c"][:size]
    for name, parent in zip(names, [*names[1:], names[0]], strict=True):
        (tmp_path / f"{name}.yaml").write_text(f"extends: {parent}\ndescription: x\n")

    with pytest.raises(ConfigError) as caught:
        recipe.load(tmp_path, "mine")

    assert f"'extends' goes in a circle: {' -> '.join([*names, names[0]])}" in caught.value.what


@pytest.mark.parametrize("target", [LINUX, MAC, Platform(system="linux", machine="arm64")])
def test_the_shipped_recipes_are_valid(target: Platform) -> None:
    names = recipe.names(RECIPES)

    assert {"cpu", "cuda", "cuda-smoke", "metal", "vulkan", "hip", "rpc", "asan", "ubsan"} <= set(names)
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


@pytest.mark.parametrize(
    ("name", "flag", "rpc"),
    [("asan", "-fsanitize=address", "ON"), ("ubsan", "-fsanitize=undefined", "OFF")],
)
def test_the_sanitizer_recipes_run_the_queue_s_tests(name: str, flag: str, rpc: str) -> None:
    """The server has undefined behaviour of its own: docs/recipes.md."""
    loaded = recipe.load(RECIPES, name, target=LINUX)

    for language in ("C", "CXX"):
        assert flag in dict(loaded.cmake)[f"CMAKE_{language}_FLAGS"]
        assert "NDEBUG" not in dict(loaded.cmake)[f"CMAKE_{language}_FLAGS_RELEASE"]
    assert dict(loaded.cmake)["GGML_RPC"] == rpc
    assert ("ggml-rpc-server" in loaded.targets) == (rpc == "ON")
    assert loaded.tests.include == "^test-skippy-"
    assert loaded.tests.is_required("test-skippy-kv-page-abi")


@pytest.mark.parametrize("name", ["cuda", "cuda-smoke"])
def test_the_cuda_recipes_say_what_the_library_can_do(name: str) -> None:
    loaded = recipe.load(RECIPES, name, target=LINUX)
    said = dict(loaded.cmake)

    assert loaded.requires == ("cuda", "cublas")
    assert said["CMAKE_CUDA_ARCHITECTURES"]
    assert (said["GGML_CUDA_FA"], said["GGML_CUDA_FA_ALL_QUANTS"]) == (
        "ON" if name == "cuda" else "OFF",
        "OFF",
    )
    assert said["GGML_CUDA_NCCL"] == "OFF"
    assert "libggml-cuda" in loaded.artifacts


@pytest.mark.parametrize(("name", "requires"), [("vulkan", "vulkan"), ("metal", "metal"), ("hip", "hipblas")])
def test_a_backend_s_recipe_says_what_it_requires(name: str, requires: str) -> None:
    loaded = recipe.load(RECIPES, name)

    assert requires in loaded.requires
    assert f"libggml-{name}" in loaded.artifacts
    assert dict(loaded.cmake)[f"GGML_{name.upper()}"] == "ON"
