"""Order and numbers."""

from __future__ import annotations

from skippy_patches.queue.snapshot import (
    Snapshot,
    is_about_patches,
    next_number,
    ordered,
)
from tests.queue.made import good, goods, lane, queue


def test_order_is_by_number_then_bytes() -> None:
    names = ["0010-b.patch", "0002-z.patch", "0010-B.patch", "0010-\u00e4.patch"]
    names += ["0010-\udcff.patch", "0010-\U0001f600.patch"]  # as text they would sort this way round
    assert [patch.name for patch in ordered(queue(goods(*names)))] == [
        "0002-z.patch", "0010-B.patch", "0010-b.patch", "0010-\u00e4.patch", "0010-\U0001f600.patch",
        "0010-\udcff.patch",
    ]  # fmt: skip


def test_lanes_come_in_their_order_and_a_series_rules_its_own() -> None:
    first = lane(goods("0005-a.patch", "0006-b.patch"), path="z", series=b"0006-b.patch\n0005-a.patch\n")
    snapshot = Snapshot("folder", (first, lane({"0001-c.patch": good(9)}, path="a")))
    assert [patch.path for patch in ordered(snapshot)] == [
        "z/0006-b.patch",
        "z/0005-a.patch",
        "a/0001-c.patch",
    ]


def test_lane_at_the_root() -> None:
    snapshot = Snapshot("folder", (lane(goods("0001-a.patch"), path="."),))
    assert [patch.path for patch in ordered(snapshot)] == ["0001-a.patch"]


def test_next_number() -> None:
    assert next_number(queue({})) == 1
    assert next_number(queue(goods("0001-a.patch", "0007-b.patch"))) == 8
    listed = queue(goods("0001-a.patch", "0021-b.patch"), series=b"0001-a.patch\n")
    assert next_number(listed) == 22


def test_names_that_the_queue_is_about() -> None:
    names = ["0001-a.patch", "a.PATCH", "0001-a.diff", "upstream.commit", "README", "notes.diff", "series"]
    assert [name for name in names if is_about_patches(name)] == names[:3]
