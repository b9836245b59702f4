"""check --against and --merge as they are printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.inprocess import Done
    from tests.review.team import Team


def run(team: Team, *arguments: str, said: str = "-v") -> Done:
    """Run `check`, loudly unless something else is asked for."""
    return team.world.run(said, "check", *arguments)


@pytest.mark.case(10)
def test_merge_as_json_and_text(team: Team) -> None:
    (merge,) = _json(team, "--merge", "ada", "bob")["merges"]
    (pair,) = merge["commute"]
    assert (merge["applies"], pair["commutes"]) == (True, True)
    assert pair["tree_ab"] == pair["tree_ba"] == merge["tree"]
    done = run(team, "--merge", "ada", "bob", "--no-apply")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Merge of ada and bob, which parted at ")
    assert lines[1].startswith("patches/0021-ada.patch: error: number 0021 is used 2 times: ")
    assert lines[-2] == "claimed elsewhere: 0022 by patches/0022-late.patch on late"
    assert lines[-1] == "4 patches: 1 error, 2 warnings; not applied"
    quiet = run(team, "--merge", "ada", "bob", "--no-apply", said="-q").stdout
    assert "[duplicate-number]" in quiet
    assert "[prefix-change]" not in quiet
    assert "Merge of" not in quiet


def test_against_two_branches(team: Team) -> None:
    done = run(team, "--against", "late", "--against", "elsewhere", "--no-apply")
    assert done.returncode == 0
    said = done.stdout.splitlines()
    assert said[0] == "2 patches: no findings"
    assert said[1].startswith("Merge of the folder and late, which parted at ")
    assert "0022-late.patch" in said[2]  # a gap that only the merge has
    assert "merges cleanly: 2 patches, not applied" in said
    assert "merges cleanly: 2 patches, applies, commit " in run(team, "--against", "elsewhere").stdout


def _json(team: Team, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(team, *arguments, "--format", "json").stdout)
    return answer
