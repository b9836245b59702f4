"""Comments of a series file move with their patches; the file's own head does not."""

from __future__ import annotations

from skippy_patches.authoring.refresh.seriesorder import Listed, rewrite


def order(*names: str) -> list[Listed]:
    return [Listed(name=name, before=name) for name in names]


def test_the_head_stays_and_a_comment_moves() -> None:
    content = b"# licence\n\n# one\n0001-a.patch\n# two\n0002-b.patch\n"
    expected = b"# licence\n\n# two\n0002-b.patch\n# one\n0001-a.patch\n"
    assert rewrite(content, order("0002-b.patch", "0001-a.patch")) == expected


def test_without_a_blank_line_it_belongs_to_the_patch() -> None:
    content = b"# one\n0001-a.patch\n0002-b.patch\n"
    assert rewrite(content, order("0002-b.patch", "0001-a.patch")) == b"0002-b.patch\n# one\n0001-a.patch\n"


def test_the_head_outlives_the_first_patch() -> None:
    content = b"# licence\n\n0001-a.patch\n0002-b.patch\n"
    assert rewrite(content, order("0002-b.patch")) == b"# licence\n\n0002-b.patch\n"
