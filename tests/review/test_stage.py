"""What a merge would do to the queue, on branches of a real repository."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from skippy_patches.errors import ConfigError
from skippy_patches.queue.commit_errors import NotConfigured
from skippy_patches.review.errors import (
    GitTooOld,
    NotARepository,
    OtherObjectFormat,
    ShallowHistory,
    UnrelatedHistories,
)
from tests.review.team import Team, codes, everything, one
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.case(10)
def test_two_branches_took_one_number_and_commute(team: Team) -> None:
    review = team.review("ada", "bob")
    assert codes(review.found) == ["claimed-number", "duplicate-number", "prefix-change"]
    duplicate = one(review.found, "duplicate-number")
    assert duplicate.files == ("patches/0021-ada.patch", "patches/0021-bob.patch")
    assert "patches/0021-ada.patch comes from ada; patches/0021-bob.patch comes from bob" in duplicate.why
    (pair,) = review.tried.commutes
    assert pair.commutes
    assert pair.tree_ab == pair.tree_ba == review.tried.tree
    assert f"commute: on commit {pair.base} both orders give tree {pair.tree_ab}." in duplicate.why
    assert review.base == git(team.top, "rev-parse", "main")
    assert (review.patches, review.tried.applies) == (4, True)


def test_the_commit_is_what_apply_makes_after_the_merge(own: Team) -> None:
    review = own.review("ada", "bob")
    git(own.top, "checkout", "-q", "ada")
    git(own.top, "merge", "-q", "bob")
    (own.world.patches / "0021-bob.patch").rename(own.world.patches / "0022-bob.patch")
    patched = own.world.apply().applied.patched
    assert (review.tried.commit, review.tried.tree) == (patched.commit, patched.tree)


def test_patches_at_one_place_do_not_commute(team: Team) -> None:
    review = team.review("bob", "eve")
    (pair,) = review.tried.commutes
    assert pair.commutes is False
    assert pair.tree_ab is pair.tree_ba is None
    assert pair.reason.startswith("with 0021-bob.patch before 0021-eve.patch: Patch 0021 does not apply")
    assert "0021-bob.patch and 0021-eve.patch do not commute:" in one(review.found, "duplicate-number").why
    refused = one(review.found, "does-not-apply")
    assert refused.is_error
    assert refused.what == "Patch 0021 does not apply, in the merge of bob and eve"
    assert "src/llama.cpp: the hunk at patches/0021-eve.patch:" in refused.why
    assert (review.tried.applies, review.tried.commit) == (False, None)


def test_patches_that_apply_in_both_orders_may_still_not_commute(team: Team) -> None:
    review = team.review("fay", "gus")
    (pair,) = review.tried.commutes
    assert pair.commutes is False
    assert pair.tree_ab
    assert pair.tree_ba
    assert pair.tree_ab != pair.tree_ba
    assert pair.reason == "The two orders differ in docs/same.txt."
    assert review.tried.applies


def test_renumbering_against_adding(team: Team) -> None:
    review = team.review("ada", "renumbering", wants_apply=False)
    inversion = one(review.found, "order-inversion")
    assert inversion.files == ("patches/0021-ada.patch", "patches/0025-second.patch")
    assert not inversion.is_error
    changes = [finding for finding in review.found if finding.code == "prefix-change"]
    assert [change.files[0] for change in changes] == ["patches/0025-second.patch"] * 2
    assert "0021-ada.patch of ada comes before it" in changes[1].what


def test_what_was_there_stands_on_what_comes_in_below_it(team: Team) -> None:
    review = team.review("late", "ada", wants_apply=False)
    change = one(review.found, "prefix-change")
    assert change.files == ("patches/0022-late.patch", "patches/0021-ada.patch")
    assert "in late: 0021-ada.patch of ada comes before it" in change.what
    assert codes(team.review("main", "late", wants_apply=False).found) == ["gap"]


def test_a_number_of_the_base_taken_again(team: Team) -> None:
    duplicate = one(team.review("main", "zoe", wants_apply=False).found, "duplicate-number")
    assert (
        "patches/0020-second.patch is on both sides; patches/0020-zoe.patch comes from zoe" in duplicate.why
    )


def test_conflicts_in_the_queue_are_found_and_others_are_not_ours(team: Team) -> None:
    review = team.review("rewording", "rephrasing")
    conflict = one(review.found, "merge-conflict")
    assert conflict.files == ("patches/0020-second.patch",)
    assert "Both sides change, rename or delete it, or the folder it is in" in conflict.why
    assert conflict.is_error
    assert codes(review.found) == ["merge-conflict"]
    assert "patches/0020-second.patch" not in {claim.file for claim in review.claims}
    assert review.tried.applies is None
    other = team.review("elsewhere", "rewording", wants_apply=False)  # git would stop at readme.txt
    assert codes(other.found) == ["prefix-change"]


def test_a_configuration_that_makes_no_sense_once_merged(team: Team) -> None:
    review = team.review("above", "below")
    refused = one(review.found, "merged-configuration")
    assert refused.files == ("skippy-patches.yaml",)
    assert refused.what == "cannot be used in the merge of above and below: 'bands' is given twice"
    assert refused.line
    assert review.tried.applies is None


def test_a_side_from_before_the_project(team: Team) -> None:
    review = team.review("main", "older", wants_apply=False)
    assert review.patches == 2
    assert codes(review.found) == ["claimed-number"]  # 0020, by zoe
    with pytest.raises(NotConfigured, match=r"older has no skippy-patches.yaml|old has no"):
        team.review("old", "older")


def test_claims_of_others_and_not_of_what_is_merged(own: Team) -> None:
    review = own.review("ada", "main", wants_apply=False)
    claimed = one(review.found, "claimed-number")
    assert claimed.what.startswith("number 0021 is claimed for another patch: patches/0021-bob.patch on bob")
    assert claimed.what.endswith("and 1 more")
    git(own.top, "branch", "same", "ada")
    git(own.top, "checkout", "-q", "ada")
    own.move("0021-ada.patch", "0031-ada.patch")
    for branch in ("bob", "eve", "fay", "gus"):
        git(own.top, "branch", "-q", "-D", branch)
    review = own.review("folder", "main", wants_apply=False)
    assert [(claim.number, claim.refs) for claim in review.claims] == [
        (20, ("refs/heads/zoe",)),
        (22, ("refs/heads/late",)),
    ]


@pytest.mark.case(2, 7)
def test_settings_and_a_hooks_variables_do_not_count(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "elsewhere")
    settings = "[merge]\nrenames = false\ndirectoryRenames = true\n[diff]\nrenames = false\n"
    (tmp_path / ".gitconfig").write_text(f"{settings}[core]\nautocrlf = true\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere/.git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere/.git/objects"))
    review = team.review("renumbering", "rewording", wants_apply=False)  # the edit follows the new name
    assert codes(review.found) == ["gap", "prefix-change"]
    change = one(review.found, "prefix-change")
    assert change.files == ("patches/0025-second.patch",)
    assert "in renumbering: rewording changes it" in change.what


@pytest.mark.parametrize("where", ["folder", "index"])
def test_what_lies_here_is_merged_and_nothing_is_touched(own: Team, where: str) -> None:
    own.take("ada", "0021-ada.patch")
    (own.world.patches / "0019-first.patch").unlink()
    if where == "index":
        git(own.top, "add", "-A")
        own.take("eve", "0021-eve.patch")  # lies there, and is not staged
    before = everything(own.top)
    review = own.review(where, "bob", wants_apply=False)
    assert everything(own.top) == before
    duplicate = one(review.found, "duplicate-number")
    assert duplicate.files == ("patches/0021-ada.patch", "patches/0021-bob.patch")
    assert f"patches/0021-ada.patch comes from the {where}" in duplicate.why
    assert review.patches == 3
    assert review.ours.as_json() == {"name": where, "commit": git(own.top, "rev-parse", "HEAD")}


def test_a_merge_in_progress_counts_as_merged(own: Team) -> None:
    git(own.top, "checkout", "-q", "rewording")
    git(own.top, "merge", "-q", "--no-commit", "--no-ff", "late")
    (own.world.patches / "0022-late.patch").unlink()  # the person drops what comes in
    review = own.review("folder", "late", wants_apply=False)
    assert review.patches == 2
    assert review.base == git(own.top, "rev-parse", "late")


def test_line_ends_are_those_that_git_would_commit(own: Team) -> None:
    (own.top / ".gitattributes").write_text("*.patch text eol=crlf\n", encoding="utf-8")
    own.commit("Patches have CRLF in the work tree")
    for patch in own.world.patches.iterdir():
        patch.write_bytes(patch.read_bytes().replace(b"\n", b"\r\n"))
    review = own.review("folder", "rewording", wants_apply=False)
    assert "merge-conflict" not in codes(review.found)
    assert review.patches == 2


def test_a_conflict_in_the_index_is_left_out(own: Team) -> None:
    git(own.top, "checkout", "-q", "rewording")
    with pytest.raises(AssertionError, match="merge"):
        git(own.top, "merge", "-q", "rephrasing")
    assert own.review("index", "late", wants_apply=False).patches == 2  # 0019-first and 0022-late


def test_attributes_say_how_patches_merge(own: Team) -> None:
    patch = own.world.patches / "0020-second.patch"
    patch.write_bytes(patch.read_bytes() + b"\n")
    assert "merge-conflict" not in codes(own.review("folder", "rewording", wants_apply=False).found)
    own.write(".gitattributes", "*.patch -merge\n")
    assert "merge-conflict" in codes(own.review("folder", "rewording", wants_apply=False).found)


def test_an_executable_patch_that_the_other_side_drops(own: Team) -> None:
    (own.world.patches / "0020-second.patch").chmod(0o755)
    own.commit("A stray mode")
    git(own.top, "checkout", "-q", "-b", "dropping")
    git(own.top, "rm", "-q", "patches/0020-second.patch")
    own.commit("Drop it")
    git(own.top, "checkout", "-q", "main")
    review = own.review("folder", "dropping", wants_apply=False)
    assert "merge-conflict" not in codes(review.found)
    assert "in the folder: dropping drops it" in one(review.found, "prefix-change").what


@pytest.mark.parametrize("name", ["skippy-patches.yaml", "upstream.commit"])
def test_the_pin_and_the_configuration_are_those_of_the_merge(own: Team, name: str) -> None:
    git(own.top, "checkout", "-q", "-b", "broken")
    file = own.world.root / name
    file.write_bytes(file.read_bytes() + b"x\n")
    own.commit("A mistake")
    git(own.top, "checkout", "-q", "main")
    if name == "skippy-patches.yaml":
        with pytest.raises(ConfigError, match=r"skippy-patches\.yaml"):
            own.review("main", "broken")
    else:
        refused = one(own.review("main", "broken").found, "merged-configuration")
        assert refused.files == ("upstream.commit",)
        assert "cannot be used in the merge of main and broken: is commit " in refused.what
        assert "/" not in refused.what.partition("upstream.commit")[0]


def test_a_pin_file_is_read_from_the_commit(own: Team) -> None:
    configuration = own.world.root / "skippy-patches.yaml"
    text = configuration.read_text().replace(f"commit: {own.world.pin}", "commit_file: PIN")
    configuration.write_text(text, encoding="utf-8")
    own.write("PIN", f"{own.world.pin}\n")
    own.commit("The pin has a file")
    git(own.top, "checkout", "-q", "old")  # without any of it
    own.world.patches.mkdir()
    configuration.write_text(text.replace("commit_file: PIN", f"commit: {own.world.pin}"), encoding="utf-8")
    assert own.review("main", "late", wants_apply=False).patches == 3


def test_a_project_in_a_folder_with_two_lanes(tmp_path: Path, upstream: Path) -> None:
    team = Team.create(tmp_path / "top", upstream, "tools/queue")
    root = team.world.root
    team.world.configure("queue: [patches, ../more]\n")
    (root.parent / "more").mkdir()
    team.commit("Two lanes")
    for branch, name in (("one", "0030-one.patch"), ("two", "0030-two.patch")):
        git(team.top, "checkout", "-q", "-b", branch, "main")
        patch = (
            (root / "patches/0020-second.patch")
            .read_text(encoding="utf-8")
            .replace("same.txt", f"{branch}.txt")
        )
        lane = root / "patches" if branch == "one" else root.parent / "more"
        lane.mkdir(exist_ok=True)
        (lane / name).write_text(patch, encoding="utf-8")
        if branch == "one":
            team.commit("Add one")
    review = team.review("folder", "one", wants_apply=False)
    duplicate = one(review.found, "duplicate-number")
    assert duplicate.files == ("patches/0030-one.patch", "../more/0030-two.patch")
    assert review.tried.commutes[0].second.path == "../more/0030-two.patch"


def test_remote_branches_tags_and_merge_bases(own: Team, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(own.top), "clone")
    clone = Team(
        world=World(root=tmp_path / "clone", upstream=own.world.upstream, desk=own.world.desk),
        top=tmp_path / "clone",
    )
    git(clone.top, "tag", "-a", "-m", "a tag", "v1", "origin/late")
    for name in ("origin/late", "v1"):
        assert codes(clone.review("main", name, wants_apply=False).found) == ["gap"]
    review = clone.review("main", "origin/late...origin/ada", wants_apply=False)
    assert review.theirs.commit == git(clone.top, "rev-parse", "main")


def test_a_shallow_clone_says_what_to_fetch(own: Team, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", f"file://{own.top}", "clone")
    clone = Team(
        world=World(root=tmp_path / "clone", upstream=own.world.upstream, desk=own.world.desk),
        top=tmp_path / "clone",
    )
    with pytest.raises(ShallowHistory) as caught:
        clone.review("folder", "origin/ada")
    assert "git fetch --unshallow" in caught.value.mend
    assert "fetch-depth: 0" in caught.value.mend
    git(clone.top, "fetch", "-q", "--unshallow")
    assert clone.review("folder", "origin/ada", wants_apply=False).patches == 3


def test_unrelated_histories(own: Team) -> None:
    git(own.top, "checkout", "-q", "--orphan", "stranger")
    own.commit("Another root")
    with pytest.raises(UnrelatedHistories, match="the folder and main have no common commit"):
        own.review("folder", "main")


def test_no_source_of_the_pin_is_a_warning(
    own: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("SKIPPY_PATCHES_REPOSITORY", str(tmp_path / "nowhere"))
    review = own.review("ada", "bob")
    untried = one(review.found, "not-applied")
    assert not untried.is_error
    assert "was not tried: No source could deliver the pin" in untried.what
    assert review.tried.applies is None
    assert review.tried.commutes[0].reason == "the pin cannot be had here."


def test_places_where_nothing_can_be_merged(
    world: World, tmp_path: Path, own: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = Team(world=world, top=world.root)
    with pytest.raises(NotARepository):
        outside.review("folder", "main")
    git(world.root, "init", "-q", "--object-format=sha256")
    with pytest.raises(OtherObjectFormat):
        outside.review("folder", "main")
    real = git(own.top, "--exec-path")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    said = "version) echo git version 2.37.1; exit;; merge-tree) exit 129;;"
    wrapper.write_text(f'#!/bin/sh\ncase $1 in {said} esac\nexec "{real}/git" "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:/usr/bin:/bin")
    with pytest.raises(GitTooOld, match=r"git 2\.37\.1 is too old"):
        own.review("folder", "ada")


@pytest.mark.thorough
def test_every_two_branches(team: Team) -> None:
    names = ["main", "ada", "bob", "eve", "late", "zoe", "fay", "gus", "renumbering", "elsewhere"]
    for ours, theirs in itertools.permutations(names, 2):
        there, back = (team.review(*pair) for pair in ((ours, theirs), (theirs, ours)))
        same = {"claimed-number"}  # that one looks from our side
        assert [c for c in codes(there.found) if c not in same] == [
            c for c in codes(back.found) if c not in same
        ]
        assert (there.tried.commit, there.patches) == (back.tried.commit, back.patches)


def test_a_merge_that_deletes_the_configuration(own: Team) -> None:
    git(own.top, "checkout", "-q", "-b", "gone")
    git(own.top, "rm", "-q", "skippy-patches.yaml")
    own.commit("No project")
    git(own.top, "checkout", "-q", "main")
    for sides in (("main", "gone"), ("gone", "main")):
        review = own.review(*sides)
        refused = one(review.found, "merged-configuration")
        assert refused.is_error
        assert f"is gone in the merge of {sides[0]} and {sides[1]}" in refused.what
        assert review.tried.applies is None


def test_a_merge_that_deletes_every_patch(own: Team) -> None:
    git(own.top, "checkout", "-q", "-b", "empty")
    git(own.top, "rm", "-q", "-r", "patches")
    own.commit("No patches")
    git(own.top, "checkout", "-q", "main")
    assert one(own.review("main", "empty", wants_apply=False).found, "missing-lane").is_error


def test_a_lane_that_is_a_link_on_a_side(own: Team) -> None:
    git(own.top, "checkout", "-q", "-b", "linked", "elsewhere")
    (own.top / "patches").rename(own.top / "real")
    (own.top / "patches").symlink_to("real")
    own.commit("A link")
    git(own.top, "checkout", "-q", "main")
    review = own.review("main", "linked")
    assert one(review.found, "linked-lane").is_error
    assert review.tried.applies is None


def test_another_pin_is_another_prefix_for_the_side_that_has_not_changed_it(own: Team) -> None:
    git(own.top, "checkout", "-q", "-b", "pinned")
    own.world.configure()
    file = own.world.root / "skippy-patches.yaml"
    text = file.read_text(encoding="utf-8").replace(own.world.pin, "1" * 40)
    file.write_text(text, encoding="utf-8")
    own.commit("Another pin")
    git(own.top, "checkout", "-q", "main")
    change = one(own.review("main", "pinned", wants_apply=False).found, "prefix-change")
    assert change.files == ("skippy-patches.yaml",)
    assert change.what == (
        f"the pin is not what it is in main: pinned changes it, from {own.world.pin} to {'1' * 40}"
    )
