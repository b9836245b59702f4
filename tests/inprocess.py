"""The command line in this process: a tenth of what a process of its own takes, for tests of what it says."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import signal
import sys
from typing import TYPE_CHECKING
from unittest import mock

import typer.main

from skippy_patches import __main__ as entry
from skippy_patches.cli import app as application

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@functools.cache
def _command() -> Callable[..., object]:
    """All commands, made once: typer makes them anew in every call, which is most of what many tests take."""
    return typer.main.get_command(application.app)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Done:
    """As subprocess.CompletedProcess has it."""

    returncode: int
    stdout: str
    stderr: str


def glance(folder: Path, *arguments: str) -> str | None:
    """What the program answers before it starts the command line; None: it starts it."""
    with contextlib.chdir(folder):
        return entry._at_a_glance(arguments)


def run(folder: Path, *arguments: str, env: Mapping[str, str] | None = None, encoding: str = "utf-8") -> Done:
    """Run the command line as if it were started in `folder`. encoding: what its output can write."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, errors="surrogateescape") for _ in range(2))
    before = signal.getsignal(signal.SIGTERM)
    named = functools.partial(_command(), prog_name="skippy-patches")  # it is pytest's process
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, {"COLUMNS": "200", **(env or {})}),
        mock.patch.object(application, "app", named),
        mock.patch.multiple(sys, argv=["skippy-patches", *arguments], stdout=out, stderr=err),
    ):
        try:
            application.run()
            status: object = 0
        except SystemExit as exit_:
            status = exit_.code or 0
        finally:
            signal.signal(signal.SIGTERM, before)
    assert isinstance(status, int)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))
    return Done(returncode=status, stdout=texts[0], stderr=texts[1])
