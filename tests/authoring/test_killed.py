"""kill -9 at any moment of refresh, edit, continue and abort: the same command again, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.apply import move
from skippy_patches.authoring.edit import conflict
from skippy_patches.authoring.edit.errors import Conflict, Unresolved
from tests.authoring.desk import (
    FILE,
    abort,
    amend,
    commit,
    conflicting,
    contents,
    edit,
    go_on,
    names,
    run,
    source,
    stop,
    three_patches,
)
from tests.authoring.test_sequence import in_conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.world import World

MANY = 25


def start(world: World, *command: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "skippy_patches", *command]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(program, cwd=world.root, stdout=quiet, stderr=quiet, start_new_session=True)


def kill(world: World, chance: random.Random, whole: float, *command: str) -> None:
    """Half of the kills hit the process alone, so that its git child lives on; half hit both."""
    process = start(world, *command)
    time.sleep(chance.uniform(0.3, 1) * whole)  # python alone takes the first third
    if chance.random() < 0.5:
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def seconds(world: World, *command: str) -> float:
    begin = time.monotonic()
    assert start(world, *command).wait() in (0, 4)
    return time.monotonic() - begin


@pytest.mark.case(23)
def test_refresh_once(project: World) -> None:
    three_patches(project)
    edit(project, 27, "more")
    commit(project, "More\n")
    kill(project, random.Random(16), 0.6, "refresh")
    run(project)
    assert names(project)[-1] == "0005-More.patch"
    assert not project.apply().moved


@pytest.mark.case(23)
@pytest.mark.thorough
def test_refresh(project: World) -> None:
    three_patches(project)
    edit(project, 27, "more")
    commit(project, "More\n")
    whole = seconds(project, "refresh")
    chance = random.Random(17)
    for attempt in range(MANY):
        text = f"attempt {attempt}\n"
        (project.checkout / "docs/readme.md").write_text(text, encoding="utf-8")
        amend(project)
        kill(project, chance, whole, "refresh")
        if attempt % 2:
            done = project.run("apply")  # it finishes a refresh that wrote its files, and refuses another
            assert done.returncode in (0, 5), done.stderr
        done = project.run("refresh")
        assert done.returncode == 0, done.stderr
        assert (project.checkout / "docs/readme.md").read_text(encoding="utf-8") == text
        assert names(project)[3:] == ["0005-More.patch"]
        assert f"+attempt {attempt}\n".encode() in contents(project)["0005-More.patch"]
        assert not project.apply().moved
        assert project.inside("status", "--porcelain") == ""


@pytest.mark.thorough
def test_two_at_once_wait_for_each_other(project: World) -> None:
    three_patches(project)
    edit(project, 27, "more")
    commit(project, "More\n")
    both = [start(project, "refresh"), start(project, "refresh")]
    assert [process.wait() for process in both] == [0, 0]
    assert names(project)[3:] == ["0005-More.patch"]
    assert not project.apply().moved


@pytest.mark.case(23)
@pytest.mark.thorough
def test_edit_and_continue(project: World) -> None:
    three_patches(project)
    original = project.inside("rev-parse", "HEAD")
    whole = seconds(project, "edit", "2")
    rest = seconds(project, "continue")
    chance = random.Random(18)
    for attempt in range(MANY):
        kill(project, chance, whole, "edit", "2")
        done = project.run("edit", "2")
        assert done.returncode == 0, done.stderr
        edit(project, 12, f"attempt{attempt}")
        amend(project)
        kill(project, chance, rest, "continue")
        done = project.run("continue")
        assert done.returncode == 0 or "No edit is stopped" in done.stderr
        assert f"attempt{attempt}_12_2" in source(project)
        assert "step_21_4" in source(project)
        assert project.inside("rev-list", "--count", f"{project.pin}..HEAD") == "3"
        assert project.inside("status", "--porcelain") == ""
        assert project.run("refresh", "--dry-run").returncode == 1
        project.inside("reset", "-q", "--hard", original)


@pytest.mark.case(23)
@pytest.mark.thorough
def test_conflict_and_abort(project: World) -> None:
    original = in_conflict(project)
    chance = random.Random(19)
    whole = seconds(project, "edit", "--abort")
    for attempt in range(MANY):
        stop(project, 1)
        (project.checkout / FILE).write_text(
            source(project).replace("one()", f"uno{attempt}()"), encoding="utf-8"
        )
        amend(project)
        amended = project.inside("rev-parse", "HEAD")
        kill(project, chance, whole, "continue")
        assert project.run("continue").returncode in (4, 5)
        assert project.inside("status", "--porcelain") == f"UU {FILE}"
        assert project.inside("rev-parse", "HEAD") == amended
        text = source(project)
        assert f"<<<<<<< yours\nvoid uno{attempt}() {{\n=======\nvoid two() {{\n" in text
        kill(project, chance, whole, "edit", "--abort")
        done = project.run("edit", "--abort")
        assert done.returncode == 0 or "No edit is stopped" in done.stderr
        assert project.inside("rev-parse", "HEAD") == original
        assert project.inside("status", "--porcelain") == ""
        saved = project.inside(
            "for-each-ref", "--format=%(refname)", "--contains", amended, "refs/skippy/saved"
        )
        assert f"uno{attempt}()" in project.inside("show", f"{saved.splitlines()[-1]}:{FILE}")


@pytest.mark.case(23)
@pytest.mark.parametrize(
    "steps", [1, *(pytest.param(each, marks=pytest.mark.thorough) for each in (0, 2, 3))]
)
def test_a_conflict_that_was_placed_in_part(
    project: World, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Interrupted behind the move, the index, the branch and the note."""
    head = conflicting(project)
    with monkeypatch.context() as patch:
        for module, name in (
            (move, "carry_out"),
            (conflict, "_tell_index"),
            (conflict, "_go_back"),
            (move, "settle_edit"),
        )[steps : steps + 1]:
            patch.setattr(module, name, _interrupted_behind(getattr(module, name)))
        with pytest.raises(KeyboardInterrupt):
            go_on(project)
    with pytest.raises((Conflict, Unresolved)):
        go_on(project)
    assert project.inside("status", "--porcelain") == f"UU {FILE}"
    assert abort(project).saved
    assert project.inside("rev-parse", "HEAD") == head


def _interrupted_behind(real: Callable[..., Any]) -> Callable[..., Any]:
    def interrupted(*arguments: Any) -> None:
        real(*arguments)
        raise KeyboardInterrupt

    return interrupted
