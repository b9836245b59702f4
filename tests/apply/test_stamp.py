"""The answer at a glance: fast when nothing changed, never when anything did."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.apply.scenario import apply_queue

if TYPE_CHECKING:
    from pathlib import Path

    from tests.world import World

HEAVY = ("typer", "rich", "git", "yaml", "click", "dataclasses", "subprocess", "pathlib")


@pytest.fixture
def applied(world: World) -> World:
    """A project whose queue was applied through the command line."""
    apply_queue(world)
    assert world.run("apply").returncode == 0
    return world


def _imports(world: World, *arguments: str) -> tuple[set[str], str]:
    """The modules that the command line imports, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "skippy_patches", *arguments],
        cwd=world.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {match[1] for match in re.finditer(r"\| +([\w.]+)$", done.stderr, re.MULTILINE)}, done.stdout


def test_nothing_heavy_is_imported(applied: World) -> None:
    for arguments in (["apply"], ["apply", "--format", "json"], ["-C", ".", "apply"]):
        modules, _ = _imports(applied, *arguments)
        assert not {module for module in modules if module.split(".")[0] in HEAVY}


def test_no_git_is_started(applied: World, tmp_path: Path) -> None:
    """With a PATH that holds no git, the long way would fail."""
    env = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "skippy_patches", "apply"],
        cwd=applied.root,
        env=env,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_says_what_the_long_way_says(applied: World) -> None:
    short = applied.start("apply").stdout
    assert applied.glance("apply") == short.removesuffix("\n")
    short_json = json.loads(applied.glance("apply", "--format", "json") or "")
    (applied.root / ".skippy/applied.stamp").unlink()
    assert applied.run("apply").stdout == short
    (applied.root / ".skippy/applied.stamp").unlink()
    assert json.loads(applied.run("apply", "--format", "json").stdout) == short_json


def _edit_a_patch(world: World) -> None:
    file = world.patches / "0009-last.patch"
    file.write_bytes(file.read_bytes().replace(b"\n+new\n", b"\n+NEW\n"))


def _add_a_patch(world: World) -> None:
    world.add(11, "more", {"more.txt": "more\n"})


def _remove_a_patch(world: World) -> None:
    (world.patches / "0009-last.patch").unlink()


def _rename_a_patch(world: World) -> None:
    (world.patches / "0009-last.patch").rename(world.patches / "0019-last.patch")


def _change_the_configuration(world: World) -> None:
    world.configure("committer: {name: Other, email: o@x}\n")


def _add_a_series(world: World) -> None:
    names = sorted(path.name for path in world.patches.iterdir())
    (world.patches / "series").write_text("\n".join(names) + "\n", encoding="utf-8")


def _edit_a_file(world: World) -> None:
    """The same size within the same second."""
    file = world.checkout / "src/windows.txt"
    file.write_bytes(file.read_bytes().replace(b"five", b"FIVE"))


def _edit_and_set_the_time_back(world: World) -> None:
    file = world.checkout / "src/windows.txt"
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"five", b"FIVE"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _add_a_file(world: World) -> None:
    (world.checkout / "src/mine.cpp").write_text("mine\n", encoding="utf-8")


def _remove_a_file(world: World) -> None:
    (world.checkout / "src/windows.txt").unlink()


def _switch_the_branch(world: World) -> None:
    world.inside("checkout", "-q", "--detach")


def _commit(world: World) -> None:
    world.inside("commit", "-q", "--allow-empty", "-m", "Mine")


def _stage_a_removal(world: World) -> None:
    world.inside("rm", "-q", "--cached", "src/windows.txt")


def _leave_a_journal(world: World) -> None:
    (world.checkout / ".git/skippy/journal.json").write_text("{", encoding="utf-8")


def _damage_the_stamp(world: World) -> None:
    (world.root / ".skippy/applied.stamp").write_bytes(b"\xff\0\0")


CHANGES = [
    _edit_a_patch, _add_a_patch, _remove_a_patch, _rename_a_patch, _change_the_configuration, _add_a_series,
    _edit_a_file, _edit_and_set_the_time_back, _add_a_file, _remove_a_file, _switch_the_branch, _commit,
    _stage_a_removal, _leave_a_journal, _damage_the_stamp,
]  # fmt: skip


@pytest.mark.case(25)
@pytest.mark.parametrize(
    "change",
    [pytest.param(each, marks=[pytest.mark.thorough] * (at % 4 > 0)) for at, each in enumerate(CHANGES)],
)
def test_any_change_takes_the_long_way(applied: World, change: object) -> None:
    assert callable(change)
    assert applied.glance("apply")
    change(applied)
    assert applied.glance("apply") is None


def test_a_variable_takes_the_long_way(applied: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert applied.glance("apply")
    monkeypatch.setenv("SKIPPY_PATCHES_COMMITTER_NAME", "Other")
    assert applied.glance("apply") is None


def test_apply_of_a_part_leaves_no_stamp(applied: World) -> None:
    assert applied.run("apply", "--to", "3").returncode == 0
    assert applied.glance("apply") is None
    assert "Applied 7 patches" in applied.run("apply").stdout
