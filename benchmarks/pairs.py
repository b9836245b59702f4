"""How many times faster, from pairs that were measured next to each other: an estimate and its interval."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
ENOUGH = 6  # fewer pairs have no exact interval of 95 %


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ratio:
    """times: the estimate. low and high: the exact 95 % interval; None with fewer than six pairs."""

    times: float
    low: float | None
    high: float | None
    pairs: int


def ratio(slow: Sequence[float], fast: Sequence[float]) -> Ratio:
    """Hodges and Lehmann's estimate of slow/fast, and the interval of the signed-rank test (Wilcoxon).

    Both in the same unit; slow[i] was measured next to fast[i]. Raises ValueError without any pair.
    """
    logs = [math.log(left / right) for left, right in zip(slow, fast, strict=True)]
    if not logs:
        raise ValueError("no pairs")
    means = sorted((left + right) / 2 for index, left in enumerate(logs) for right in logs[index:])
    times = math.exp(statistics.median(means))
    if len(logs) < ENOUGH:
        return Ratio(times=times, low=None, high=None, pairs=len(logs))
    cut = _cut(len(logs))
    return Ratio(times=times, low=math.exp(means[cut]), high=math.exp(means[-1 - cut]), pairs=len(logs))


def _cut(count: int) -> int:
    """How many of the sorted Walsh averages lie outside of the interval, on either side."""
    ways = [1]  # ways[s]: subsets of the ranks 1..count with the sum s
    for rank in range(1, count + 1):
        longer = ways + [0] * rank
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    limit, below, cut = (1 - CONFIDENCE) / 2 * 2**count, 0, -1
    while below + ways[cut + 1] <= limit:
        cut += 1
        below += ways[cut]
    return cut
