"""Which numbers a patch may get: those of its zone that are not reserved.

A zone is a band of the configuration, or (zone 0) all numbers that lie in no band. A patch never leaves its
zone. The tables hold the answer for each number, so that the planner asks in constant time.
"""

from __future__ import annotations

import functools

from skippy_patches.queue.patch import HIGHEST_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from skippy_patches.numbers import Band

LOWEST_NUMBER = 1
OUTSIDE = 0  # the zone of numbers that are in no band
TOO_HIGH = HIGHEST_NUMBER + 1
TOO_LOW = -1  # below 0, which a patch may have, though none is given it


class Slots:
    """The numbers of every zone, less the reserved ones."""

    def __init__(self, bands: Sequence[Band], reserved: Collection[int]) -> None:
        self._bands = tuple(bands)
        self._reserved = frozenset(reserved)
        self._zones = [OUTSIDE] * (TOO_HIGH + 1)
        for zone, band in enumerate(self._bands, 1):
            for number in range(max(band.first, LOWEST_NUMBER), min(band.last, HIGHEST_NUMBER) + 1):
                self._zones[number] = zone
        self.above = functools.cache(self._above)
        self.below = functools.cache(self._below)

    def zone(self, number: int) -> int:
        """The zone that `number` lies in."""
        return self._zones[number]

    def describe(self, zone: int) -> str:
        """The zone in words, as the end of 'a number ...'."""
        if zone == OUTSIDE:
            return "outside of every band" if self._bands else f"up to {HIGHEST_NUMBER}"
        band = self._bands[zone - 1]
        return f"in band {band.name} ({band.first:04d}-{band.last:04d})"

    def lowest_above(self, number: int, zone: int, taken: Collection[int]) -> int:
        """The first number above `number` that is free, or TOO_HIGH. number: from -1 on."""
        table = self.above(zone)
        found = table[number + 1]
        while found in taken:
            found = table[found + 1]
        return found

    def highest_below(self, number: int, zone: int, taken: Collection[int]) -> int:
        """The first free number below `number`, or TOO_LOW."""
        if number <= LOWEST_NUMBER:
            return TOO_LOW
        table = self.below(zone)
        found = table[number - 1]
        while found in taken:
            found = table[found - 1]
        return found

    def _permitted(self, number: int, zone: int) -> bool:
        return (
            LOWEST_NUMBER <= number <= HIGHEST_NUMBER
            and self._zones[number] == zone
            and number not in self._reserved
        )

    def _above(self, zone: int) -> list[int]:
        """At n: the lowest permitted number from n on."""
        table = [TOO_HIGH] * (TOO_HIGH + 2)
        for number in range(HIGHEST_NUMBER, -1, -1):
            table[number] = number if self._permitted(number, zone) else table[number + 1]
        return table

    def _below(self, zone: int) -> list[int]:
        """At n: the highest permitted number up to n."""
        table = [TOO_LOW] * (TOO_HIGH + 1)
        for number in range(LOWEST_NUMBER, TOO_HIGH + 1):
            table[number] = number if self._permitted(number, zone) else table[number - 1]
        return table
