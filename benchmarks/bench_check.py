"""How the check's CPU grows with the queue: `python benchmarks/bench_check.py [RUNS]`.

Exit status 1 when a queue needs more than its limit times the CPU of a smaller one, children included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench_hook import hook, make_project
from side_by_side import environment, medians, report

SIZES = (20, 100, 200, 1000)
# (larger, smaller) -> how many times the CPU. Up to 200 patches the start of Python is most of it, so ten
# times the patches may cost three times as much. Beyond, the patches are: linear is at most five times for
# five times as many, less what the start takes; 15 % more are for memory that the caches no longer hold.
LIMITS = {(200, 20): 3.0, (1000, 200): 5 * 1.15}
WAYS: dict[str, tuple[str, ...]] = {"check": (), "check --staged": ("--staged",)}


def main() -> int:
    """Measure, print both tables and judge."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory(prefix="bench-check-") as name:
        folder = Path(name)
        projects = {size: make_project(folder / str(size), size) for size in SIZES}
        cases = {
            _case(way, size): hook(project, *options)
            for size, project in projects.items()
            for way, options in WAYS.items()
        }
        taken = medians(cases, environment(folder), runs)
    report(taken, {})
    return _growth(taken)


def _growth(taken: dict[str, float]) -> int:
    print(f"\n{'growth':34} {'':8} {'ratio':>7} {'limit':>7}")
    over = False
    for way in WAYS:
        for (larger, smaller), limit in LIMITS.items():
            ratio = taken[_case(way, larger)] / taken[_case(way, smaller)]
            over = over or ratio > limit
            told = "  over the limit" if ratio > limit else ""
            print(f"{f'{way}, {larger} against {smaller}':34} {'':8} {ratio:7.2f} {limit:7.2f}{told}")
    return 1 if over else 0


def _case(way: str, size: int) -> str:
    return f"{way}, {size} patches"


if __name__ == "__main__":
    sys.exit(main())
