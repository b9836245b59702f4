"""What is said about a hunk that finds no place."""

from __future__ import annotations

import re

import pytest

from skippy_patches.apply.errors import PatchDoesNotApply
from tests.world import World, block, git


def _said(world: World) -> str:
    with pytest.raises(PatchDoesNotApply) as caught:
        world.apply()
    return caught.value.why


def _stale(world: World, old: bytes, new: bytes) -> None:
    text = world.source("src/llama.cpp")
    patch = world.add(
        1, "x", {"src/llama.cpp": text.replace(block(12), block(12).replace("end();", "stop();"))}
    )
    patch.write_bytes(patch.read_bytes().replace(old, new))


def test_the_nearest_place_wins_among_equal_ones(world: World) -> None:
    _stale(world, b"     begin();", b"     start();")
    said = _said(world)
    assert "most like it are lines 79-85" in said
    assert "-     start();" in said
    assert "+     begin();" in said


def test_a_hunk_of_another_file_altogether(world: World) -> None:
    text = world.source("src/llama.cpp")
    patch = world.add(1, "x", {"src/llama.cpp": text.replace("step_12", "step_12b")})
    head, hunk = patch.read_bytes().split(b"@@ void", 1) if b"@@ void" in patch.read_bytes() else (b"", b"")
    assert head
    hunk = re.sub(rb"(?m)^([ -])(?!-).+$", rb"\1nothing like it", hunk)
    patch.write_bytes(head + b"@@ void" + hunk)
    assert "lines is in the file" in _said(world)


def test_a_change_that_is_there_already(world: World) -> None:
    """Another patch brought it, together with more, so that the check cannot see the same change twice."""
    text = world.source("src/llama.cpp")
    twelve = block(12).replace("    begin();\n", "    begin();\n    extra();\n    extra();\n")
    changed = text.replace(block(12), twelve)
    world.add(1, "x", {"src/llama.cpp": changed, "more.txt": "more\n"})
    git(world.desk, "reset", "-q", "--hard", "HEAD^")
    world.add(2, "y", {"src/llama.cpp": changed})
    assert "its change is there already, from line " in _said(world)


def test_every_file_that_does_not_fit_up_to_three(world: World) -> None:
    world.add(1, "x", {f"file-{number}": "new\n" for number in range(5)})
    world.add(2, "y", {f"file-{number}": "newer\n" for number in range(5)})
    (world.patches / "0001-x.patch").unlink()
    said = _said(world)
    assert said.count("it is not there") == 3
    assert "and 2 more files" in said


def test_line_endings_are_made_visible(world: World) -> None:
    text = world.source("src/windows.txt")
    patch = world.add(1, "x", {"src/windows.txt": text.replace("two\r\n", "TWO\r\n")})
    patch.write_bytes(patch.read_bytes().replace(b" one\r\n", b" one\n"))
    said = _said(world)
    assert "- one" in said
    assert "+ one\\r" in said
