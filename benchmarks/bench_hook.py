"""CPU of skippy-patches-check against bare Python: `python benchmarks/bench_hook.py [RUNS]`.

Exit status 1 when a case needs more than LIMIT times `python -c pass`, children included.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from side_by_side import environment, medians, report

LIMIT = 5.0
CONFIG = """\
upstream:
  repository: https://example.org/llama.cpp.git
  commit: 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840
queue: patches
"""
PATCH = """\
From 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840 Mon Sep 17 00:00:00 2001
From: A U Thor <author@example.org>
Date: Thu, 1 Jan 2026 12:00:00 +0000
Subject: [PATCH] change {number}

Say why.
---
diff --git a/src/file{number}.cpp b/src/file{number}.cpp
index 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840..2968e57b2968e57b2968e57b2968e57b2968e57b 100644
--- a/src/file{number}.cpp
+++ b/src/file{number}.cpp
"""


def main() -> int:
    """Measure, print the table and judge."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    with tempfile.TemporaryDirectory(prefix="bench-hook-") as folder:
        cases = _cases(Path(folder))
        taken = medians(cases, environment(Path(folder)), runs)
    # A hundred patches are shown for the slope; the promise is about a queue of twenty.
    return report(taken, {name: LIMIT for name in cases if "100" not in name})


def _cases(folder: Path) -> dict[str, list[str]]:
    cases = {}
    for patches in (0, 20, 100):
        project = make_project(folder / str(patches), patches)
        cases[f"check, {patches} patches"] = hook(project)
        cases[f"check --staged, {patches} patches"] = hook(project, "--staged")
    return cases


def hook(project: Path, *options: str) -> list[str]:
    """The command line of the hook, in this Python."""
    program = str(Path(sysconfig.get_path("scripts")) / "skippy-patches-check")
    return [sys.executable, program, "-C", str(project), *options]


def make_project(project: Path, patches: int) -> Path:
    """A repository whose index holds a queue of so many patches without fault."""
    lane = project / "patches"
    lane.mkdir(parents=True)
    (project / "skippy-patches.yaml").write_text(CONFIG)
    (lane / "README").write_text("The queue.\n")
    for number in range(1, patches + 1):
        (lane / f"{number:04}-change.patch").write_text(_patch(number))
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(project), *command], check=True)
    return project


def _patch(number: int) -> str:
    """About 6 kB: ten hunks of a dozen lines."""
    hunk = (
        " context line\n" * 3
        + "-a line that goes away\n" * 3
        + "+a line that comes in\n" * 5
        + " context line\n" * 3
    )
    headers = (f"@@ -{at},9 +{at},11 @@ void function()\n" for at in range(1, 1001, 100))
    return PATCH.format(number=number) + "".join(header + hunk for header in headers) + "-- \n2.39.5\n\n"


if __name__ == "__main__":
    sys.exit(main())
