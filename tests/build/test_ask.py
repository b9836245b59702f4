from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from skippy_patches.build.ask import ask, waiting
from tests.build.fakecuda import script

if TYPE_CHECKING:
    from pathlib import Path


def test_status_and_both_streams_whatever_they_hold(tmp_path: Path) -> None:
    program = script(tmp_path / "ein Ü", "#!/bin/sh\ncat\nprintf '\\377\\0x'\necho oh >&2\nexit 3\n")

    answer = ask([program], given="ü", timeout=20)

    assert (answer.status, answer.out, answer.err, answer.problem) == (3, "ü\ufffdx", "oh\n", "")
    assert ask([program], timeout=20, is_merged=True).out == "\ufffdxoh\n"


def test_what_does_not_start_or_reads_nothing(tmp_path: Path) -> None:
    assert ask([tmp_path / "none"], timeout=20).problem == "No such file or directory"
    assert ask([script(tmp_path / "empty", "")], timeout=20).problem == "Exec format error"
    assert ask(["true"], given="x" * (1 << 20), timeout=20).status == 0


def test_what_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "note"
    program = script(tmp_path / "hangs", f"#!/bin/sh\nsleep 100 & echo $! > {note}; wait\n")

    answer = ask([program, "--version"], timeout=0.3)

    assert answer.status is None
    assert answer.problem == f"It did not answer within 0.3 s: {program} --version"
    assert waiting() == ()
    assert not _is_running(int(note.read_text()))


def test_what_still_hangs_when_we_end_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "note"
    program = script(tmp_path / "hangs", f"#!/bin/sh\necho $$ > {note}\nexec sleep 100\n")
    code = (
        "import sys, threading, time, pathlib; from skippy_patches.build import ask\n"
        "given = {'args': (sys.argv[1:2],), 'kwargs': {'timeout': 100}}\n"
        "threading.Thread(target=ask.ask, daemon=True, **given).start()\n"
        "while not (ask.waiting() and pathlib.Path(sys.argv[2]).read_text()): time.sleep(0.01)\n"
    )
    note.touch()
    subprocess.run([sys.executable, "-c", code, program, note], check=True)

    assert not _is_running(int(note.read_text()))


def _is_running(number: int) -> bool:
    """One that was killed needs a moment; and is dead already when nobody has asked for its status yet."""
    line = ["ps", "-o", "stat=", "-p", str(number)]
    for _ in range(200):
        told = subprocess.run(line, capture_output=True, text=True, check=False).stdout
        if told.strip()[:1] in {"", "Z"}:
            return False
        time.sleep(0.02)
    return True
