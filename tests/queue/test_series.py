"""The series file."""

from __future__ import annotations

from skippy_patches.queue.series import SeriesLine, parse


def test_comments_and_blank_lines_are_passed_over() -> None:
    content = b"# head\n\n0001-a.patch\n   \n0002-b c.patch # why\n#0003-c.patch\n"
    assert parse(content) == [
        SeriesLine(3, "0001-a.patch", "", False),
        SeriesLine(5, "0002-b c.patch", "", False),
    ]


def test_what_is_behind_a_name() -> None:
    assert parse(b"a.patch -p0 -R\nb.patch\t\nc.patch\r\nd\xff.patch") == [
        SeriesLine(1, "a.patch", "-p0 -R", False),
        SeriesLine(2, "b.patch", "", True),
        SeriesLine(3, "c.patch", "", True),
        SeriesLine(4, "d\udcff.patch", "", False),
    ]
