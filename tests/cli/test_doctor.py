"""`doctor`, and the look that every build begins with."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.build import fakecuda
from tests.cli.test_road import make_road
from tests.services import http_store

if TYPE_CHECKING:
    from pathlib import Path

    from tests.world import World

CUDA = """\
description: For CUDA.
requires: [cuda, cublas]
cmake: {GGML_CUDA: ON, CMAKE_CUDA_ARCHITECTURES: 80}
"""
MISSING = (
    "git was not found",
    "A C compiler was not found",
    "A C++ compiler was not found",
    "nvcc was not found",
)


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = make_road(tmp_path_factory.mktemp("road"))
    (world.root / "recipes/cuda.yaml").write_text(CUDA, encoding="utf-8")
    return world


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a machine with nothing."""
    for name in ("CUDACXX", "CUDAToolkit_ROOT", "CUDA_PATH", "CUDA_HOME", "CC", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("skippy_patches.build.cuda.FOLDERS", ())
    monkeypatch.setattr("skippy_patches.build.doctor.examination.PATIENCE", 60)  # however busy the machine is
    return {"PATH": str(tmp_path)}


def test_a_build_on_a_machine_with_nothing_fetches_nothing(road: World, nothing: dict[str, str]) -> None:
    done = road.run("build", "--cuda", env=nothing)

    assert done.returncode == 6
    assert done.stdout == ""
    for what in (*MISSING, "cuBLAS"):
        assert what in done.stderr
    codes = re.findall(r"^  - .+ \[(.+)\]$", done.stderr, re.MULTILINE)
    assert codes == ["git-missing", "tool-missing", "tool-missing", "nvcc-missing", "cublas-missing"]
    for cure in (
        "apt-get install git",
        "build-essential",
        "CUDACXX=",
        "-m pip install 'skippy-patches[cuda]'",
    ):
        assert cure in done.stderr
    assert not road.checkout.exists()


def test_doctor_says_the_same(road: World, nothing: dict[str, str]) -> None:
    done = road.run("doctor", "--recipe", "cuda", "--format", "json", env=nothing)

    assert done.returncode == 6
    answer = json.loads(done.stdout)
    assert not answer["can_build"]
    assert answer["requires"] == ["cuda", "cublas"]
    codes = [finding["code"] for finding in answer["findings"] if finding["severity"] == "error"]
    assert codes == ["git-missing", "tool-missing", "tool-missing", "nvcc-missing", "cublas-missing"]
    text = road.run("doctor", "--recipe", "cuda", env=nothing)
    assert text.returncode == 6
    assert "error: nvcc was not found. [nvcc-missing]\n    Looked at CUDA" in text.stdout
    assert "    -> Install the CUDA toolkit" in text.stdout
    assert "cannot be built on this machine" in text.stdout


def test_this_machine_is_ready_for_the_small_project(road: World) -> None:
    done = road.run("doctor")

    assert done.returncode == 0, done.stdout
    assert "Recipe 'cpu' can be built on this machine." in done.stdout
    assert "Not looked for, because the recipe needs none: cuda" in done.stdout
    assert re.search(r"^cmake +cmake [0-9.]+, /", done.stdout, re.MULTILINE)
    assert "shared" not in done.stdout


def test_a_cache_that_is_shared_is_told(road: World) -> None:
    with http_store() as store:
        env = {"SKIPPY_PATCHES_CACHE_REMOTE": f"http://127.0.0.1:{store.port}"}
        done = road.run("doctor", "--launcher", "ccache", env=env)

    assert re.search(r"^launcher +ccache .+\nshared +objects, through http$", done.stdout, re.MULTILINE)


def test_a_warning_is_told_before_the_build_and_does_not_stop_it(road: World, tmp_path: Path) -> None:
    (tmp_path / "libggml.so").touch()
    env = {"LD_LIBRARY_PATH": str(tmp_path)}

    done = road.run("build", env=env)

    assert done.returncode == 0, done.stderr
    assert "[loader-path]" in done.stderr
    assert "unset LD_LIBRARY_PATH" not in done.stderr
    assert "unset LD_LIBRARY_PATH" in road.run("-v", "build", env=env).stderr


def test_a_cache_that_cannot_be_used_is_told_by_both_in_the_same_words(road: World) -> None:
    env = {"SKIPPY_PATCHES_CACHE_REMOTE": "redis://127.0.0.1:1", "SKIPPY_PATCHES_LAUNCHER": "ccache"}
    what = (
        "The shared cache at 127.0.0.1:1 is not used: there is no answer (Connection refused). [cache-unused]"
    )

    looked = road.run("doctor", env=env)
    built = road.run("build", env=env)

    assert (looked.returncode, built.returncode) == (0, 0)
    assert looked.stdout.count("The shared cache") == 1
    assert built.stderr.count("The shared cache") == 1
    assert f"warning: {what}" in looked.stdout
    assert f"warning: {what}" in built.stderr
    assert "SKIPPY_PATCHES_CACHE_REMOTE=none" in looked.stdout


SENSELESS = (
    (("--launcher", "ccahce"), "Did you mean 'ccache'?"),
    (("--recipe", "cuda", "--cuda-arch", "sm_86"), "Did you mean '86'?"),
    (("--recipe", "cud"), "Did you mean 'cuda'?"),
    (("--recipe", ""), "Known: cpu, cuda."),
    (("--recipe", "cuda", "--cuda-arch", "nonsense"), "--cuda-arch 86,90"),
    (("--recipe", "cuda", "--cuda-arch", ","), "--cuda-arch 86,90"),
    (("--cuda-arch", "86"), "does not build for CUDA"),
    (("--jobs", "0"), "--jobs"),
    (("--jobs", "abc"), "--jobs"),
    (("--nvidia",), "cuda"),
)


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [(("doctor",), *row) for row in SENSELESS]
    + [(each, *row) for each in (("build",), ("test",), ("test", "--each")) for row in SENSELESS[:2]],
)
def test_what_no_machine_can_make_sense_of_is_a_usage_error(
    road: World, nothing: dict[str, str], command: tuple[str, ...], words: tuple[str, ...], says: str
) -> None:
    done = road.run(*command, *words, env=nothing)

    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_pattern_is_looked_at_before_anything_is_built(road: World, nothing: dict[str, str]) -> None:
    done = road.run("test", "-R", "(", env=nothing)

    assert done.returncode == 2
    assert "'(' is not a regular expression" in done.stderr


def test_doctor_ends_as_the_build_would(road: World, tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fake.add_cublas()
    fake.add_runtime()
    words = ("--recipe", "cuda", "--cuda-arch", "91")

    ends = [
        road.run(each, *words, env={"CUDACXX": str(fake.root / "bin/nvcc")}) for each in ("doctor", "build")
    ]

    assert [done.returncode for done in ends] == [2, 2]
    assert "[cuda-architecture]" in ends[0].stdout


def test_a_build_that_is_made_twice_is_looked_at_first(road: World, nothing: dict[str, str]) -> None:
    done = road.run("build", "--cuda", "--check-reproducible", env=nothing)

    assert done.returncode == 6
    assert "nvcc was not found" in done.stderr
    assert not (road.root / ".skippy/reproduce").exists()


def test_each_prefix_is_looked_at_before_the_first(road: World, nothing: dict[str, str]) -> None:
    done = road.run("test", "--each", "--recipe", "cuda", env=nothing)

    assert done.returncode == 6
    assert "nvcc was not found" in done.stderr
