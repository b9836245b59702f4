"""Judges measured runs against the claims, and shows them as a Markdown table."""

from __future__ import annotations

import dataclasses
import statistics
from typing import TYPE_CHECKING, Any

from kv_page_cases import BULK, CASES, CLAIMS, MEMCPY, STATE
from pairs import Ratio, ratio

if TYPE_CHECKING:
    from kv_page_cases import Claim

_REFERENCES = {BULK: "bulk", MEMCPY: "memcpy"}
_WAYS = {"export": "get", "import": "set"}  # of what is no page
_INTRODUCTION = """\
# Speed of native KV pages

What it takes to move the page of one sequence out of a context (export) and into it (import): 16 layers, 8 KV
heads of 128 elements, f16. `just bench-native` measures and fills this file in.

- The prefixes of the queue are the same tree with fewer patches: up to 0020 a page takes one call to the
  backend for each token and block, 0021 makes it one for each run of tokens.
- Two prefixes are run in turns, A B B A, each in a process of its own and with a server of its own. What is
  no page (bulk, memcpy, state) is measured in turns with it, in one process and on the same buffers.
- Bulk is the faster of two: each tensor in one call, or in calls of 4 MiB. The RPC backend hashes what is
  over 10 MiB before it sends it.
- "times" is how many times longer the other side takes: Hodges and Lehmann's estimate over n pairs. The
  interval is that of the signed-rank test, 95 %; fewer than six pairs have none. The seconds are medians.
- "at best" is what "times" would be if the page moved at the rate of bulk (RPC) or memcpy (the rest) in the
  same run. An aim above it is out of reach on the machine: the link or the memory is the limit.
- Every page is compared with the pattern that the cache was filled with, and what went into the cache as
  well. A difference stops the measurement.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A claim with what was measured. Seconds are medians; calls: at the interface of the buffers."""

    claim: Claim
    page: float
    other: float
    size: int
    calls: int
    other_calls: int
    ratio: Ratio
    best: float | None  # the ratio if the page moved at the rate of the claim's bound

    @property
    def passed(self) -> bool:
        """Whether the estimate reaches the aim."""
        return self.ratio.times >= self.claim.aim


def judge(data: dict[str, Any]) -> list[Line]:
    """A line for each claim whose case was run."""
    return [_judge(claim, data) for claim in CLAIMS if _is_measured(claim, data)]


def _is_measured(claim: Claim, data: dict[str, Any]) -> bool:
    return bool(_results(data, claim.case, claim.arm))


def _judge(claim: Claim, data: dict[str, Any]) -> Line:
    own = _results(data, claim.case, claim.arm)
    page = [result[claim.direction] for result in own]
    if claim.against in (BULK, MEMCPY, STATE):
        other = _same_process(claim, own)
        fast, slow = [], []
        for left, right in zip(page, other, strict=True):
            fast += left["all"][: len(right["all"])]  # pages are exported once more in the end
            slow += right["all"]
    else:
        other = [result[claim.direction] for result in _results(data, claim.case, claim.against)]
        fast, slow = ([statistics.median(each["all"]) for each in side] for side in (page, other))
    size, best = own[0]["bytes"], None
    if claim.bound and _is_measured(claim.bound, data):
        bound = _judge(claim.bound, data)
        best = statistics.median(slow) * (bound.size / bound.other) / size
    return Line(
        claim=claim,
        page=statistics.median(fast),
        other=statistics.median(slow),
        size=size,
        calls=page[0]["transfers"],
        other_calls=other[0]["transfers"],
        ratio=ratio(slow, fast),
        best=best,
    )


def _results(data: dict[str, Any], case: str, arm: str) -> list[dict[str, Any]]:
    return [run["result"] for run in data["runs"] if (run["case"], run["arm"]) == (case, arm)]


def _same_process(claim: Claim, own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the same processes measured; for bulk, the faster way to do it."""
    names = (BULK, "bulk_cut") if claim.against == BULK else (claim.against,)
    ways = [[result[name][_WAYS[claim.direction]] for result in own] for name in names]
    return min(ways, key=lambda way: statistics.median(second for each in way for second in each["all"]))


def table(lines: list[Line], data: dict[str, Any]) -> str:
    """Markdown: a row a line."""
    rows = ["| case | page | against | times | aim | at best | |", "|---|---|---|---|---|---|---|"]
    rows += [_row(line, data) for line in lines]
    return "\n".join(rows) + "\n"


def _row(line: Line, data: dict[str, Any]) -> str:
    claim = line.claim
    title = next(case.title for case in CASES if case.name == claim.case)
    page = f"{_patch(claim.arm, data)}: {_seconds(line.page, line.size)}, {line.calls:,} calls"
    other = f"{_against(claim, data)}: {_seconds(line.other, line.size)}"
    if line.other_calls:
        other += f", {line.other_calls:,} calls"
    verdict = "pass" if line.passed else "**missed**"
    return (
        f"| {title}, {claim.direction} | {page} | {other} | {_times(line.ratio)} "
        f"| >= {claim.aim:g} | {f'{line.best:.3g}' if line.best else ''} | {verdict} |"
    )


def _against(claim: Claim, data: dict[str, Any]) -> str:
    if claim.against == STATE:
        return f"llama_state_seq_{_WAYS[claim.direction]}_data"
    return _REFERENCES.get(claim.against) or _patch(claim.against, data)


def _patch(arm: str, data: dict[str, Any]) -> str:
    """The arm's patch number; its name when the programs are not the queue's."""
    number = data["prefixes"][arm]["number"]
    return f"{number:04}" if number else arm


def _seconds(seconds: float, size: int) -> str:
    shown = f"{seconds:.3f} s" if seconds >= 0.1 else f"{seconds * 1e3:.3g} ms"
    return f"{shown} ({size / seconds / 1e9:.3g} GB/s)"


def _times(found: Ratio) -> str:
    if found.low is None or found.high is None:
        return f"{found.times:.3g} (n={found.pairs})"
    return f"{found.times:.3g} ({found.low:.3g} to {found.high:.3g}, n={found.pairs})"


def document(lines: list[Line], data: dict[str, Any]) -> str:
    """All of docs/kv-page-speed.md."""
    machine = data["machine"]
    prefixes = sorted({(arm["number"], arm["commit"]) for arm in data["prefixes"].values()})
    commits = ", ".join(f"{number:04} is {commit[:12]}" for number, commit in prefixes)
    missed = sum(not line.passed for line in lines)
    return (
        f"{_INTRODUCTION}\n{table(lines, data)}\n"
        f"{missed or 'No'} aim{'' if missed == 1 else 's'} of {len(lines)} missed. "
        f"Measured on {machine['processor']}, {machine['cores']} cores, programs made by {data['compiler']}. "
        f"Commits of the queue: {commits}.\n"
    )
