"""Numbers for the patches of one lane: as many as can be keep theirs, and what moves finds a place."""

from __future__ import annotations

from skippy_patches.queue.assignment.errors import NoRoom
from skippy_patches.queue.assignment.slots import OUTSIDE, TOO_HIGH, Slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from skippy_patches.queue.assignment.item import Item

_BEFORE_ALL = -1  # place and number of what stands before the first patch
_IMPOSSIBLE = -1


def zones_of(items: Sequence[Item], slots: Slots) -> list[int]:
    """The zone of each; a patch without number belongs where the one before it does, else the next one."""
    known = [None if item.number is None else slots.zone(item.number) for item in items]
    current = next((zone for zone in known if zone is not None), OUTSIDE)
    zones = []
    for zone in known:
        current = current if zone is None else zone
        zones.append(current)
    return zones


def by_number(
    items: Sequence[Item], slots: Slots, taken: Collection[int], avoided: Collection[int]
) -> list[int]:
    """Rising numbers for a lane. taken: numbers that none may have; avoided: those that none may move to.

    Raises NoRoom.
    """
    return _Rising(items, slots, taken, avoided).numbers()


def by_series(
    items: Sequence[Item], slots: Slots, taken: Collection[int], avoided: Collection[int]
) -> list[int]:
    """Unique numbers for a lane whose order stands in its series file; see by_number."""
    zones = zones_of(items, slots)
    keepers: dict[int, int] = {}
    for place in sorted(range(len(items)), key=lambda place: not items[place].is_pinned):
        number = items[place].number
        if number is not None and number not in taken:
            keepers.setdefault(number, place)
    used = {*avoided, *keepers}
    numbers: list[int] = []
    for place, item in enumerate(items):
        if item.number is not None and keepers.get(item.number) == place:
            numbers.append(item.number)
            continue
        start = item.number if item.number is not None else numbers[-1] if numbers else 0
        number = slots.lowest_above(start, zones[place], used)
        if number == TOO_HIGH:
            number = slots.lowest_above(0, zones[place], used)
        if number == TOO_HIGH:
            raise NoRoom(item.key, slots.describe(zones[place]), after="", before="")
        used.add(number)
        numbers.append(number)
    return numbers


class _Rising:
    """The longest chain of patches that can keep their numbers, and the numbers of those between.

    A patch may follow another in the chain when what lies between them fits between their numbers: that is
    tried greedily, from the lower one up, which is exact.
    """

    def __init__(
        self, items: Sequence[Item], slots: Slots, taken: Collection[int], avoided: Collection[int]
    ) -> None:
        self._items = items
        self._slots = slots
        self._avoided = avoided
        self._zones = zones_of(items, slots)
        self._above = [slots.above(zone) for zone in self._zones]
        # What a patch keeps, when it can keep anything; TOO_HIGH ends the chain.
        kept = (_IMPOSSIBLE if item.number is None or item.number in taken else item.number for item in items)
        self._kept = [*kept, TOO_HIGH]

    def numbers(self) -> list[int]:
        numbers: list[int] = []
        here, follower = _BEFORE_ALL, self._chain()
        while here < len(self._items):
            after = follower[here]
            if after == _IMPOSSIBLE:
                raise self._no_room()
            numbers += self._between(here, after)
            if after < len(self._items):
                numbers.append(self._kept[after])
            here = after
        return numbers

    def _chain(self) -> dict[int, int]:
        """Place -> the next one that keeps its number, so that the most do; the earliest of equals."""
        count = len(self._items)
        most = {count: 0}
        follower: dict[int, int] = {}
        for here in range(count - 1, _BEFORE_ALL - 1, -1):
            most[here], follower[here] = self._best_follower(here, most)
        return follower

    def _best_follower(self, here: int, most: dict[int, int]) -> tuple[int, int]:
        """How many patches can keep their numbers from `here` on, and the next of them."""
        if here != _BEFORE_ALL and self._kept[here] == _IMPOSSIBLE:
            return _IMPOSSIBLE, _IMPOSSIBLE
        kept, avoided, items = self._kept, self._avoided, self._items
        best, follower = _IMPOSSIBLE, _IMPOSSIBLE
        number = self._number_at(here)
        for place in range(here + 1, len(kept)):
            if kept[place] > number and most[place] >= max(best, 0):
                best, follower = most[place] + 1, place
            if place == len(items) or items[place].is_pinned:
                break
            above = self._above[place]  # Slots.lowest_above, without half a million calls
            number = above[number + 1]
            while number in avoided:
                number = above[number + 1]
            if number == TOO_HIGH:
                break
        return best, follower

    def _number_at(self, place: int) -> int:
        return _BEFORE_ALL if place == _BEFORE_ALL else self._kept[place]

    def _between(self, here: int, after: int) -> list[int]:
        """Numbers for the patches between two that keep theirs: near to the old ones, upward."""
        latest = self._latest(here, after)
        numbers: list[int] = []
        lower = self._number_at(here)
        for place in range(here + 1, after):
            old = self._items[place].number
            is_first = here == _BEFORE_ALL and not numbers
            if old is None:
                old = latest[place] if is_first and self._kept[after] != TOO_HIGH else lower + 1
            wanted = self._slots.lowest_above(max(lower, old - 1), self._zones[place], self._avoided)
            lower = min(wanted, latest[place])
            numbers.append(lower)
        return numbers

    def _latest(self, here: int, after: int) -> dict[int, int]:
        latest: dict[int, int] = {}
        upper = self._kept[after]
        for place in range(after - 1, here, -1):
            upper = self._slots.highest_below(upper, self._zones[place], self._avoided)
            latest[place] = upper
        return latest

    def _no_room(self) -> NoRoom:
        """Where the patches between two pinned ones do not fit, even if every one of them moves."""
        number = _BEFORE_ALL
        after = ""
        waiting = self._items[0]
        for place, item in enumerate(self._items):
            if item.is_pinned:
                if self._kept[place] <= number:
                    return self._error(waiting, place - 1, after, item.key)
                number, after = self._kept[place], item.key
                continue
            waiting = item
            number = self._slots.lowest_above(number, self._zones[place], self._avoided)
            if number == TOO_HIGH:
                before = next((other.key for other in self._items[place:] if other.is_pinned), "")
                return self._error(item, place, after, before)
        return self._error(waiting, len(self._items) - 1, after, "")

    def _error(self, item: Item, place: int, after: str, before: str) -> NoRoom:
        zone = self._slots.describe(self._zones[place])
        return NoRoom(item.key, zone, after=after, before=before)
