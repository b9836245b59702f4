"""What an assignment is made of: patches in the wanted order, and what the numbers have to obey."""

from __future__ import annotations

from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skippy_patches.numbers import Band


class Item(NamedTuple):
    """A patch in its place of the apply order.

    key: lane and name today, for messages. lane: index of the lane. number: of today, None when it has none
    yet. is_pinned: it must keep its number.
    """

    key: str
    lane: int
    number: int | None
    is_pinned: bool


class Rules(NamedTuple):
    """What the numbers have to obey.

    bands: disjoint; a patch stays in its band, or outside of all. reserved: numbers that only a patch which
    has one now may carry. close_gaps: make them consecutive. series_lanes: indices of lanes that are ordered
    by a series file, where a number need only be unique.
    """

    bands: tuple[Band, ...] = ()
    reserved: frozenset[int] = frozenset()
    close_gaps: bool = False
    series_lanes: frozenset[int] = frozenset()
