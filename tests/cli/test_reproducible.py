"""`build --check-reproducible`, and another user, on the small project of test_road.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_road import make_road

if TYPE_CHECKING:
    from pathlib import Path

    from tests.world import World

HERE = 'target_compile_definitions(llama PRIVATE HERE="${CMAKE_SOURCE_DIR}")\n'
SOURCE = "const char * file() { return __FILE__; }\nint answer() { return 2; }\n"
ANOTHER = ("unshare", "--user", "--map-user=4321", "--map-group=4321")  # needs no rights


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Its library holds the name of a source. Its recipes lie in the project's folder, beside much else."""
    world = make_road(tmp_path_factory.mktemp("reproducible"), HERE)
    world.configure("recipes: .\ncheckout: llama.cpp\n")
    (world.root / "recipes/cpu.yaml").rename(world.root / "cpu.yaml")
    (world.root / "nowhere").symlink_to("gone")
    world.add(2, "file", {"src/llama.cpp": SOURCE})
    return world


def test_a_second_build_gives_the_same_bytes_and_is_gone(road: World) -> None:
    done = road.run("build", "--check-reproducible", "--format", "json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["reproduction"] == {"equal": True, "kept": None, "differences": []}
    assert content["reproducibility"] == {"method": "prefix-map"}
    assert content["reproducible"]["method"] == "prefix-map"
    assert content["started"] <= content["reproducible"]["checked"]
    again = json.loads(road.run("build", "--format", "json").stdout)
    assert again["reproducible"] == content["reproducible"]
    assert "once more" in done.stderr
    assert "no cache" in done.stderr
    assert [each.name for each in (road.root / ".skippy/reproduce").iterdir()] == ["lock"]


def test_a_difference_is_explained_and_kept(road: World) -> None:
    patch = road.add(3, "here", {"src/llama.cpp": f"const char * here() {{ return HERE; }}\n{SOURCE}"})
    try:
        done = road.run("build", "--check-reproducible", "--format", "json", env={"HOME": "/"})
    finally:
        patch.unlink()
    assert done.returncode == 1
    assert "1 of 1 library is not the same when built elsewhere" in done.stderr
    assert "the path of the checkout, which CMake wrote into a source or a definition" in done.stderr
    assert f"only here: '{road.root / 'llama.cpp'}'" in done.stderr
    answer = json.loads(done.stdout)["reproduction"]
    assert json.loads(done.stdout)["reproducible"] is None
    assert answer["kept"] == str(road.root / ".skippy/reproduce/cpu/in-another-folder/build/cpu/tree")
    (library,) = answer["differences"]
    assert library["sections"][0]["name"] == ".rodata"
    assert library["objects"] == ["CMakeFiles/llama.dir/src/llama.cpp.o"]
    assert [cause["kind"] for cause in library["causes"]] == ["path"]


def test_another_user_in_another_folder_gives_the_same_bytes(road: World, tmp_path: Path) -> None:
    made = json.loads(road.run("build", "--launcher", "none", "--format", "json").stdout)
    other = make_road(tmp_path / "a folder with a longer name", HERE)
    other.add(2, "file", {"src/llama.cpp": SOURCE})
    (home := tmp_path / "home").mkdir()
    done = subprocess.run(
        [*ANOTHER, "sh", "-c", 'umask 077; id -u; exec "$@"', "sh", sys.executable, "-m", "skippy_patches",
         "build", "--launcher", "none", "--format", "json"],
        cwd=other.root,
        env={**os.environ, "HOME": str(home), "USER": "somebody", "LOGNAME": "somebody"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    user, _, printed = done.stdout.partition("\n")
    assert user == "4321", f"this test wants namespaces for users (docs/reproducible.md): {done.stderr}"
    assert done.returncode == 0, done.stderr
    there = json.loads(printed)
    assert there["patched"] == made["patched"]
    assert there["artifacts"] == made["artifacts"]


@pytest.fixture(scope="module")
def detour(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Its library holds the name of a header, whose folder CMakeLists.txt names with ".."."""
    named = "target_include_directories(llama PRIVATE src/../vendor/.)\n"
    world = make_road(tmp_path_factory.mktemp("detour"), named)
    header = "inline const char * header() { return __FILE__; }\n"
    source = '#include "header.h"\nconst char * file() { return header(); }\nint answer() { return 2; }\n'
    world.add(2, "file", {"vendor/header.h": header, "src/llama.cpp": source})
    return world


@pytest.mark.parametrize("launcher", ["ccache", "sccache"])
def test_cached_or_not_a_detour_in_a_path_gives_the_same_bytes(launcher: str, detour: World) -> None:
    cached, plain = (
        json.loads(detour.run("build", "--launcher", each, "--format", "json").stdout)
        for each in (launcher, "none")
    )
    assert cached["toolchain"]["launcher"]["name"] == launcher
    assert plain["toolchain"]["launcher"] is None
    assert cached["artifacts"] == plain["artifacts"]
    library = (detour.root / ".skippy/build/cpu/tree/libllama.so").read_bytes()
    assert b"../src/vendor/header.h" in library
