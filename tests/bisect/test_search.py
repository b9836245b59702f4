"""`bisect` on real small histories: straight, merged, mended again, not to be told, renamed, binary."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from skippy_patches.bisect import search, stage
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.bisect.result import Found
    from tests.bisect.conftest import Ground
    from tests.inprocess import Done


def found(ground: Ground, number: int, *words: str, status: int = 0) -> dict[str, Any]:
    return read(ground.run(number, *words, "--format", "json"), status)


def read(done: Done, status: int = 0) -> dict[str, Any]:
    assert done.returncode == status, done.stderr
    content = json.loads(done.stdout)
    assert isinstance(content, dict)
    return content


def found_and_shown(ground: Ground, number: int, *words: str, status: int = 0) -> tuple[dict[str, Any], str]:
    """What programs and what people get of one and the same search."""
    kept: list[Found] = []
    real = stage.run

    def run(*words: Any, **more: Any) -> Found:
        if not kept:
            kept.append(real(*words, **more))
        return kept[0]

    with mock.patch.object(stage, "run", run):
        content, shown = found(ground, number, *words, status=status), ground.run(number, *words)
    assert shown.returncode == status, shown.stderr
    return content, shown.stdout


def names(ground: Ground, commits: list[dict[str, Any]]) -> list[str]:
    known = {commit: name for name, commit in ground.commits.items()}
    return [known[each["commit"]] for each in commits]


def test_a_straight_line(ground: Ground) -> None:
    content = found(ground, 4, "--bad", "l8")

    commits = ground.commits
    assert content["first_bad"] == {
        "commit": commits["l5"],
        "author": "Una Upstream",
        "email": "una@example.org",
        "date": "2026-01-01T00:07:00+00:00",
        "subject": "l5: a change of upstream",
    }
    assert (content["number"], content["file"]) == (4, "0004-elsewhere.patch")
    assert (content["good"], content["bad"], content["commits"]) == (commits["b1"], commits["l8"], 8)
    assert names(ground, content["candidates"]) == ["l5"]
    assert names(ground, content["before"]) == ["l4"]
    assert [each["outcome"] for each in content["before"]] == ["good"]
    assert "src/b.cpp: the hunk at patches/0004-elsewhere.patch:" in content["reason"]["why"]
    assert "+     theirs();" in content["reason"]["why"]
    assert not content["is_upstreamed"]
    assert len(content["tried"]) <= 4
    assert {each["outcome"] for each in content["tried"]} == {"good", "bad"}


@pytest.mark.thorough
def test_it_breaks_is_mended_and_breaks_again(ground: Ground) -> None:
    """git promises one place where good turns to bad, not which: docs/bisect.md."""
    content = found(ground, 4, "--bad", "n7")

    pair = names(ground, [content["first_bad"], *content["before"]])
    assert pair in (["n2", "n1"], ["n6", "n5"])
    assert content["before"][0]["outcome"] == "good"


def test_a_parent_that_was_bad_already_is_told(ground: Ground) -> None:
    content, shown = found_and_shown(ground, 4, "--good", "n5", "--bad", "t2")

    assert names(ground, [content["first_bad"], *content["before"]]) == ["t1", "n3"]
    assert content["before"][0]["outcome"] == "bad"
    assert f"\nparent, bad too  {ground.commits['n3']} " in shown


def test_a_merge_brought_it(ground: Ground) -> None:
    content = found(ground, 4, "--bad", "m4")
    assert names(ground, [content["first_bad"], *content["before"]]) == ["s2", "s1"]

    content = found(ground, 4, "--bad", "m4", "--first-parent")
    assert names(ground, [content["first_bad"], *content["before"]]) == ["m3", "m2"]
    assert content["commits"] == 4


def test_an_earlier_patch_that_fails_is_left_out_when_this_one_does_not_need_it(ground: Ground) -> None:
    """From k2 on 0001 does not apply; 0002 goes on to apply until k4 changes its own block."""
    done = ground.world.run("-v", "bisect", "2", "--bad", "k4", "--format", "json")
    content = read(done)

    assert names(ground, [content["first_bad"], *content["before"]]) == ["k4", "k3"]
    left_out = {each["commit"]: each["left_out"] for each in content["tried"]}
    assert left_out[ground.commits["k3"]] == ["0001-first.patch"]
    assert f"{ground.commits['k3']}: good, without 0001-first.patch" in done.stderr


def test_commits_at_which_it_cannot_be_told_are_skipped(ground: Ground) -> None:
    content, shown = found_and_shown(ground, 3, "--bad", "k6", status=125)

    assert content["first_bad"] is None
    assert names(ground, content["candidates"]) == ["k5", "k4", "k3", "k2"]
    assert names(ground, content["before"]) == ["k1"]
    assert {each["outcome"] for each in content["tried"]} == {"good", "bad", "skip"}

    assert "patches/0003-needs-first.patch was broken by one of these 4 commits:" in shown
    good, bad = ground.commits["b1"], ground.commits["k6"]
    assert "0001-first.patch, which it needs, does not apply on all of them" in shown
    assert f"skippy-patches bisect 1 --good {good} --bad {bad}" in shown


def test_a_patch_that_upstream_has_taken_does_not_stand_in_the_way(ground: Ground) -> None:
    content = found(ground, 3, "--bad", "u5")

    assert names(ground, [content["first_bad"], *content["before"]]) == ["u4", "u3"]
    upstreamed = {each["commit"]: each["upstreamed"] for each in content["tried"]}
    assert upstreamed[ground.commits["u3"]] == ["0001-first.patch"]


def test_retired_and_broken_are_different_words(ground: Ground) -> None:
    content, shown = found_and_shown(ground, 1, "--bad", "u2")

    assert names(ground, [content["first_bad"], *content["before"]]) == ["u2", "u1"]
    assert content["is_upstreamed"]
    assert "Upstream has its change there: the patch is not broken" in shown


def test_a_file_that_was_renamed(ground: Ground) -> None:
    done = ground.world.run("-q", "bisect", "6", "--good", "r1", "--bad", "r2", "--format", "json")
    content = read(done)

    assert names(ground, [content["first_bad"]]) == ["r2"]
    assert content["reason"]["why"] == "src/c.cpp: the patch changes it, and it is not there"
    assert done.stderr == ""


def test_a_binary_patch(ground: Ground) -> None:
    content = found(ground, 5, "--good", "x1", "--bad", "x2")

    assert names(ground, [content["first_bad"]]) == ["x2"]
    assert "logo.bin" in content["reason"]["why"]


def test_good_right_below_bad_needs_no_step(ground: Ground) -> None:
    content = found(ground, 4, "--good", "l4", "--bad", "l5")

    assert names(ground, [content["first_bad"], *content["before"]]) == ["l5", "l4"]
    assert content["tried"] == []


def test_nothing_of_anybody_changes(ground: Ground, tmp_path: Path) -> None:
    """Files, index, refs, HEAD and objects of the clone and of the checkout: the very same."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(ground.world.upstream), str(clone))
    (clone / "src/a.cpp").write_text("half done\n", encoding="utf-8")
    ground.world.apply()

    def state() -> dict[Path, bytes]:
        places = (clone, ground.world.checkout, ground.world.patches)
        return {file: file.read_bytes() for place in places for file in place.rglob("*") if file.is_file()}

    before = state()
    found(ground, 4, "--good", "l3", "--bad", "l5", "--repository", str(clone))
    assert state() == before
    assert not list(ground.world.project().state.glob("trial-*"))


def test_interrupted_it_leaves_nothing_behind(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "_git_bisect", interrupt)
    assert ground.run(4, "--bad", "l8").returncode == 130
    assert not list(ground.world.project().state.glob("trial-*"))
