"""Runs the cases: one process a run, in turns A B B A, each with a server of its own where it needs one."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from kv_page_prefixes import BENCH, SERVER, BenchError, Prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kv_page_cases import Arm, Case

HOST = "127.0.0.1"
_START = 30.0  # seconds for a server to answer
_LIMIT = 3600  # seconds for one run
_SAME = ("tokens", "layers", "layout", "pattern", "bytes", "runs", "checksum")  # for both arms of a case


def run(case: Case, prefixes: Mapping[str, Prefix], *, tokens: int, rounds: int) -> Iterator[dict[str, Any]]:
    """One record a process: case, arm, round and the object that the program printed. Raises BenchError.

    The program compares every page with what it must hold. That both arms moved the same is checked here.
    """
    first: dict[str, Any] = {}
    for number in range(rounds):
        for arm in case.arms if number % 2 == 0 else case.arms[::-1]:
            result = _measure(case, arm, prefixes[arm.prefix], tokens)
            shape = {key: result[key] for key in _SAME}
            first = first or shape
            if shape != first:
                raise BenchError(f"{case.name}: the arms moved different pages, {first} and {shape}")
            yield {"case": case.name, "arm": arm.prefix, "round": number, "result": result}


def _measure(case: Case, arm: Arm, prefix: Prefix, tokens: int) -> dict[str, Any]:
    repeat = ["--repeat", str(arm.repeat)] if arm.repeat else ["--repeat", "1", "--no-warm-up"]
    line = [
        str(prefix.program(BENCH)),
        *("--tokens", str(tokens), "--only", ",".join(arm.only), *repeat, *case.options),
    ]
    if not case.rpc:
        return _run(line)
    with _server(prefix) as endpoint:
        return _run([*line, "--device", f"rpc:{endpoint}"])


def _run(line: list[str]) -> dict[str, Any]:
    try:
        done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=_LIMIT)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"no end after {_LIMIT} s: {' '.join(line)}") from error
    if done.returncode != 0:
        raise BenchError(f"exit status {done.returncode}: {' '.join(line)}\n{done.stderr.rstrip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@contextlib.contextmanager
def _server(prefix: Prefix) -> Iterator[str]:
    """A server on a free port of this machine: its address. It is stopped in the end."""
    with tempfile.TemporaryFile() as log:
        port = _free_port()
        line = [str(prefix.program(SERVER)), "--host", HOST, "--port", str(port)]
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            if not _answers(process, port):
                log.seek(0)
                said = log.read().decode(errors="replace").rstrip()
                raise BenchError(f"the server does not answer: {' '.join(line)}\n{said}")
            yield f"{HOST}:{port}"
        finally:
            process.terminate()
            process.wait()


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + _START
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return True
        time.sleep(0.05)
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
