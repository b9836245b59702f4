"""The command: a plan, the renames, and the way back; whoever is killed, and whoever worked meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from skippy_patches.cli.app import app
from skippy_patches.errors import UsageError
from skippy_patches.journal import settling
from skippy_patches.journal.errors import ChangedMeanwhile, UndoRefused, UnmergedPatches
from skippy_patches.renumber import stage as renumber
from skippy_patches.renumber.errors import NotAsPlanned
from skippy_patches.upstream.cache import Cache
from tests.renumber.branches import Author, commit, switch, without_desk
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.renumber.plan import Plan

BEFORE = ["0020-x.patch", "0021-a.patch", "0021-b.patch", "0022-b.patch"]
AFTER = ["0020-x.patch", "0021-a.patch", "0022-b.patch", "0023-b.patch"]


@pytest.fixture
def world(tmp_path: Path, upstream: Path) -> World:
    return without_desk(tmp_path / "project", upstream)


@pytest.fixture
def queue(world: World) -> World:
    """Two patches of one number, one with the slug of the next, committed."""
    author = Author(lane=world.patches)
    for name in BEFORE:
        author.add(int(name[:4]), name[5:-6], "src/a.c")
    commit(world, "The queue")
    return world


def _plan(world: World) -> Plan:
    return renumber.plan(world.project(), close_gaps=False, cache=Cache.default(), reporter=Recorder())


def _write(world: World, plan: Plan) -> None:
    renumber.write(world.project(), plan, Recorder())


def _undo(world: World) -> None:
    renumber.undo(world.project(), Recorder())


def _names(world: World) -> list[str]:
    return sorted(path.name for path in world.patches.iterdir())


def _state(world: World) -> tuple[dict[str, tuple[bytes, int]], str]:
    """Every file of the lane with its mode, and the index."""
    files = {path.name: (path.read_bytes(), path.stat().st_mode) for path in world.patches.iterdir()}
    return files, git(world.root, "ls-files", "--stage")


def _ask(world: World, *options: str) -> tuple[int, str]:
    """Run the command in this process."""
    done = CliRunner().invoke(app, ["-C", str(world.root), "renumber", *options])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_plan_write_and_undo(queue: World) -> None:
    before = _state(queue)
    status, planned = _ask(queue, "--format", "json")
    answer = json.loads(planned)
    assert (status, answer["written"], answer["renamed"]) == (1, False, 2)
    assert (answer["prefixes_compared"], answer["prefixes_equal"]) == (4, 4)
    assert answer["patches"][2]["new_file"] == "patches/0022-b.patch"
    assert _state(queue) == before
    written = queue.run("renumber", "--write")
    assert written.returncode == 0
    assert "Written. To take it back: skippy-patches renumber --undo" in written.stdout
    assert _names(queue) == AFTER
    assert git(queue.root, "diff", "--name-only") == ""
    assert _ask(queue, "--write") == (0, "Nothing to renumber: every number is unique.\n")
    status, undone = _ask(queue, "--undo", "--format", "json")
    assert json.loads(undone)["undone"] == [
        "patches/0021-b.patch",
        "patches/0022-b.patch",
        "patches/0023-b.patch",
    ]
    assert _state(queue) == before


def test_the_policy_of_the_project_decides_about_gaps(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(21, "a", "src/a.c")
    author.add(24, "b", "src/a.c")

    def said(*options: str) -> str:
        return _ask(world, *options)[1]

    assert "Gaps are kept: 0022-0023 (--close-gaps closes them)" in said()
    assert "patches/0022-b.patch  closes a gap" in said("--close-gaps")
    world.configure("gaps: forbid\npinned: [24]\n")
    assert said() == (
        "Nothing to renumber: every number is unique, and no gap can be closed.\n"
        "Gaps that stay:\n"
        "  0022-0023  patches/0024-b.patch is pinned by skippy-patches.yaml\n"
    )
    assert "Gaps are kept: 0022-0023" in said("--keep-gaps")


def test_undo_goes_with_nothing_else(queue: World) -> None:
    for other in ("--write", "--close-gaps", "--keep-gaps"):
        with pytest.raises(UsageError, match="--undo takes back what was written"):
            _ask(queue, "--undo", other)


@pytest.mark.case(24)
def test_undo_restores_every_byte(queue: World) -> None:
    """Also of what is not staged, not tracked, or staged and not committed."""
    edited = queue.patches / "0021-b.patch"
    edited.write_bytes(edited.read_bytes().replace(b"Because.", b"Because of me."))
    git(queue.root, "rm", "-q", "--cached", "patches/0022-b.patch")
    (queue.patches / "notes.txt").write_text("mine\n", encoding="utf-8")
    git(queue.root, "add", "patches/notes.txt")
    before = _state(queue)
    _write(queue, _plan(queue))
    assert b"Because of me." in (queue.patches / "0022-b.patch").read_bytes()
    assert "?? patches/0023-b.patch" in git(queue.root, "status", "--porcelain")
    _undo(queue)
    assert _state(queue) == before


def test_undo_restores_permissions(queue: World) -> None:
    (queue.patches / "0021-b.patch").chmod(0o755)
    before = _state(queue)
    _write(queue, _plan(queue))
    _undo(queue)
    assert _state(queue) == before


@pytest.mark.case(24)
def test_undo_keeps_what_was_done_since(queue: World) -> None:
    _write(queue, _plan(queue))
    (queue.patches / "0023-b.patch").write_bytes(b"mine\n")
    with pytest.raises(UndoRefused, match=r"patches/0023-b\.patch"):
        _undo(queue)
    assert _names(queue) == AFTER
    assert (queue.patches / "0023-b.patch").read_bytes() == b"mine\n"


@pytest.mark.case(24)
def test_what_changed_since_the_plan_is_not_overwritten(queue: World) -> None:
    plan = _plan(queue)
    moving = queue.patches / "0022-b.patch"
    content = moving.read_bytes()
    moving.write_bytes(b"mine\n")
    with pytest.raises(ChangedMeanwhile, match=r"patches/0022-b\.patch"):
        _write(queue, plan)
    assert (_names(queue), moving.read_bytes()) == (BEFORE, b"mine\n")
    moving.write_bytes(content)
    (queue.patches / "0030-new.patch").write_bytes(content)
    with pytest.raises(NotAsPlanned, match=r"patches/0030-new\.patch") as caught:
        _write(queue, plan)
    assert caught.value.exit_status == 5
    _undo(queue)
    assert _names(queue) == [*BEFORE, "0030-new.patch"]


def test_in_the_middle_of_a_merge_with_conflicts(queue: World) -> None:
    for branch, word in (("one", b"One."), ("two", b"Two.")):
        switch(queue, branch, "main")
        file = queue.patches / "0021-b.patch"
        file.write_bytes(file.read_bytes().replace(b"Because.", word))
        commit(queue, branch)
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    merge = ["git", "-C", str(queue.root), *identity, "merge", "-q", "one"]
    assert subprocess.run(merge, capture_output=True, check=False).returncode == 1
    before = _state(queue)
    with pytest.raises(UnmergedPatches, match=r"patches/0021-b\.patch"):
        _write(queue, _plan(queue))
    assert _state(queue) == before


@pytest.mark.case(23)
def test_any_command_finishes_what_a_killed_one_began(queue: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    plan = _plan(queue)
    with monkeypatch.context() as patched:
        patched.setattr(settling, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            _write(queue, plan)
    assert [name for name in _names(queue) if name[0] != "."] == BEFORE
    CliRunner().invoke(app, ["-C", str(queue.root), "list"])
    assert _names(queue) == AFTER
    assert git(queue.root, "diff", "--name-only") == ""
    _undo(queue)
    assert git(queue.root, "status", "--porcelain") == ""


@pytest.mark.thorough
@pytest.mark.case(23)
def test_killed_at_random_moments(queue: World) -> None:
    """SIGKILL, then any other command: all of it happened, or nothing."""
    before = _state(queue)
    command = [sys.executable, "-m", "skippy_patches", "renumber", "--write"]
    for _ in range(2):  # the second time it has the pin
        begin = time.monotonic()
        subprocess.run(command, cwd=queue.root, check=True, capture_output=True)
        whole = time.monotonic() - begin
        after = _state(queue)
        _undo(queue)
    chance = random.Random(20261201)
    written, wait = 0, whole * 0.7
    for _ in range(25):
        with subprocess.Popen(
            command, cwd=queue.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(wait)
            process.kill()
        (queue.root / ".git/index.lock").unlink(missing_ok=True)  # as its message says
        assert queue.run("list").returncode == 0
        found = _state(queue)
        assert found in (before, after)  # not a third thing
        step = chance.uniform(1.0, 1.1)  # towards the moment of writing, however fast the machine is now
        if found == after:
            written, wait = written + 1, wait / step
            _undo(queue)
        else:
            wait *= step
        assert _state(queue) == before
    assert 0 < written < 25
