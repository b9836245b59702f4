"""The whole road through the command line, on a small project with a library and three tests."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

CMAKE = """\
cmake_minimum_required(VERSION 3.14)
project(llama CXX)
add_library(llama SHARED src/llama.cpp)
enable_testing()
add_executable(test-one test.cpp)
target_link_libraries(test-one PRIVATE llama)
add_test(NAME test-one COMMAND test-one)
add_test(NAME test-skips COMMAND ${CMAKE_COMMAND} -E echo "SKIP: no model")
add_test(NAME test-network COMMAND ${CMAKE_COMMAND} -E false)
"""
RECIPE = """\
description: A library and its tests.
cmake: {CMAKE_BUILD_TYPE: Release}
artifacts: [libllama]
tests:
  exclude:
    - {name: test-network, reason: needs a network}
"""


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project that can be built."""
    return make_road(tmp_path_factory.mktemp("road"))


def make_road(folder: Path, more_cmake: str = "") -> World:
    """A project whose one patch changes the library's answer from 1 to 2."""
    upstream = folder / "upstream"
    (upstream / "src").mkdir(parents=True)
    (upstream / "CMakeLists.txt").write_text(CMAKE + more_cmake, encoding="utf-8")
    (upstream / "src/llama.cpp").write_text("int answer() { return 1; }\n", encoding="utf-8")
    (upstream / "test.cpp").write_text(
        "int answer();\nint main() { return answer() == 3; }\n", encoding="utf-8"
    )
    git(upstream, "init", "-q")
    git(upstream, "add", "-A")
    git(upstream, "commit", "-q", "-m", "The pin")
    world = World.create(folder / "project", upstream)
    (world.root / "recipes").mkdir()
    (world.root / "recipes/cpu.yaml").write_text(RECIPE, encoding="utf-8")
    world.add(1, "answer", {"src/llama.cpp": "int answer() { return 2; }\n"})
    return world


def _record(world: World) -> dict[str, object]:
    content = json.loads((world.root / ".skippy/build/cpu/record.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.mark.case(29)
def test_apply_build_test_record(road: World) -> None:
    done = road.run("test")
    assert done.returncode == 0, done.stderr
    assert re.search(r"test-one +passed", done.stdout)
    assert re.search(r"test-skips +skipped", done.stdout)
    assert "1 passed, 0 failed, 1 skipped, 1 left out by the recipe" in done.stdout
    record = _record(road)
    assert record["tests"]["run"] == 1  # type: ignore[index]
    assert record["patched"]["commit"] == road.inside("rev-parse", "HEAD")  # type: ignore[index]
    again = road.run("test", "--format", "json")
    assert "files compiled: 0" in again.stderr
    answer = json.loads(again.stdout)
    assert (answer["run"], answer["passed"], answer["skipped"]) == (1, 1, 1)
    assert answer["excluded"] == [{"name": "test-network", "reason": "needs a network"}]


def test_build_alone_keeps_the_results_of_the_same_bytes(road: World) -> None:
    road.run("test")
    done = road.run("build")
    assert done.returncode == 0, done.stderr
    assert re.search(r"[0-9a-f]{64}  libllama\.so \(\d+ bytes\)", done.stdout)
    assert _record(road)["tests"] is not None


def test_record_shows_and_saves(road: World) -> None:
    road.run("test")
    shown = road.run("record", "--save")
    assert shown.returncode == 0, shown.stderr
    assert "1 run, 1 passed, 0 failed, 1 skipped" in shown.stdout
    sums = shown.stdout.partition("patches\n")[2].partition("libraries\n")
    checked = subprocess.run(
        ["sha256sum", "--check"], cwd=road.patches, input=sums[0], text=True, capture_output=True, check=True
    )
    assert checked.stdout == "0001-answer.patch: OK\n"
    assert re.search(r"^[0-9a-f]{64}  libllama\.so$", sums[2], re.MULTILINE)
    (saved,) = (road.root / "records").iterdir()
    assert json.loads(saved.read_text(encoding="utf-8")) == _record(road)
    assert str(road.root) not in saved.read_text(encoding="utf-8")


def test_status_knows_the_build(road: World) -> None:
    road.run("test")
    (build,) = json.loads(road.run("status", "--format", "json").stdout)["builds"]
    assert (build["recipe"], build["current"], build["tests"]["passed"]) == ("cpu", True, 1)
    assert "1 of 1 tests passed" in road.run("status").stdout


@pytest.fixture(scope="module")
def required(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same, and the recipe requires a test."""
    world = make_road(tmp_path_factory.mktemp("required"))
    file = world.root / "recipes/cpu.yaml"
    file.write_text(f"{RECIPE}  require: [test-one]\n", encoding="utf-8")
    return world


def test_required_tests_alone_are_recorded_too(required: World) -> None:
    done = required.run("test", "-R", "^test-one$", "--format", "json")
    assert json.loads(done.stdout)["required"] == {"run": 1, "passed": 1, "failed": 0, "skipped": 0}
    record = _record(required)
    assert record["tests"] is None
    assert record["required_tests"]["tests"] == [{"name": "test-one", "status": "passed", "reason": ""}]  # type: ignore[index]
    shown = required.run("record").stdout
    assert re.search(r"required tests +1 run, 1 passed, 0 failed, 0 skipped", shown)
    assert "1 of 1 required tests passed" in required.run("status").stdout


def test_the_record_names_the_files_of_the_recipe(required: World) -> None:
    child = required.root / "recipes/child.yaml"
    child.write_text(
        "extends: cpu\ndescription: The same.\ncmake: {CMAKE_BUILD_TYPE: Debug}\n", encoding="utf-8"
    )
    done = required.run("build", "--recipe", "child", "--format", "json")
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["recipe_files"]
    sums = [hashlib.sha256((required.root / "recipes" / each["name"]).read_bytes()) for each in files]
    assert [each["name"] for each in files] == ["child.yaml", "cpu.yaml"]
    assert [each["sha256"] for each in files] == [each.hexdigest() for each in sums]
    assert "child (child.yaml, cpu.yaml)" in required.run("record", "--recipe", "child").stdout


def test_bytes_that_changed_are_not_recorded(road: World) -> None:
    road.run("test")
    library = next((road.root / ".skippy/build/cpu/tree").rglob("libllama.so"))
    content = library.read_bytes()
    library.write_bytes(content + b"\0")
    try:
        done = road.run("record")
        assert done.returncode != 0
        assert "libllama.so" in done.stderr
    finally:
        library.write_bytes(content)


def _with(world: World, name: str, text: str) -> Path:
    """Add a patch for one test; the caller removes it."""
    return world.add(2, name, {"src/llama.cpp": text})


def test_exit_6_shows_the_end_of_the_log(road: World) -> None:
    patch = _with(road, "broken", "int answer() { return nothing; }\n")
    try:
        done = road.run("build")
    finally:
        patch.unlink()
        git(road.desk, "reset", "-q", "--hard", "HEAD^")
    assert done.returncode == 6
    assert "error: 'nothing' was not declared" in done.stderr
    assert ".skippy/build/cpu/build.log" in done.stderr


def test_a_variable_that_nothing_reads_is_an_error_until_it_is_mended(road: World) -> None:
    """cmake itself tells it once for each folder."""
    recipe = road.root / "recipes/wrong.yaml"
    text = "extends: cpu\ndescription: x\ncmake:\n  CMAKE_EXPORT_COMPILE_COMMANDS: ON\n  CTEST_LIMIT: 1\n"
    recipe.write_text(text, encoding="utf-8")

    done = [road.run("build", "--recipe", "wrong") for _ in range(2)]

    assert [each.returncode for each in done] == [2, 2]
    for each in done:
        assert f"{recipe}:5: 'CTEST_LIMIT' is no variable of this llama.cpp as it was conf" in each.stderr
        assert "Compiling" not in each.stderr


def test_exit_7_when_a_test_fails_and_when_none_ran(road: World) -> None:
    patch = _with(road, "wrong", "int answer() { return 3; }\n")
    try:
        failed = road.run("test")
        none = road.run("test", "-R", "nothing-like-this")
        skipped = road.run("test", "-R", "skips")
    finally:
        patch.unlink()
        git(road.desk, "reset", "-q", "--hard", "HEAD^")
    assert [done.returncode for done in (failed, none, skipped)] == [7, 7, 7]
    assert re.search(r"test-one +failed", failed.stdout)
    assert "No test's name matches" in none.stderr
    assert "skipped" in skipped.stderr.lower()


def test_exit_4_before_anything_is_built(road: World) -> None:
    patch = _with(road, "stale", "int answer() { return 4; }\n")
    patch.write_bytes(patch.read_bytes().replace(b"return 2", b"return 9"))
    try:
        done = road.run("build")
    finally:
        patch.unlink()
        git(road.desk, "reset", "-q", "--hard", "HEAD^")
    assert done.returncode == 4
    assert "0002" in done.stderr
