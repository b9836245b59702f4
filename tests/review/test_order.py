"""Order of merged queues, on values."""

from __future__ import annotations

from skippy_patches.queue.patch import Patch
from skippy_patches.review.order import follow, inversions, prefix_change


def queue(*names: str, lane: str = "patches") -> tuple[Patch, ...]:
    """Patches called NNNN-slug, whose bytes are the slug; `NNNN-slug=bytes` gives other bytes."""
    made = []
    for text in names:
        name, _, content = text.partition("=")
        made.append(Patch(lane, f"{name}.patch", int(name[:4]), (content or name.partition("-")[2]).encode()))
    return tuple(made)


def found(ours: str, theirs: str, base: str, merged: str) -> list[str]:
    """`a<b c`: a now sorts before b and c."""
    queues = (queue(*names.split()) for names in (ours, theirs, base, merged))
    return [
        f"{each.patch.name[5:-6]}<{' '.join(other.name[5:-6] for other in each.behind)}"
        for each in inversions(*queues)
    ]


def test_a_patch_is_followed_by_bytes_then_path_then_slug() -> None:
    old = queue("0001-a", "0002-b", "0003-c", "0004-d=same", "0005-e=same")
    new = queue("0004-a=edited", "0002-b=edited", "0009-z=c", "0006-d=same", "0005-e=same", "0007-f")
    assert {path[8:-6]: to.name[:-6] for path, to in follow(old, new).items()} == {
        "0001-a": "0004-a",
        "0002-b": "0002-b",
        "0003-c": "0009-z",
        "0004-d": "0006-d",
        "0005-e": "0005-e",
    }


def test_no_inversion_where_everybody_keeps_the_order() -> None:
    assert (
        found("0001-a 0002-b 0003-c", "0001-a 0002-b 0003-d", "0001-a 0002-b", "0001-a 0002-b 0003-c 0003-d")
        == []
    )
    assert found("0001-a 0002-b", "0001-a 0002-c", "0001-a", "0001-a 0002-b 0002-c") == []


def test_one_side_renumbers_below_what_the_other_added() -> None:
    assert found(
        "0001-a 0002-b 0003-c 0004-new",
        "0001-a 0007-b 0008-c",
        "0001-a 0002-b 0003-c",
        "0001-a 0004-new 0007-b 0008-c",
    ) == ["new<b c"]


def test_what_a_side_put_below_on_purpose_is_no_inversion() -> None:
    assert (
        found(
            "0001-a 0002-new 0005-b", "0001-a 0005-b 0006-c", "0001-a 0005-b", "0001-a 0002-new 0005-b 0006-c"
        )
        == []
    )


def test_the_side_that_changed_an_order_decides() -> None:
    base, moved = "0001-a 0002-b", "0002-b 0003-a"
    assert found(moved, base, base, moved) == []
    assert found(base, moved, base, moved) == []
    assert found(moved, "0001-a 0005-b", base, "0003-a 0005-b") == ["a<b"]  # moved behind b, and b away again


def test_two_sides_that_disagree_without_a_base_decide_nothing() -> None:
    assert found("0001-a 0002-b", "0001-b 0002-a", "", "0001-a 0002-b") == []


def test_prefix_of_a_side() -> None:
    side = queue("0001-a", "0002-b", "0003-c")
    assert prefix_change(side, queue("0001-a", "0002-b", "0003-c", "0004-d")) is None
    assert prefix_change(side, queue("0001-a", "0005-b", "0006-c")) is None  # names do not enter a commit
    inserted = prefix_change(side, queue("0001-a", "0002-B=x", "0003-b", "0004-c"))
    assert inserted
    assert (inserted.patch.name, inserted.now and inserted.now.name) == ("0002-b.patch", "0003-b.patch")
    assert inserted.cause
    assert inserted.cause.name == "0002-B.patch"
    dropped = prefix_change(side, queue("0001-a", "0002-b"))
    assert dropped
    assert (dropped.patch.name, dropped.cause, dropped.now) == ("0003-c.patch", None, None)
