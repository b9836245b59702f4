"""The edits themselves, without building anything."""

from __future__ import annotations

import dataclasses

import pytest

from tests.native.mutant import Mutation
from tests.native.mutations import MUTATIONS

EDIT = Mutation(name="m", file="a.cpp", old="x + 1", new="x", why="w", test="t")


def test_an_edit() -> None:
    assert EDIT.applied_to("y = x + 1;\n") == "y = x;\n"


@pytest.mark.parametrize(("text", "times"), [("y = x + 2;\n", 0), ("x + 1, x + 1\n", 2)])
def test_an_edit_that_does_not_fit_once_is_an_error(text: str, times: int) -> None:
    with pytest.raises(ValueError, match=f"m: the old text is in a.cpp {times} times, not once"):
        EDIT.applied_to(text)


def test_an_edit_that_changes_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="are the same"):
        dataclasses.replace(EDIT, new=EDIT.old).applied_to("x + 1")


def test_every_edit_has_a_name_and_a_reason_of_its_own() -> None:
    assert len({each.name for each in MUTATIONS}) == len({each.why for each in MUTATIONS}) == len(MUTATIONS)
