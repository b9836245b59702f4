"""Runs the long programs: every line to a log and to a listener, and no process left behind."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

GRACE = 10.0  # seconds between asking a process group to end and killing it
TAIL = 400  # lines kept for error messages


def run(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: BinaryIO,
    folder: Path,
    listen: Callable[[str], None],
) -> tuple[int, tuple[str, ...]]:
    """Run a program with stdout and stderr in `log`, and hand each line to `listen`.

    Returns its status and its last lines. When anything interrupts (^C above all), the whole process
    group is ended first: ninja takes its compilers with it, ctest its test.
    """
    log.write(("$ " + " ".join(arguments) + "\n").encode("utf-8", "surrogateescape"))
    log.flush()
    tail: collections.deque[str] = collections.deque(maxlen=TAIL)
    process = subprocess.Popen(
        arguments,
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # a group of its own, and ^C reaches it through us only
    )
    assert process.stdout is not None  # noqa: S101 - for the type checker: stdout is a pipe
    try:
        with process.stdout as stream:
            for raw in stream:
                log.write(raw)
                log.flush()
                line = raw.decode("utf-8", "replace").rstrip("\n")
                tail.append(line)
                listen(line)
        return process.wait(), tuple(tail)
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return
