"""`bisect N --once`: git bisect's exit statuses, and none of them by mistake."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skippy_patches.bisect import stage
from tests import inprocess
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bisect.conftest import Ground
    from tests.inprocess import Done


def once(ground: Ground, number: int, *words: str) -> Done:
    """In the clone, as git bisect run starts it."""
    project = ("-C", str(ground.world.root))
    return inprocess.run(ground.world.upstream, *project, "bisect", str(number), "--once", *words)


@pytest.mark.parametrize(
    ("number", "commit", "status"),
    [(4, "l4", 0), (4, "l5", 1), (3, "k3", 125), (2, "k3", 0), (3, "u3", 0), (1, "u3", 1)],
)
def test_the_statuses_are_git_s(ground: Ground, number: int, commit: str, status: int) -> None:
    done = once(ground, number, "--at", commit, "--format", "json")

    assert done.returncode == status, done.stderr
    content = json.loads(done.stdout)
    assert content["commit"] == ground.commits[commit]
    assert content["outcome"] == {0: "good", 1: "bad", 125: "skip"}[status]
    assert (content["reason"] is None) == (status == 0)


def test_what_a_person_reads(ground: Ground) -> None:
    b1 = ground.commits["b1"]
    assert once(ground, 4).stdout == f"patches/0004-elsewhere.patch applies on {b1} (good)\n"
    shown = once(ground, 3, "--at", "k3").stdout
    assert shown.startswith(
        f"patches/0003-needs-first.patch cannot be tried on {ground.commits['k3']} (skip)\n"
    )
    assert "Tried without 0001-first.patch, which does not apply there." in shown


@pytest.mark.parametrize(
    "words",
    [
        ("4", "--once", "--at", "b99"),
        ("4", "--once", "--bad", "l8"),
        ("99", "--once"),
        ("4", "--once", "--unknown"),
        ("four", "--once"),
        ("--once",),
        ("4", "--once", "--repository", "/nowhere"),
    ],
)
def test_no_error_looks_like_an_answer(ground: Ground, words: tuple[str, ...]) -> None:
    assert ground.world.run("bisect", *words).returncode == 128


def test_the_project_s_own_repository_is_no_upstream(ground: Ground, tmp_path: Path) -> None:
    """Forgotten -C or a wrong folder: the patch fails there, and no commit of upstream is bad for that."""
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "of the project")
    done = ground.run(4, "--once", "--repository", str(tmp_path))

    assert done.returncode == 128
    assert f"{tmp_path} knows no commit '{ground.commits['b1']}'." in done.stderr


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("a defect")])
def test_nor_does_a_defect_or_a_full_disk(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(stage, "once", fail)
    done = once(ground, 4)
    assert done.returncode == 128
    assert str(error.args[-1]) in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("options", [(), ("--no-checkout",)])
def test_git_bisect_run(ground: Ground, tmp_path: Path, options: tuple[str, ...]) -> None:
    """The real thing, with skips: git ends where the search does."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(ground.world.upstream), str(clone))
    program = [sys.executable, "-m", "skippy_patches", "-C", str(ground.world.root)]
    tree = os.environ.get("PYTHONPATH", os.getcwd())  # noqa: PTH109 - a variable's value
    for number, bad, expected in ((4, "l8", "l5"), (2, "k4", "k4"), (3, "u5", "u4")):
        git(clone, "bisect", "start", *options, bad, "b1")
        command = ["git", "bisect", "run", *program, "bisect", str(number), "--once"]
        env = {**os.environ, "PYTHONPATH": tree}
        done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{ground.commits[expected]} is the first bad commit" in done.stdout
        git(clone, "bisect", "reset")


@pytest.mark.thorough
def test_git_bisect_run_stops_at_an_error(ground: Ground, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(ground.world.upstream), str(clone))
    git(clone, "bisect", "start", "l8", "b1")
    program = shlex.join([sys.executable, "-m", "skippy_patches", "-C", "/nowhere", "bisect", "4", "--once"])
    with contextlib.chdir(clone):
        done = subprocess.run(["git", "bisect", "run", "sh", "-c", program], capture_output=True, check=False)
    assert done.returncode not in (0, 1)
