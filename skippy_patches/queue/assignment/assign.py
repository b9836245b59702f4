"""New numbers for an ordered queue: the order stays, and the fewest files get another name.

Pure: no file is read. `assign` is the way in; docs/renumber.md tells the rules to users.
"""

from __future__ import annotations

import itertools

from skippy_patches.queue.assignment import closing, lanes
from skippy_patches.queue.assignment.errors import CannotRenumber, PinnedOutOfOrder, PinnedTwice
from skippy_patches.queue.assignment.slots import Slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skippy_patches.queue.assignment.item import Item, Rules

_MOST_PRECEDENCES = 4  # lanes; their orders are tried one by one


def assign(items: Sequence[Item], rules: Rules) -> list[int]:
    """A number for each of `items`, which come lane by lane in apply order.

    Unique over all lanes, rising within a lane that is ordered by number. Within one lane no plan renames
    fewer; a tie keeps the earlier patch and moves the later one, upward where that can be. A patch that has
    no number takes one beside the patch before it, in that one's band. Raises CannotRenumber. O(n^2).
    """
    items = [item._replace(is_pinned=item.is_pinned and item.number is not None) for item in items]
    _check_pins(items, rules)
    slots = Slots(rules.bands, rules.reserved)
    if rules.close_gaps:
        return closing.assign(items, rules.series_lanes, slots)
    best: list[int] = []
    fewest = -1
    refused: CannotRenumber | None = None
    for order, is_considerate in _ways(items):
        try:
            numbers = _in_order(items, order, rules, slots, is_considerate)
        except CannotRenumber as error:
            refused = refused or error
            continue
        renamed = count_renamed(items, numbers)
        if fewest < 0 or renamed < fewest:
            best, fewest = numbers, renamed
        if not fewest:
            break
    if fewest < 0 and refused is not None:
        raise refused
    return best


def count_renamed(items: Sequence[Item], numbers: Sequence[int]) -> int:
    """How many patches get another number than they have; one without a number is not renamed."""
    return sum(item.number not in (None, number) for item, number in zip(items, numbers, strict=True))


def _ways(items: Sequence[Item]) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Orders of precedence between lanes, and whether a lane leaves alone what later ones have now."""
    present = tuple(dict.fromkeys(item.lane for item in items))
    if len(present) <= 1:
        yield present, True
        return
    several = len(present) <= _MOST_PRECEDENCES
    orders = list(itertools.permutations(present)) if several else [present]
    yield from itertools.product(orders, (True, False))


def _in_order(
    items: Sequence[Item], order: Sequence[int], rules: Rules, slots: Slots, is_considerate: bool
) -> list[int]:
    """Number one lane after the other."""
    numbers: dict[int, int] = {}
    for rank, lane in enumerate(order):
        places = [place for place, item in enumerate(items) if item.lane == lane]
        others = [item for item in items if item.lane in order[rank + 1 :]]
        taken = {*numbers.values(), *_numbers(item for item in others if item.is_pinned)}
        avoided = taken | _numbers(others) if is_considerate else taken
        plan = lanes.by_series if lane in rules.series_lanes else lanes.by_number
        own = [items[place] for place in places]
        numbers.update(zip(places, plan(own, slots, taken, avoided), strict=True))
    return [numbers[place] for place in range(len(items))]


def _numbers(items: Iterable[Item]) -> set[int]:
    return {item.number for item in items if item.number is not None}


def _check_pins(items: Sequence[Item], rules: Rules) -> None:
    holders: dict[int, str] = {}
    highest: dict[int, Item] = {}
    for item in items:
        if item.number is None or not item.is_pinned:
            continue
        if item.number in holders:
            raise PinnedTwice(item.number, holders[item.number], item.key)
        holders[item.number] = item.key
        before = highest.get(item.lane)
        if before is not None and before.number is not None and before.number > item.number:
            if item.lane not in rules.series_lanes:
                raise PinnedOutOfOrder(before.key, before.number, item.key, item.number)
        else:
            highest[item.lane] = item
