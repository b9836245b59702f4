"""Ratios that can be trusted on a busy machine: every command in turn, again and again, in one run."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PASS = "python -c pass"


def environment(folder: Path) -> dict[str, str]:
    """As after pip install: byte code is there for every module, and nobody's settings are."""
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "GIT_", "SKIPPY_"))
    }
    return kept | {
        "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
        "SKIPPY_PATCHES_CACHE_DIR": str(folder / "cache"),
    }


def cpu(command: list[str], env: dict[str, str]) -> float:
    """User and system time of a command and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(cases: dict[str, list[str]], env: dict[str, str], runs: int) -> dict[str, float]:
    """The median CPU seconds of each case; bare Python is one of them."""
    commands = {PASS: [sys.executable, "-c", "pass"], **cases}
    for command in commands.values():  # writes the byte code, warms the disk cache
        cpu(command, env)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(cpu(command, env))
    return {name: statistics.median(taken) for name, taken in times.items()}


def report(taken: dict[str, float], limits: dict[str, float]) -> int:
    """Print a table of ratios to bare Python; 1 when a case is over its limit, else 0."""
    over = False
    print(f"{'case':34} {'CPU ms':>8} {'ratio':>7} {'limit':>7}")
    for name, seconds in taken.items():
        ratio, limit = seconds / taken[PASS], limits.get(name)
        is_over = limit is not None and ratio > limit
        over = over or is_over
        shown = f"{limit:7.2f}" if limit else f"{'':7}"
        print(f"{name:34} {seconds * 1e3:8.1f} {ratio:7.2f} {shown}{'  over the limit' if is_over else ''}")
    return 1 if over else 0
