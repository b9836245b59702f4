"""kill -9 at any moment of an apply, then another apply: clean, the same commit, nothing lost."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from skippy_patches import lock
from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import move
from skippy_patches.apply.errors import ForeignWork
from skippy_patches.apply.stage import Request
from tests.apply.scenario import apply_queue, author_queue
from tests.world import Recorder, World

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout


def _start(world: World) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "skippy_patches", "apply"]
    return subprocess.Popen(
        command, cwd=world.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _seconds(world: World) -> float:
    begin = time.monotonic()
    assert _start(world).wait() == 0
    return time.monotonic() - begin


@pytest.mark.case(23)
@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.thorough)])
def test_killed_at_random_moments(world: World, kills: int) -> None:
    """Half of the kills hit the process alone, so that its git child lives on; half hit both."""
    author_queue(world)
    whole = _seconds(world)
    expected = world.inside("rev-parse", "HEAD")
    last = world.patches / "0009-last.patch"
    content = last.read_bytes()
    chance = random.Random(20261201)
    for attempt in range(kills):
        last.write_bytes(content.replace(b"\n+new\n", f"\n+new {attempt}\n".encode()))
        process = _start(world)
        time.sleep(chance.uniform(0, whole))
        if attempt % 2:
            process.kill()
        else:
            _kill_group(process)
        process.wait()
    last.write_bytes(content)
    outcome = world.apply()
    assert outcome.applied.patched.commit == expected
    assert world.inside("status", "--porcelain") == ""
    assert world.inside("symbolic-ref", "HEAD") == "refs/heads/skippy"
    assert not (world.checkout / ".git/index.lock").exists()
    assert (world.checkout / "docs/new/deep.md").read_text(encoding="utf-8") == "new\n"


@pytest.mark.case(23)
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.thorough)])
def test_killed_while_the_checkout_is_made(world: World, kills: int) -> None:
    """From nothing: the repository, the pin's objects, the first files."""
    author_queue(world)
    whole = _seconds(world)
    expected = world.inside("rev-parse", "HEAD")
    chance = random.Random(23)
    for _ in range(kills):
        shutil.rmtree(world.checkout)
        process = _start(world)
        time.sleep(chance.uniform(0, whole))
        _kill_group(process)
        process.wait()
        assert world.apply().applied.patched.commit == expected
        assert world.inside("status", "--porcelain") == ""
        assert not list(world.checkout.parent.glob(".llama.cpp.new*"))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _checkout(world: World) -> Checkout:
    checkout = checkouts.open_existing(world.checkout)
    assert checkout is not None
    return checkout


def _interrupted(world: World) -> move.Move:
    """A move from the pin to the whole queue that was killed after it wrote its journal."""
    tip = apply_queue(world).patched.commit
    world.apply(Request(to=0))
    checkout = _checkout(world)
    pending = move.Move.plan(checkouts.standing(checkout), tip)
    checkout.journal.write_text(json.dumps(dataclasses.asdict(pending)), encoding="utf-8")
    checkout.running.write_bytes(b"")
    return pending


def _half_done(world: World, pending: move.Move) -> None:
    """Files as a killed git leaves them: some new, one half written, one removed and not yet written."""
    new = world.inside("show", f"{pending.new}:src/llama.cpp")
    (world.checkout / "src/llama.cpp").write_text(new[:100], encoding="utf-8")
    (world.checkout / "docs/new").mkdir()
    (world.checkout / "docs/new/deep.md").write_text("new\n", encoding="utf-8")
    (world.checkout / "src/trailing.txt").unlink()
    (world.checkout / ".git/index.lock").write_bytes(b"")


@pytest.mark.case(23)
def test_an_interrupted_move_is_finished(world: World) -> None:
    pending = _interrupted(world)
    _half_done(world, pending)
    reporter = Recorder()
    outcome = world.apply(reporter=reporter)
    assert any("Finishing an interrupted move" in step for step in reporter.steps)
    assert outcome.applied.patched.commit == pending.new
    assert world.inside("status", "--porcelain") == ""


@pytest.mark.case(23, 24)
def test_work_done_after_the_interruption_is_not_lost(world: World) -> None:
    pending = _interrupted(world)
    _half_done(world, pending)
    (world.checkout / ".git/index.lock").unlink()
    (world.checkout / "src/windows.txt").write_text("mine\n", encoding="utf-8")
    with pytest.raises(ForeignWork, match=r"src/windows\.txt: is as in no tree of this move"):
        world.apply()
    assert (world.checkout / "src/windows.txt").read_text(encoding="utf-8") == "mine\n"
    outcome = world.apply(Request(discard=True))
    assert outcome.applied.patched.commit == pending.new
    assert world.inside("show", f"{outcome.saved}:src/windows.txt") == "mine"
    assert world.inside("status", "--porcelain") == ""


def test_status_tells_of_an_interrupted_move(world: World) -> None:
    _interrupted(world)
    assert "killed while it moved" in world.run("status").stdout


@pytest.mark.case(23)
def test_two_at_once_wait_for_each_other(world: World) -> None:
    author_queue(world)
    both = [_start(world), _start(world)]
    assert [process.wait() for process in both] == [0, 0]
    assert world.inside("rev-list", "--count", f"{world.pin}..HEAD") == "7"


def _commits(world: World) -> str:
    (world.checkout / "mine.c").write_text("precious\n", encoding="utf-8")
    world.inside("add", "mine.c")
    world.inside("commit", "-q", "-m", "Mine")
    return "mine.c"


def _stages(world: World) -> str:
    (world.checkout / "mine.c").write_text("precious\n", encoding="utf-8")
    world.inside("add", "mine.c")
    return "mine.c"


def _stages_an_edit_and_takes_it_back(world: World) -> str:
    """Only the index holds it then."""
    file = world.checkout / "src/trailing.txt"
    before = file.read_bytes()
    file.write_text("precious\n", encoding="utf-8")
    world.inside("add", "src/trailing.txt")
    file.write_bytes(before)
    return "src/trailing.txt"


def _switches(world: World) -> str:
    world.inside("checkout", "-q", "-b", "mine")
    return "HEAD"


def _deletes(world: World) -> str:
    (world.checkout / ".gitignore").unlink()
    return ".gitignore"


@pytest.mark.case(23, 24)
@pytest.mark.parametrize(
    "work",
    [
        _commits,
        _stages,
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in (_stages_an_edit_and_takes_it_back, _switches, _deletes)
        ),
    ],
)
@pytest.mark.parametrize("moved", [False, True], ids=["before the move", "after the move"])
def test_work_between_a_kill_and_the_next_apply(world: World, work: object, moved: bool) -> None:
    """Whether the killed command had moved everything but its journal, or nothing."""
    assert callable(work)
    pending = _interrupted(world)
    if moved:
        journal = _checkout(world).journal.read_bytes()
        world.apply()
        _checkout(world).journal.write_bytes(journal)
    said = work(world)
    head = world.inside("rev-parse", "HEAD")
    with pytest.raises(ForeignWork, match=said):
        world.apply()
    assert world.inside("rev-parse", "HEAD") == head
    outcome = world.apply(Request(discard=True))
    assert outcome.applied.patched.commit == pending.new
    assert outcome.saved is not None
    if said not in ("HEAD", ".gitignore"):
        assert "precious" in world.inside("log", "-p", "-m", "--format=%H", outcome.saved)
    assert world.inside("status", "--porcelain") == ""


def test_the_lock_outlives_its_killed_holder_as_long_as_a_child_lives(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    program = (
        "import subprocess, sys, pathlib\n"
        "from skippy_patches import lock\nfrom skippy_patches.progress import Silent\n"
        "with lock.hold(pathlib.Path(sys.argv[1]), Silent()) as descriptor:\n"
        "    subprocess.Popen(['sleep', '1'], pass_fds=(descriptor,), stdout=subprocess.DEVNULL)\n"
        "    print('held', flush=True)\n    input()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        begin = time.monotonic()
        holder.kill()
    reporter = Recorder()
    with lock.hold(file, reporter):
        assert time.monotonic() - begin > 0.5
    assert f"Waiting for process {holder.pid}" in reporter.steps[0]
