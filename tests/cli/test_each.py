"""`test --each`: every prefix of a small queue is built and tested, and the first that breaks is named."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_road import CMAKE, make_road
from tests.world import World, git

if TYPE_CHECKING:
    from collections.abc import Iterator

TEST = "add_test(NAME test-skippy-one COMMAND test-one)\n"
ANSWER = "int answer() {{ return {}; }}\n"
EACH = ("test", "--each", "-R", "^test-skippy-")


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project whose first patch changes the library, and whose second one brings the queue's test."""
    world = make_road(tmp_path_factory.mktemp("each"))
    world.add(2, "tests", {"CMakeLists.txt": CMAKE + TEST})
    return world


@pytest.fixture
def queue(road: World) -> Iterator[World]:
    """The same, with nothing kept of the patches that a test adds."""
    yield road
    for patch in road.patches.glob("*.patch"):
        if int(patch.name[:4]) > 2:
            patch.unlink()
            git(road.desk, "reset", "-q", "--hard", "HEAD^")


def answer(world: World, *arguments: str, status: int = 0) -> dict[str, Any]:
    done = world.run(*EACH, *arguments, "--format", "json")
    assert done.returncode == status, done.stderr
    content = json.loads(done.stdout)
    assert isinstance(content, dict)
    return content


def test_every_prefix_is_built_and_tested(queue: World) -> None:
    content = answer(queue)

    assert (content["recipe"], content["first_broken"]) == ("cpu", None)
    first, second = content["prefixes"]
    assert (first["file"], first["outcome"], first["tests"]) == ("0001-answer.patch", "built", None)
    assert (second["number"], second["outcome"]) == (2, "tested")
    assert second["tests"] == {"run": 1, "passed": 1, "failed": 0, "skipped": 0}
    assert first["commit"] != second["commit"]
    assert second["compiled"] == 0  # it changes no source: the folder of the first served

    shown = queue.run(*EACH)
    assert re.search(r"0001-answer\.patch +built +0\n", shown.stdout)
    assert re.search(r"0002-tests\.patch +tested +0 +1 +0 +0", shown.stdout)
    assert "Prefix 1 of 2: 0001-answer.patch" in shown.stderr
    assert "0002-tests.patch: tested, 0 files compiled, 1 passed" in shown.stderr


def test_the_person_s_checkout_is_not_disturbed(queue: World) -> None:
    queue.apply()
    file = queue.checkout / "src/llama.cpp"
    before = file.read_text(encoding="utf-8"), queue.inside("rev-parse", "HEAD")
    file.write_text("half done\n", encoding="utf-8")
    try:
        answer(queue)
        assert file.read_text(encoding="utf-8") == "half done\n"
        assert queue.inside("rev-parse", "HEAD") == before[1]
        assert not (queue.root / ".skippy/build").exists()
    finally:
        file.write_text(before[0], encoding="utf-8")


def test_a_prefix_that_does_not_compile_is_named_although_the_queue_as_a_whole_does(queue: World) -> None:
    queue.add(3, "broken", {"src/llama.cpp": "int answer() { return nothing; }\n"})
    queue.add(4, "mended", {"src/llama.cpp": ANSWER.format(4)})
    try:
        content = answer(queue, status=6)
        said = queue.run(*EACH).stderr
    finally:
        git(queue.desk, "reset", "-q", "--hard", "HEAD^")
        (queue.patches / "0004-mended.patch").unlink()

    assert content["first_broken"] == "0003-broken.patch"
    assert [each["outcome"] for each in content["prefixes"]] == ["built", "tested", "broken"]
    assert "'nothing' was not declared" in content["prefixes"][2]["error"]["why"]
    assert "The queue breaks at 0003-broken.patch: The build stopped" in said
    assert ".skippy/each/build/cpu/build.log" in said


def test_a_variable_that_a_later_patch_brings(queue: World) -> None:
    recipe = queue.root / "recipes/cpu.yaml"
    before = recipe.read_text(encoding="utf-8")
    more = 'option(GGML_NEW "" OFF)\noption(NEW_TOO "" OFF)\n'
    queue.add(3, "options", {"CMakeLists.txt": CMAKE + TEST + more})
    recipe.write_text(before.replace("Release", "Release, GGML_NEW: ON, NEW_TOO: ON"), encoding="utf-8")
    try:
        done = queue.run(*EACH)
    finally:
        recipe.write_text(before, encoding="utf-8")

    assert done.returncode == 0, done.stderr
    told = re.findall(r"'(\w+)' is no variable of this llama.cpp.*, with this part of the queue", done.stderr)
    assert told == ["GGML_NEW", "NEW_TOO", "GGML_NEW"]


def test_a_test_that_fails_at_a_prefix(queue: World) -> None:
    queue.add(3, "wrong", {"src/llama.cpp": ANSWER.format(3)})

    content = answer(queue, status=7)

    broken = content["prefixes"][-1]
    assert (broken["file"], broken["outcome"]) == ("0003-wrong.patch", "broken")
    assert broken["tests"] == {"run": 1, "passed": 0, "failed": 1, "skipped": 0}


def test_tests_that_are_lost_break_the_queue(queue: World) -> None:
    queue.add(3, "loses-them", {"CMakeLists.txt": CMAKE})

    content = answer(queue, status=7)

    assert content["first_broken"] == "0003-loses-them.patch"
    assert content["prefixes"][-1]["error"]["what"] == "No test ran."


def test_a_patch_that_does_not_apply(queue: World) -> None:
    patch = queue.add(3, "stale", {"src/llama.cpp": ANSWER.format(4)})
    patch.write_bytes(patch.read_bytes().replace(b"return 2", b"return 9"))

    content = answer(queue, status=4)

    assert content["first_broken"] == "0003-stale.patch"
    assert content["prefixes"][-1]["commit"] is None


def test_no_test_at_any_prefix_is_a_failure(queue: World) -> None:
    done = queue.run("test", "--each", "-R", "nothing-like-it")

    assert done.returncode == 7
    assert "At no prefix of the queue there is a test that matches 'nothing-like-it'" in done.stderr


@pytest.mark.parametrize("words", [("-R", "test-("), ("--recipe", "cpuu")])
def test_what_is_misspelt_fails_before_anything_is_done(queue: World, words: tuple[str, str]) -> None:
    done = queue.run("test", "--each", *words)

    assert done.returncode == 2
    assert "Prefix" not in done.stderr
