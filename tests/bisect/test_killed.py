"""A search that is killed in the middle: the clone is as it was, and the project's scratch is gone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bisect.conftest import Ground

_DAY = 24 * 3600


@pytest.mark.thorough
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_killed_in_the_middle(ground: Ground, tmp_path: Path, stop: signal.Signals) -> None:
    upstream, scratch = ground.world.upstream, ground.world.project().state
    before = {file: file.read_bytes() for file in upstream.rglob("*") if file.is_file()}

    process = _search_that_hangs(ground, tmp_path)
    assert list(scratch.glob("trial-*"))
    process.send_signal(stop)
    status = process.wait()

    assert {file: file.read_bytes() for file in upstream.rglob("*") if file.is_file()} == before
    left = list(scratch.glob("trial-*"))
    if stop is signal.SIGKILL:
        for folder in left:  # the next command removes it once it is a day old: until then it may be in use
            os.utime(folder, (time.time() - _DAY - 1,) * 2)
        assert ground.run(4, "--bad", "l8").returncode == 0
        assert not list(scratch.glob("trial-*"))
    else:
        assert status == 130
        assert left == []


def _search_that_hangs(ground: Ground, tmp_path: Path) -> subprocess.Popen[bytes]:
    """Started, and seen to wait for a git that does not answer when the first commit is judged."""
    seen, program = tmp_path / "seen", tmp_path / "bin/git"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "bisect bad" ] && touch {seen} && exec sleep 20\nexec {real} "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    tree = os.environ.get("PYTHONPATH", os.getcwd())  # noqa: PTH109 - a variable's value
    process = subprocess.Popen(
        [sys.executable, "-m", "skippy_patches", "bisect", "4", "--bad", "l8"],
        cwd=ground.world.root,
        env={**os.environ, "PATH": path, "PYTHONPATH": tree},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not seen.exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process
