"""What is said about a hunk that finds no place."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply import explain
from skippy_patches.apply.errors import PatchDoesNotApply
from tests.world import World, block, git

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("fatal: unable to write new index file\n", True),
        ("fatal: sha1 file '/x/index.lock' write error. Out of diskspace\n", True),
        (
            "error: file write error: No space left on device\nfatal: unable to write loose object file\n",
            True,
        ),
        ("error: patch failed: no/unable to/write error.c:3\nerror: a: patch does not apply\n", False),
        ("error: unable to open/a.c: does not exist in index\n", False),
        ("error: corrupt patch at line 7\n", False),
        ("fatal: corrupt patch at line 7\n", False),
        ("error: unable to find filename in patch at line 3\n", False),
        ('error: No valid patches in input (allow with "--allow-empty")\n', False),
    ],
)
def test_trouble_of_the_machine_is_not_the_patch_s(said: str, expected: bool) -> None:
    assert explain.is_trouble(said) is expected


@pytest.mark.thorough
def test_git_that_cannot_write_is_named_and_not_the_patch(world: World, tmp_path: Path) -> None:
    world.add(1, "p1", {"docs/1.md": "x\n"})
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        '#!/bin/sh\ncase " $* " in *" apply --cached "*)\n'
        "echo 'fatal: unable to write new index file: No space left on device' >&2; exit 128;; esac\n"
        f'exec {shutil.which("git")} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    done = world.run("apply", env={"PATH": f"{wrapper.parent}:{os.environ['PATH']}"})
    assert "No space left on device" in done.stderr
    assert "does not apply" not in done.stderr
    assert done.returncode not in (0, 4)
