"""What KV pages promise about speed, measured: builds the prefixes of the queue that it needs, and judges.

    python benchmarks/bench_kv_page.py                    # about half an hour, builds aside
    python benchmarks/bench_kv_page.py --quick            # a small page, for trying it
    python benchmarks/bench_kv_page.py --write            # and fill docs/kv-page-speed.md in
    python benchmarks/bench_kv_page.py --from FILE        # judge stored runs again, measure nothing

Exit status 1 when an aim is missed, 2 when something keeps it from measuring.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kv_page_prefixes as prefixes
import kv_page_report as report
import kv_page_runs as runs
from kv_page_cases import ARMS, CASES, CLAIMS, COALESCED, LAST, PER_CELL
from kv_page_prefixes import BenchError, Prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kv_page_cases import Case

PROJECT = Path(__file__).resolve().parent.parent
DOCUMENT = PROJECT / "docs/kv-page-speed.md"
SCHEMA_VERSION = 1


def main() -> int:
    """Measure, or read what was; print the table, and judge."""
    options = _arguments()
    try:
        data = _read(options.stored) if options.stored else _measure(options)
        return _report(options, data)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure KV pages against what they promise.")
    parser.add_argument("--quick", action="store_true", help="small pages; the aims are those of large ones")
    parser.add_argument(
        "--case", action="append", choices=[case.name for case in CASES], help="only this one"
    )
    parser.add_argument(
        "--rounds", type=_positive, metavar="N", help="processes an arm, instead of each case's own"
    )
    parser.add_argument(
        "--per-cell", type=_positive, metavar="N", default=20, help="patch number (default: 20)"
    )
    parser.add_argument(
        "--coalesced", type=_positive, metavar="N", default=21, help="patch number (default: 21)"
    )
    parser.add_argument("--last", type=_positive, metavar="N", help="patch number (default: the highest)")
    parser.add_argument(
        "--programs",
        action="append",
        default=[],
        type=_programs,
        metavar="ARM=FOLDER",
        help=f"take an arm's programs from there, to try what is no patch yet; arms: {', '.join(ARMS)}",
    )
    parser.add_argument("--jobs", type=_positive, metavar="N", help="compilers at once")
    parser.add_argument("--from", dest="stored", type=Path, metavar="FILE", help="stored runs")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the runs go (default: .skippy/bench/kv-page.json)"
    )
    parser.add_argument("--write", action="store_true", help=f"fill {DOCUMENT.relative_to(PROJECT)} in")
    return parser.parse_args()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _programs(text: str) -> tuple[str, Path]:
    arm, _, folder = text.partition("=")
    if arm not in ARMS or not folder:
        raise argparse.ArgumentTypeError(f"'{text}' is not ARM=FOLDER with one of the arms {', '.join(ARMS)}")
    return arm, Path(folder).resolve()


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    cases = [case for case in CASES if not options.case or case.name in options.case]
    arms = _build(options, cases)
    before = {arm: prefix.digest() for arm, prefix in arms.items()}
    for case in cases:
        compared = [arm.prefix for arm in case.arms]
        if len({before[arm] for arm in compared}) < len(compared):
            raise BenchError(
                f"{case.name}: {' and '.join(compared)} are the same programs: nothing to compare"
            )
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "quick": options.quick,
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
        "compiler": next(iter(arms.values())).compiler,
        "prefixes": {
            arm: {"number": prefix.number, "commit": prefix.commit, "sha256": before[arm]}
            for arm, prefix in arms.items()
        },
        "runs": [],
    }
    file = options.output or PROJECT / ".skippy/bench/kv-page.json"
    for case in cases:
        tokens, rounds = case.quick if options.quick else case.tokens, options.rounds or case.rounds
        print(f"{case.name}: {case.title}, {tokens} tokens, {rounds} rounds", file=sys.stderr)
        data["runs"] += runs.run(case, arms, tokens=tokens, rounds=rounds)
        file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")  # what is done is not lost
    if before != {arm: prefix.digest() for arm, prefix in arms.items()}:
        raise BenchError("a build changed while it was measured: nothing else may build in .skippy/bench")
    print(f"The runs are in {file}", file=sys.stderr)
    return data


def _build(options: argparse.Namespace, cases: Sequence[Case]) -> dict[str, Prefix]:
    """The arms that the cases need. Raises BenchError."""
    given = {arm: prefixes.foreign(folder) for arm, folder in options.programs}
    needed = {arm.prefix for case in cases for arm in case.arms} - set(given)
    known = prefixes.numbers(PROJECT) if needed else ()
    numbers = {
        PER_CELL: options.per_cell,
        COALESCED: options.coalesced,
        LAST: options.last or max(known, default=0),
    }
    for arm in sorted(needed):
        if numbers[arm] not in known:
            there = ", ".join(f"{each:04}" for each in known) or "none"
            raise BenchError(
                f"the queue has no patch {numbers[arm]:04}, which is the arm '{arm}'; there are: {there}\n"
                f"  --{arm} N takes another patch, --programs {arm}=FOLDER what you built yourself."
            )
    wanted = sorted({numbers[arm] for arm in needed})
    built = {number: prefixes.build(PROJECT, number, options.jobs) for number in wanted}
    return given | {arm: built[numbers[arm]] for arm in sorted(needed)}


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _read(file: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(f"{file} cannot be read as stored runs: {error}") from error
    if data.get("schema_version") != SCHEMA_VERSION:
        raise BenchError(f"{file} has schema_version {data.get('schema_version')}, not {SCHEMA_VERSION}")
    return data


def _report(options: argparse.Namespace, data: dict[str, Any]) -> int:
    lines = report.judge(data)
    print(report.table(lines, data), end="")
    missed = sum(not line.passed for line in lines)
    print(f"{len(lines)} of {len(CLAIMS)} lines measured, {missed} missed", file=sys.stderr)
    if options.write:
        is_whole = len(lines) == len(CLAIMS) and not data["quick"]
        if not is_whole or not all(arm["number"] for arm in data["prefixes"].values()):
            raise BenchError("--write wants all cases, whole pages, and programs of the queue's patches")
        DOCUMENT.write_text(report.document(lines, data), encoding="utf-8")
    return 1 if missed or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
