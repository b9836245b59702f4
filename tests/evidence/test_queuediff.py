"""What became of patches: every change is told as what it is."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skippy_patches.evidence import queuediff
from skippy_patches.evidence.claim import ClaimedPatch


def patch(file: str, content: str = "") -> ClaimedPatch:
    """A patch whose bytes follow from `content`, else from the slug."""
    text = content or file[5:]
    return ClaimedPatch(int(file[:4]), file, hashlib.sha256(text.encode()).hexdigest())


QUEUE = tuple(patch(name) for name in ("0001-a.patch", "0002-b.patch", "0003-c.patch", "0004-d.patch"))
A, B, C, D = QUEUE


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (QUEUE, []),
        ((A, B, C, D, patch("0005-e.patch")), ["added 0005-e.patch"]),
        ((A, C, D), ["removed 0002-b.patch"]),
        ((A, patch("0002-b.patch", "other"), C, D), ["edited 0002-b.patch"]),
        ((A, B, C, patch("0014-d.patch")), ["renumbered 0014-d.patch"]),
        ((A, B, C, patch("0004-better-name.patch", "d.patch")), ["renamed 0004-better-name.patch"]),
        (
            (A, B, C, patch("0014-d.patch", "other")),
            ["renumbered 0014-d.patch", "edited 0014-d.patch"],
        ),
        ((B, C, A, D), ["reordered 0001-a.patch"]),
        (
            (patch("0001-new.patch"), patch("0002-a.patch"), patch("0003-b.patch"), C, D),
            ["added 0001-new.patch", "renumbered 0002-a.patch", "renumbered 0003-b.patch"],
        ),
        ((), [f"removed {each.file}" for each in QUEUE]),
    ],
)
def test_every_change_has_its_word(after: tuple[ClaimedPatch, ...], told: list[str]) -> None:
    assert [f"{each.what} {each.name}" for each in queuediff.compare(QUEUE, after)] == told


def test_two_patches_with_the_same_bytes() -> None:
    """Reverted and applied again: one goes, one stays."""
    twice = (A, patch("0005-a.patch", "a.patch"))
    assert [each.what for each in queuediff.compare(twice, (A,))] == ["removed"]
    assert not queuediff.compare(twice, twice)


def test_names_exchanged_are_two_new_numbers() -> None:
    """Bytes beat names: nothing was edited."""
    after = (patch("0001-a.patch", "b.patch"), patch("0002-b.patch", "a.patch"))
    told = queuediff.compare((A, B), after)
    assert {each.what for each in told} == {"renumbered", "reordered"}


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_what_is_not_told_is_the_same(order: list[int], dropped: set[int]) -> None:
    """Take the told patches out of both, and what is left is equal."""
    before = [patch(f"{number:04d}-{number}.patch") for number in range(1, 7)]
    after = [before[at] for at in order if at not in dropped]
    told = {each.name for each in queuediff.compare(before, after)}
    assert [each for each in before if each.file not in told] == [
        each for each in after if each.file not in told
    ]
