"""`recipe list|show|diff`, and what the command line says of recipes that are misspelt."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import skippy_patches
from skippy_patches.build import explain
from skippy_patches.cli import recipe as command
from skippy_patches.cli.console import Terminal
from tests.build import fakecuda

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.world import World

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.fixture
def project(world: World) -> World:
    """A project with the recipes that are shipped."""
    shutil.copytree(RECIPES, world.root / "recipes")
    return world


def test_list(project: World) -> None:
    shown = project.run("recipe", "list")

    assert shown.returncode == 0, shown.stderr
    rows = {line.split()[0]: line for line in shown.stdout.splitlines()[1:]}
    assert set(rows) == {file.stem for file in RECIPES.glob("*.yaml")}
    assert "cuda > cpu" in rows["cuda-smoke"]
    assert "cuda, cublas" in rows["cuda-smoke"]
    told = json.loads(project.run("recipe", "list", "--format", "json").stdout)
    assert told["schema_version"] == 1
    (smoke,) = [each for each in told["recipes"] if each["recipe"] == "cuda-smoke"]
    assert (smoke["extends"], smoke["requires"]) == (["cuda", "cpu"], ["cuda", "cublas"])


def test_show(project: World) -> None:
    shown = project.run("recipe", "show", "cuda-smoke")

    assert shown.returncode == 0, shown.stderr
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("cmake.GGML_CUDA_FA ")]
    assert line.split()[1] == "OFF"
    assert "cuda-smoke.yaml:" in line
    assert line.endswith("their kernels are empty")
    told = json.loads(project.run("recipe", "show", "cuda-smoke", "--format", "json").stdout)
    assert (told["schema_version"], told["recipe"]) == (1, "cuda-smoke")
    assert [file["name"] for file in told["files"]] == ["cuda-smoke.yaml", "cuda.yaml", "cpu.yaml"]
    values = {each["key"]: each for each in told["values"]}
    assert values["cmake.GGML_CUDA"]["file"] == "cuda.yaml"
    assert values["targets"]["value"] == ["llama", "test-skippy-*"]


def test_diff(project: World) -> None:
    shown = project.run("recipe", "diff", "cuda", "cuda-smoke")

    assert shown.returncode == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[0] == ["key", "cuda", "cuda-smoke"]
    assert ["cmake.GGML_CUDA_FA", "ON", "OFF"] in lines
    told = json.loads(project.run("recipe", "diff", "cuda", "cuda-smoke", "--format", "json").stdout)
    assert {"key": "cmake.GGML_CUDA_NO_VMM", "before": "OFF", "after": "ON"} in told["differences"]
    assert {"key": "targets", "before": None, "after": ["llama", "test-skippy-*"]} in told["differences"]
    assert project.run("recipe", "diff", "cpu", "cpu").stdout == "cpu and cpu say the same.\n"


@pytest.mark.parametrize(
    "words", [("recipe", "list"), ("recipe", "show", "cuda-smoke"), ("recipe", "diff", "cpu", "cuda"),
              ("recipe", "add", "cuda"), ("doctor",)],
)  # fmt: skip
def test_the_page_names_every_field_of_the_json(project: World, words: tuple[str, ...]) -> None:
    page = (RECIPES.parent / "docs/json.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")}
    told = json.loads(project.run(*words, "--format", "json").stdout)
    row = rows[" ".join(words[:2])]

    fields = {"schema_version", *re.findall(r"`(\w+)`", row)}
    if "the same fields" in row or "the fields of" in row:
        fields |= set(re.findall(r"`(\w+)`", rows["recipe list"]))

    assert set(_fields(told)) <= fields


def _fields(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


def test_a_project_without_recipes_gets_the_shipped_ones(world: World) -> None:
    """All that a wheel brings: a link, which hatchling follows."""
    assert (Path(skippy_patches.__file__).parent / "recipes").resolve() == RECIPES
    assert "skippy-patches recipe add cuda" in world.run("build", "--cuda").stderr
    assert "skippy-patches recipe add cpu" in world.run("doctor").stderr

    added = world.run("recipe", "add", "cuda")

    folder = world.root / "recipes"
    files = {"cuda.yaml", "cpu.yaml", "recipe.schema.json"}
    assert added.returncode == 0, added.stderr
    assert {file.name for file in folder.iterdir()} == files
    assert added.stdout.count("Wrote ") == 3
    first, _, rest = (folder / "cuda.yaml").read_text(encoding="utf-8").partition("\n")
    assert first == "# yaml-language-server: $schema=recipe.schema.json"
    assert (RECIPES / "cuda.yaml").read_text(encoding="utf-8").endswith(rest)
    assert world.run("recipe", "show", "cuda").returncode == 0
    again = json.loads(world.run("recipe", "add", "cuda", "--format", "json").stdout)
    assert (again["written"], again["kept"]) == ([], ["cuda.yaml", "cpu.yaml"])


def test_what_a_recipe_names_is_copied_too_and_what_is_there_stays(world: World) -> None:
    own = world.root / "recipes/cpu.yaml"
    own.parent.mkdir()
    own.write_text("description: mine\n", encoding="utf-8")

    done = world.run("recipe", "add", "vulkan")

    assert done.returncode == 0, done.stderr
    assert f"Kept {own}, which was there" in done.stdout
    assert own.read_text(encoding="utf-8") == "description: mine\n"
    for name in ("headers.cmake", "layer_settings.h"):
        copied = world.root / "recipes/vulkan" / name
        assert copied.read_bytes() == (RECIPES / "vulkan" / name).read_bytes()
    refused = world.run("recipe", "add", "cpu")
    assert refused.returncode == 2
    assert "it is another one" in refused.stderr
    assert "Did you mean 'hip'?" in world.run("recipe", "add", "rocm").stderr


@pytest.mark.parametrize("width", [80, 100])
def test_on_a_terminal_every_line_is_of_its_width_and_no_word_is_cut(width: int) -> None:
    shown, other = (explain.explain(RECIPES, name) for name in ("cuda", "cuda-smoke"))

    whole = _shown(10_000, shown, other)
    narrow = _shown(width, shown, other)

    values = narrow[narrow.index("key = value [from], and why") :]
    assert max(map(len, values)) <= width
    assert "key: cuda -> cuda-smoke" in values
    assert "cmake.GGML_CUDA_FA = ON [cuda.yaml:16]" in values
    assert "cmake.GGML_CUDA_FA: ON -> OFF" in values
    assert whole[5].split() == ["key", "value", "from", "why"]
    words = {word.strip("[]:") for line in values for word in line.split()}
    assert {word.strip(":") for line in whole[6:] for word in line.split()} - words == set()


def _shown(width: int, shown: explain.Explained, other: explain.Explained) -> list[str]:
    """The lines of `recipe show` and `recipe diff`."""
    out = io.StringIO()
    terminal = Terminal(out=Console(file=out, width=width), err=Console(file=io.StringIO()), verbosity=0)
    command._print(terminal, shown)
    command._print_differences(terminal, "cuda", "cuda-smoke", explain.differences(shown, other))
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("recipe", "show", "cuad"), "Did you mean 'cuda'?"),
        (("recipe", "diff", "cpu", "metl"), "Did you mean 'metal'?"),
        (("build", "--recipe", "cuda-smok"), "Did you mean 'cuda-smoke'?"),
        (("test", "--recipe", "vulcan"), "Did you mean 'vulkan'?"),
        (("build", "--cudda"), "--cuda"),
        (("build", "--vulcan"), "--vulkan"),
        (("build", "--rocm"), "Did you mean --hip?"),
        (("build", "--asan"), "--recipe asan"),
        (("build", "--OpenCL"), "recipes/opencl.yaml: extends: cpu, cmake: {GGML_OPENCL: ON}"),
        (("build", "--recipe", "rocm"), "Did you mean 'hip'?"),
        (("doctor", "--cuda"), "--recipe cuda"),
        (("test", "--nvidia"), "--recipe cuda"),
        (("build", "--cuda", "--cpu"), "Build cuda: skippy-patches build --recipe cuda"),
        (("build", "--cuda", "--recipe", "cpu"), "Build cpu: skippy-patches build --recipe cpu"),
        (("build", "--cpu", "--cuda-arch", "90"), "does not build for CUDA"),
    ],
)
def test_a_misspelt_word_names_the_nearest(project: World, words: tuple[str, ...], says: str) -> None:
    done = project.run(*words)

    assert done.returncode == 2
    assert says in done.stderr


def test_an_architecture_that_the_toolkit_does_not_know(project: World, tmp_path: Path) -> None:
    """Before anything is fetched: the upstream of this project is not even looked at."""
    fake = fakecuda.make(tmp_path)
    fake.add_cublas()
    fake.add_runtime()
    nvcc = {"CUDACXX": str(fake.root / "bin/nvcc")}

    done = project.run("build", "--cuda", "--cuda-arch", "91", env=nvcc)

    assert done.returncode == 2
    assert "--cuda-arch asks for the CUDA architecture '91', which CUDA 13.0 does not know." in done.stderr
    assert "Did you mean '89' or '90'?" in done.stderr
    assert not project.checkout.exists()
