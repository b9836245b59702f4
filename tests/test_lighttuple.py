"""The light NamedTuple does what typing's does, as far as it goes."""

from __future__ import annotations

import pytest

from skippy_patches.lighttuple import NamedTuple


class Point(NamedTuple):
    """Two numbers, the second with a default, and a property."""

    x: int
    y: int = 2

    @property
    def total(self) -> int:
        """Of both."""
        return self.x + self.y


def test_it_is_a_tuple_with_names() -> None:
    point = Point(1)
    assert point == (1, 2) == Point(x=1, y=2)
    assert (point.x, point.y, point.total) == (1, 2, 3)
    assert point._asdict() == {"x": 1, "y": 2}
    assert point._replace(y=5) == (1, 5)
    assert Point._fields == ("x", "y")
    assert repr(point) == "Point(x=1, y=2)"
    first, second = point
    assert (first, second) == (1, 2)
    assert hash(point) == hash((1, 2))


def test_it_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Point(1).x = 3  # type: ignore[misc]


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 3})])
def test_what_it_does_not_take(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Point(*values, **named)
