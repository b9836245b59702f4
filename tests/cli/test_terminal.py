"""On a terminal: bars and colours; the same command in a pipe: plain lines. ^C: 130, and nothing lost."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.apply.scenario import author_queue
from tests.renumber.branches import Author

if TYPE_CHECKING:
    from tests.world import World


def _on_a_terminal(world: World, *arguments: str, columns: int = 100) -> tuple[int, str]:
    """Run the command line on a pseudo-terminal; its status and everything it wrote."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "skippy_patches", *arguments]
    process = subprocess.Popen(command, cwd=world.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while chunk := os.read(ours, 65536):
            written += chunk
    os.close(ours)
    return process.wait(), written.decode()


def test_progress_is_a_bar_on_a_terminal(world: World) -> None:
    author_queue(world)
    status, written = _on_a_terminal(world, "apply")
    assert status == 0
    assert "━" in written
    assert "Applying" in written
    assert "100%" in written
    assert "Applied 7 patches" in written


def test_progress_is_plain_lines_in_a_pipe(world: World) -> None:
    author_queue(world)
    done = world.start("apply")
    assert done.stderr.splitlines()[-1] == "Applying ..."
    assert "━" not in done.stderr
    assert done.stdout.count("\n") == 1


def test_facts_are_not_folded_on_a_narrow_terminal(world: World) -> None:
    author_queue(world)
    status, written = _on_a_terminal(world, "status", columns=40)
    assert status == 0
    assert f"pin       b1 {world.pin}\r\n" in written
    assert f"checkout  {world.checkout}: not there yet: skippy-patches apply makes it\r\n" in written


@pytest.mark.parametrize(
    ("module", "closed"), [("__main__", ">&-"), ("__main__", "<&- >&- 2>&-"), ("hook", ">&- 2>&-")]
)
def test_a_stream_that_is_closed_is_no_failure(world: World, module: str, closed: str) -> None:
    world.add(1, "first", {"docs/readme.md": "# First\n"})
    run = f"from skippy_patches import {module}; {module}.main()"
    words = ["check"] if module == "__main__" else []
    script = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", run, *words]
    done = subprocess.run(script, cwd=world.root, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_is_started_inherits_a_stream_that_was_closed(world: World) -> None:
    run = (
        "import subprocess, sys\n"
        "from skippy_patches.streams import open_closed\n"
        "open_closed()\n"
        "sys.exit(subprocess.run(['sh', '-c', 'test -e /dev/fd/1'], check=False).returncode)"
    )
    script = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", run]
    assert subprocess.run(script, cwd=world.root, check=False).returncode == 0


def test_errors_are_red_on_a_terminal(world: World) -> None:
    status, written = _on_a_terminal(world, "apply", "--to", "3")
    assert status == 2
    assert "\x1b[1;31merror: " in written


LONG = 100


def _author_a_long_queue(world: World) -> None:
    """Long enough to be hit while it is applied."""
    author = Author(lane=world.patches)
    for number in range(1, LONG + 1):
        author.add(number, "change", "counter.txt")


def test_interrupt(world: World) -> None:
    """The next apply finds nothing broken."""
    _author_a_long_queue(world)
    command = [sys.executable, "-m", "skippy_patches", "apply"]
    process = subprocess.Popen(
        command, cwd=world.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"Applying"):
                break
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in said
    outcome = world.apply()
    assert len(outcome.applied.patches) == LONG
    assert world.inside("status", "--porcelain") == ""


def test_a_cancelled_job_ends_as_an_interrupted_one(world: World) -> None:
    _author_a_long_queue(world)
    command = [sys.executable, "-m", "skippy_patches", "apply"]
    process = subprocess.Popen(command, cwd=world.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"Applying"):
                break
        process.terminate()
        process.stderr.read()
    assert process.returncode == 130
    assert len(world.apply().applied.patches) == LONG
