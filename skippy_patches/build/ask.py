"""Asks a program a short question: with a time limit, whatever it prints, and with nothing left running.

A program that hangs may be a script that waits for another one, so each is a group of its own, which is ended
as a whole: when its time is over, and when this process ends before that.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Programs that have not answered yet, and what they were asked.
_waiting: dict[subprocess.Popen[bytes], str] = {}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """What a program said. status: None: it did not start, or not answer in time; `problem` says so."""

    status: int | None
    out: str = ""
    err: str = ""
    problem: str = ""


def ask(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    given: str = "",
    timeout: float,
    is_merged: bool = False,
) -> Answer:
    """Start it and wait. given: its standard input. timeout: seconds. is_merged: `out` holds both streams."""
    words = [str(word) for word in command]
    try:
        process = subprocess.Popen(
            words,
            env=None if environment is None else dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if is_merged else subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Answer(status=None, problem=getattr(error, "strerror", None) or str(error))
    _waiting[process] = " ".join(words)
    try:
        out, err = process.communicate(given.encode(), timeout)
    except subprocess.TimeoutExpired:
        return Answer(status=None, problem=f"It did not answer within {timeout:g} s: {' '.join(words)}")
    finally:
        _waiting.pop(process, None)
        if process.returncode is None:
            _end(process)
    return Answer(status=process.returncode, out=_text(out), err=_text(err or b""))


def waiting() -> tuple[str, ...]:
    """The command lines of programs that have not answered yet."""
    return tuple(dict.fromkeys(list(_waiting.values())))


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").replace("\0", "")


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


@atexit.register
def _end_all() -> None:
    for process in list(_waiting):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
