"""Consecutive numbers over all lanes: a gap stays only where a pin, a band or a record keeps it open."""

from __future__ import annotations

from skippy_patches.queue.assignment.errors import NoRoom
from skippy_patches.queue.assignment.lanes import zones_of
from skippy_patches.queue.assignment.slots import TOO_HIGH, TOO_LOW, Slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.queue.assignment.item import Item

_BEFORE_ALL = -1


def assign(items: Sequence[Item], series_lanes: frozenset[int], slots: Slots) -> list[int]:
    """Numbers for `items`. A stretch between bands or pins is packed from its first number on.

    Only where the stretch would then run into the next pin or the end of its band does it begin lower.
    Raises NoRoom.
    """
    return _Closing(items, series_lanes, slots).numbers()


class _Closing:
    """All lanes as one sequence, by the numbers of today, and the packing of it."""

    def __init__(self, items: Sequence[Item], series_lanes: frozenset[int], slots: Slots) -> None:
        self._items = items
        self._slots = slots
        self._pinned = {item.number for item in items if item.is_pinned and item.number is not None}
        self._zones = _zones(items, slots)
        self._order = _merged(items, self._zones, series_lanes)

    def numbers(self) -> list[int]:
        numbers: dict[int, int] = {}
        latest = self._latest()
        lower = previous = _BEFORE_ALL
        for rank, place in enumerate(self._order):
            base = lower
            if previous == _BEFORE_ALL or self._zones[previous] != self._zones[place]:
                base = max(lower, self._start(rank) - 1)
            numbers[place] = lower = min(self._next(place, base), latest[place])
            previous = place
        return [numbers[place] for place in range(len(self._items))]

    def _next(self, place: int, base: int) -> int:
        """The lowest number above `base` that the patch may get; its own counts even when it is reserved."""
        item = self._items[place]
        if item.is_pinned and item.number is not None:
            return item.number
        found = self._slots.lowest_above(base, self._zones[place], self._pinned)
        own = item.number
        return own if own is not None and own not in self._pinned and base < own < found else found

    def _latest(self) -> dict[int, int]:
        """Place -> the highest number with which all that follows still fits. Raises NoRoom."""
        latest: dict[int, int] = {}
        upper = TOO_HIGH
        for rank, place in reversed(list(enumerate(self._order))):
            item = self._items[place]
            own = item.number
            if item.is_pinned and own is not None:
                if own >= upper:
                    raise self._no_room(rank + 1)
                upper = own
            else:
                found = self._slots.highest_below(upper, self._zones[place], self._pinned)
                is_free = own is not None and own not in self._pinned
                upper = own if is_free and own is not None and found < own < upper else found
                if upper == TOO_LOW:
                    raise self._no_room(rank)
            latest[place] = upper
        return latest

    def _start(self, rank: int) -> int:
        """Where the stretch from `rank` on begins: new patches lie below its first number, if they fit."""
        zone = self._zones[self._order[rank]]
        for waiting, place in enumerate(self._order[rank:]):
            number = self._items[place].number
            if self._zones[place] != zone:
                break
            if number is not None:
                for _ in range(waiting):
                    number = self._slots.highest_below(number, zone, self._pinned)
                return number
        return 0

    def _no_room(self, rank: int) -> NoRoom:
        def pinned(places: Sequence[int]) -> str:
            return next((self._items[place].key for place in places if self._items[place].is_pinned), "")

        place = self._order[rank]
        after, before = pinned(self._order[:rank][::-1]), pinned(self._order[rank:])
        zone = self._slots.describe(self._zones[place])
        return NoRoom(self._items[place].key, zone, after=after, before=before)


def _zones(items: Sequence[Item], slots: Slots) -> dict[int, int]:
    zones: dict[int, int] = {}
    for lane in dict.fromkeys(item.lane for item in items):
        places = [place for place, item in enumerate(items) if item.lane == lane]
        zones.update(zip(places, zones_of([items[place] for place in places], slots), strict=True))
    return zones


def _merged(items: Sequence[Item], zones: Mapping[int, int], series_lanes: frozenset[int]) -> list[int]:
    """Places by the numbers of today; within a lane that is ordered by number, its order stands.

    A key is twice the lowest number at the place or behind it in its lane. A new patch at the end of a lane
    comes behind everything in its zone.
    """
    pins = {(item.lane, 2 * item.number) for item in items if item.is_pinned and item.number is not None}
    highest: dict[int, int] = {}
    for place, item in enumerate(items):
        highest[zones[place]] = max(item.number or 0, highest.get(zones[place], 0))
    keys: dict[int, int] = {}
    lowest: dict[int, int] = {}
    for place in reversed(range(len(items))):
        lane, number = items[place].lane, items[place].number
        key = 2 * highest[zones[place]] + 1 if number is None else 2 * number
        if lane not in series_lanes:
            key = lowest[lane] = min(key, lowest.get(lane, key))
        keys[place] = key

    def rank(place: int) -> tuple[int, bool, int, int]:
        """Of two lanes with one number, the one that has it pinned comes first."""
        lane = items[place].lane
        return keys[place], (lane, keys[place]) not in pins, lane, place

    return sorted(keys, key=rank)
