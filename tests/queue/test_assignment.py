"""The planner of numbers: by example, and against every possible plan."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skippy_patches.numbers import Band
from skippy_patches.queue.assignment.assign import assign, count_renamed
from skippy_patches.queue.assignment.errors import CannotRenumber, NoRoom, PinnedOutOfOrder, PinnedTwice
from skippy_patches.queue.assignment.item import Item, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MTP = Band("mtp", 100, 199)
EVERY = 8  # the brute force tries numbers up to here


def items(*words: int | str | None, lane: int = 0) -> list[Item]:
    """`21` is a number, `"21"` a pinned one, None a new patch."""
    return [
        Item(f"lane{lane}/{word}-{place}", lane, None if word is None else int(word), isinstance(word, str))
        for place, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("now", "new"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([5, 9, 12], [5, 9, 12]),
        ([20, 21, 21], [20, 21, 22]),
        ([1, 2, 2, 3, 4, 6], [1, 2, 3, 4, 5, 6]),
        ([20, 21, 21, 22, 23, 25], [19, 20, 21, 22, 23, 25]),
        (["21", 21, 22], [21, 22, 23]),
        ([21, "21", 22], [20, 21, 22]),
        ([20, 20, "21", 21, 22], [19, 20, 21, 22, 23]),
        ([21, 21, 22, 22, 23], [20, 21, 22, 23, 24]),
        ([21, 21, 21], [21, 22, 23]),
        ([9998, 9999, 9999], [9997, 9998, 9999]),
        ([9999, 9999], [9998, 9999]),
        ([0, 1, 1], [0, 1, 2]),
        ([3, 1, 2], [3, 4, 5]),
        ([10, 30, 20, 40], [10, 30, 31, 40]),
        ([None, None], [1, 2]),
        ([None, 18, 19, None], [17, 18, 19, 20]),
        ([1, None, 2, 3], [1, 2, 3, 4]),
        ([], []),
    ],
)
@pytest.mark.case(11, 12)
def test_insert_and_shift(now: list[int | str | None], new: list[int]) -> None:
    assert assign(items(*now), Rules()) == new


@pytest.mark.parametrize(
    ("now", "new"),
    [
        ([18, 19, 30], [18, 19, 20]),
        ([18, 19, "30", 30, 35], [18, 19, 30, 31, 32]),
        ([5, 5, 6, "7"], [4, 5, 6, 7]),
        ([21, 21, 22], [21, 22, 23]),
        ([1, 4, 100, 105, 200, 203], [1, 2, 100, 101, 200, 201]),
        ([1, 150, 160, 250], [1, 150, 151, 250]),
        ([None, 18, None], [17, 18, 19]),
        ([9999, 9999], [9998, 9999]),
        (["3", "9"], [3, 9]),
        ([], []),
    ],
)
def test_closed_gaps(now: list[int | str | None], new: list[int]) -> None:
    assert assign(items(*now), Rules(bands=(MTP,), close_gaps=True)) == new


def test_a_reserved_number_is_given_to_nobody_and_kept_by_its_owner() -> None:
    rules = Rules(reserved=frozenset({22, 23}))
    assert assign(items(21, 21), rules) == [21, 24]
    assert assign(items(21, 21, 22), rules) == [20, 21, 22]
    closing = rules._replace(close_gaps=True)
    assert assign(items(21, 25, 29), closing) == [21, 24, 25]
    assert assign(items(21, 22, 29), closing) == [21, 22, 24]


def test_a_patch_stays_in_its_band() -> None:
    rules = Rules(bands=(MTP, Band("rpc", 300, 301)))
    assert assign(items(1, 100, 100, 150), rules) == [1, 100, 101, 150]
    assert assign(items(99, 99, 100), rules) == [98, 99, 100]
    assert assign(items(198, 199, 199), rules) == [197, 198, 199]
    assert assign(items(24, None, 105, None), rules) == [24, 25, 105, 106]
    assert assign(items(299, 300, 300, 302), rules) == [299, 300, 301, 302]
    with pytest.raises(NoRoom, match=r"in band rpc \(0300-0301\) for lane0/301-2") as caught:
        assign(items(300, 301, 301, 400), rules)
    assert "give the band more numbers" in caught.value.mend
    with pytest.raises(NoRoom, match="in band rpc"):
        assign(items(300, 301, 301, 400), rules._replace(close_gaps=True))


@pytest.mark.parametrize("close_gaps", [False, True])
def test_no_room_between_pins(close_gaps: bool) -> None:
    with pytest.raises(NoRoom, match=r"for lane0/22-[12]") as caught:
        assign(items("21", 22, 22, "23"), Rules(close_gaps=close_gaps))
    assert "after lane0/21-0, which is pinned and before lane0/23-3, which is pinned" in caught.value.why
    with pytest.raises(NoRoom, match="up to 9999 for lane0/9999-2"):
        assign(items("9998", "9999", 9999), Rules(close_gaps=close_gaps))


def test_pins_that_contradict_each_other() -> None:
    with pytest.raises(PinnedTwice, match="0021 is pinned for two patches: lane0/21-0 and lane0/21-1"):
        assign(items("21", "21"), Rules())
    with pytest.raises(PinnedTwice):
        assign([*items("21"), *items("21", lane=1)], Rules())
    with pytest.raises(PinnedOutOfOrder, match="0022 before 0021"):
        assign(items("22", 5, "21"), Rules())
    assert assign(items("22", "21"), Rules(series_lanes=frozenset({0}))) == [22, 21]


def test_a_series_orders_by_itself() -> None:
    rules = Rules(series_lanes=frozenset({0}))
    assert assign(items(7, 3, 7, 3, "5"), rules) == [7, 3, 8, 4, 5]
    assert assign(items(5, "5", 5), rules) == [6, 5, 7]
    assert assign(items(9999, 9999, None), rules) == [9999, 1, 2]
    assert assign(items(7, 3, 7), rules._replace(close_gaps=True)) == [4, 3, 5]
    full = Rules(bands=(Band("a", 1, 2),), series_lanes=frozenset({0}))
    with pytest.raises(NoRoom, match="in band a"):
        assign(items(1, 2, 2), full)


def test_lanes_do_not_take_numbers_from_each_other() -> None:
    assert assign([*items(1, 2), *items(2, 3, lane=1)], Rules()) == [1, 4, 2, 3]
    assert assign([*items(1, 2, 2), *items(3, 4, lane=1)], Rules()) == [1, 2, 5, 3, 4]
    assert assign([*items(21), *items("21", lane=1)], Rules()) == [22, 21]
    assert assign([*items(5), *items(5, 6, 7, lane=1)], Rules()) == [5, 4, 6, 7]
    assert assign([*items(1, 5, None), *items(2, 7, lane=1)], Rules(close_gaps=True)) == [1, 3, 5, 2, 4]
    assert assign([*items(21), *items("21", lane=1)], Rules(close_gaps=True)) == [22, 21]
    # Whichever lane comes first, it must not move to what the other one has.
    assert assign([*items(10, 10, 20), *items(11, 19, 19, lane=1)], Rules()) == [10, 12, 20, 11, 19, 21]
    both = Rules(series_lanes=frozenset({1}))
    assert assign([*items(1, 2), *items(2, 1, lane=1)], both) == [1, 2, 3, 4]


def test_more_lanes_than_orders_are_tried_for() -> None:
    lanes = [item for lane in range(6) for item in items(1, 2, lane=lane)]
    numbers = assign(lanes, Rules())
    assert sorted(numbers) == list(range(1, 13))
    assert all(numbers[at] < numbers[at + 1] for at in range(0, 12, 2))


def test_a_thousand_patches() -> None:
    """All of them in one lane, every second number doubled: nothing here may be worse than n squared."""
    now = sorted([*range(1, 1000, 2), *range(1, 1000, 2)])
    numbers = assign(items(*now), Rules())
    assert numbers == sorted(set(numbers))
    assert count_renamed(items(*now), numbers) == 500


# --- against every possible plan ---


def _zone(number: int, rules: Rules) -> str:
    return next((band.name for band in rules.bands if band.first <= number <= band.last), "")


def _is_legal(queue: Sequence[Item], numbers: Sequence[int], rules: Rules) -> bool:
    if any(new <= old for old, new in itertools.pairwise(numbers)):
        return False
    for item, number in zip(queue, numbers, strict=True):
        if item.number == number:
            continue
        if item.is_pinned or number in rules.reserved:
            return False
        if item.number is not None and _zone(item.number, rules) != _zone(number, rules):
            return False
    return True


def _every_plan(queue: Sequence[Item], rules: Rules) -> Iterator[tuple[int, ...]]:
    for numbers in itertools.combinations(range(1, EVERY + 1), len(queue)):
        if _is_legal(queue, numbers, rules):
            yield numbers


_WORDS = st.lists(st.tuples(st.integers(1, EVERY), st.booleans()), max_size=5)
_RULES = st.builds(
    Rules,
    bands=st.sampled_from([(), (Band("a", 3, 5),), (Band("a", 1, 2), Band("b", 6, 7))]),
    # Whoever moves beyond the numbers that are tried here has left the brute force behind.
    reserved=st.frozensets(st.integers(1, EVERY), max_size=2).map(
        lambda few: few | set(range(EVERY + 1, 10000))
    ),
)


def _compare(words: list[tuple[int, bool]], rules: Rules, is_sorted: bool) -> None:
    if is_sorted:
        words = sorted(words)
    queue = items(*(str(number) if pin else number for number, pin in words))
    plans = list(_every_plan(queue, rules))
    try:
        numbers = assign(queue, rules)
    except CannotRenumber:
        assert plans == []
        return
    assert _is_legal(queue, numbers, rules)
    fewest = min(count_renamed(queue, plan) for plan in plans)
    assert count_renamed(queue, numbers) == fewest
    kept = [item.number == number for item, number in zip(queue, numbers, strict=True)]
    best = max(
        [item.number == number for item, number in zip(queue, plan, strict=True)]
        for plan in plans
        if count_renamed(queue, plan) == fewest
    )
    assert kept == best  # of two that could stay, the earlier one does


@given(words=_WORDS, rules=_RULES, is_sorted=st.booleans())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_no_plan_renames_fewer(words: list[tuple[int, bool]], rules: Rules, is_sorted: bool) -> None:
    _compare(words, rules, is_sorted)


@pytest.mark.thorough
@given(words=_WORDS, rules=_RULES, is_sorted=st.booleans())
@settings(max_examples=2_500, deadline=None)
def test_no_plan_renames_fewer_thoroughly(
    words: list[tuple[int, bool]], rules: Rules, is_sorted: bool
) -> None:
    _compare(words, rules, is_sorted)


_LANES = st.lists(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(1, 30)), st.integers(0, 7)), max_size=8), max_size=5
)


def _check_lanes(lanes: list[list[tuple[int | None, int]]], rules: Rules) -> None:
    """Several lanes: no promise of the fewest, and every other one."""
    queue = [
        Item(f"{lane}/{place}", lane, number, number is not None and not chance)
        for lane, words in enumerate(lanes)
        for place, (number, chance) in enumerate(words)
    ]
    try:
        numbers = assign(queue, rules)
    except CannotRenumber:
        return
    assert len(set(numbers)) == len(numbers)
    by_lane: dict[int, list[int]] = {}
    for item, number in zip(queue, numbers, strict=True):
        by_lane.setdefault(item.lane, []).append(number)
        if item.number == number:
            continue
        assert not item.is_pinned
        assert number not in rules.reserved
        assert item.number is None or _zone(item.number, rules) == _zone(number, rules)
    for lane, given_numbers in by_lane.items():
        assert lane in rules.series_lanes or given_numbers == sorted(given_numbers)
    if rules.close_gaps:
        same = [item._replace(number=number) for item, number in zip(queue, numbers, strict=True)]
        assert assign(same, rules) == numbers


_LANE_RULES = st.builds(
    Rules,
    bands=st.sampled_from([(), (Band("a", 10, 19), Band("b", 25, 60))]),
    reserved=st.frozensets(st.integers(1, 40), max_size=6),
    close_gaps=st.booleans(),
    series_lanes=st.frozensets(st.integers(0, 4), max_size=3),
)


@given(lanes=_LANES, rules=_LANE_RULES)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_whatever_the_lanes_the_rules_hold(lanes: list[list[tuple[int | None, int]]], rules: Rules) -> None:
    _check_lanes(lanes, rules)


@pytest.mark.thorough
@given(lanes=_LANES, rules=_LANE_RULES)
@settings(max_examples=1000, deadline=None)
def test_whatever_the_lanes_the_rules_hold_thoroughly(
    lanes: list[list[tuple[int | None, int]]], rules: Rules
) -> None:
    _check_lanes(lanes, rules)
