"""What cannot be searched is refused with exit status 2, and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.bisect import history, stage
from skippy_patches.bisect.errors import NoHistory, NotAHistory, UnknownRevision
from skippy_patches.queue import reader
from skippy_patches.upstream.cache import Cache
from tests.world import Recorder, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bisect.conftest import Ground


def refused(ground: Ground, number: int, *words: str, status: int = 2) -> str:
    done = ground.run(number, *words)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("revision", ["--output=x", ""])
def test_what_cannot_be_a_revision(ground: Ground, revision: str) -> None:
    said = refused(ground, 4, f"--bad={revision}")

    assert "knows no commit" in said or "No --bad is given" in said
    for folder in (ground.world.root, ground.world.upstream):
        assert not (folder / "x").exists()


@pytest.mark.parametrize(
    "revision",
    ["HEAD;rm -rf .", "--upload-pack=touch x", "$(touch x)", "l8..b1", "", "l8^{tree}", ":/", "\n", "é"],
)
def test_hostile_and_unknown_revisions(ground: Ground, revision: str) -> None:
    with pytest.raises(UnknownRevision, match="knows no commit"):
        history.Clone.open(ground.world.upstream).commit(revision)
    assert not (ground.world.upstream / "x").exists()


def test_an_unknown_revision_in_a_clone(ground: Ground) -> None:
    upstream = ground.world.upstream
    said = refused(ground, 4, "--bad", "b99", "--repository", str(upstream))

    assert f"error: {upstream} knows no commit 'b99'." in said
    assert f"hint: Fetch it: git -C {upstream} fetch --tags" in said


def test_the_wrong_way_round(ground: Ground) -> None:
    said = refused(ground, 4, "--good", "l8", "--bad", "b1")

    b1, l8 = ground.commits["b1"], ground.commits["l8"]
    assert f"The good commit {l8} is no ancestor of the bad one, {b1}." in said
    assert f"They are the other way round: --good {b1} --bad {l8}" in said


def test_histories_that_parted(ground: Ground) -> None:
    said = refused(ground, 4, "--good", "r1", "--bad", "l8")

    assert f"Begin there, if the patch applies there: --good {ground.commits['b1']}" in said


@pytest.mark.parametrize("commit", ["l3", "l6"])  # it applies there; it does not
def test_good_and_bad_are_one_commit(ground: Ground, commit: str) -> None:
    said = refused(ground, 4, "--good", commit, "--bad", ground.commits[commit])

    assert f"The good commit and the bad one are the same: {ground.commits[commit]}." in said
    assert f"skippy-patches bisect 4 --once --at {ground.commits[commit]} --repository DIR" in said


def test_it_applies_at_bad(ground: Ground) -> None:
    said = refused(ground, 4, "--bad", "l3")

    assert f"Patch 0004 applies on the bad commit {ground.commits['l3']}: nothing broke it." in said


def test_it_applies_at_bad_without_another(ground: Ground) -> None:
    said = refused(ground, 2, "--bad", "k3")

    assert "It applies without these, which do not: 0001-first.patch." in said
    assert "skippy-patches bisect 1" in said


def test_it_does_not_apply_at_good(ground: Ground) -> None:
    said = refused(ground, 1, "--good", "b0", "--bad", "k3")

    assert f"Patch 0001 does not apply on the good commit {ground.commits['b0']}." in said
    assert "the hunk at patches/0001-first.patch:" in said


def test_one_that_it_stands_on_does_not_apply_at_good(ground: Ground) -> None:
    said = refused(ground, 2, "--good", "k2", "--bad", "k4")

    assert f"Patch 0002 does not apply on the good commit {ground.commits['k2']}." in said
    assert "Patch 0001 does not apply: patches/0001-first.patch" in said


def test_it_cannot_be_told_at_bad(ground: Ground) -> None:
    said = refused(ground, 3, "--bad", "k3", status=125)

    b1, k3 = ground.commits["b1"], ground.commits["k3"]
    assert f"Whether patch 0003 applies on the bad commit {k3} cannot be told." in said
    assert f"skippy-patches bisect 1 --good {b1} --bad {k3}" in said


def test_there_is_no_such_patch(ground: Ground) -> None:
    assert "There is no patch 0099 in the queue." in refused(ground, 99, "--bad", "l8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "No --bad is given"),
        (("--bad", "l8", "--at", "l8"), "--at names the commit for --once"),
    ],
)
def test_options_that_contradict_each_other(ground: Ground, words: tuple[str, ...], said: str) -> None:
    assert said in refused(ground, 4, *words)


def test_a_shallow_clone_cut_off_between(ground: Ground, shallow: Path) -> None:
    git(shallow, "fetch", "-q", "--depth=1", "origin", "tag", "b1")  # the pin, and nothing between
    said = refused(ground, 4, "--bad", "l8", "--repository", str(shallow))

    assert f"{shallow} does not hold the whole history between the two commits: it is shallow." in said
    assert f"hint: Fetch it: git -C {shallow} fetch --unshallow" in said


@pytest.mark.thorough
def test_a_shallow_clone_once_the_rest_is_fetched(ground: Ground, shallow: Path) -> None:
    git(shallow, "fetch", "-q", "--unshallow")
    assert ground.run(4, "--good", "l4", "--bad", "l5", "--repository", str(shallow)).returncode == 0


def test_a_shallow_clone_that_lacks_good(ground: Ground, shallow: Path) -> None:
    said = refused(ground, 4, "--bad", "l8", "--repository", str(shallow))

    assert f"{shallow} knows no commit '{ground.commits['b1']}'." in said
    assert f"hint: Fetch it: git -C {shallow} fetch --unshallow" in said


@pytest.mark.thorough
def test_a_shallow_clone_that_is_deep_enough(ground: Ground, tmp_path: Path) -> None:
    clone = tmp_path / "deep"
    where = ground.world.upstream.as_uri()
    git(tmp_path, "clone", "-q", "--depth=5", "--branch=l8", where, str(clone))
    assert ground.run(4, "--good", "l4", "--bad", "l5", "--repository", str(clone)).returncode == 0


def test_a_partial_clone(ground: Ground, tmp_path: Path) -> None:
    git(ground.world.upstream, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", ground.world.upstream.as_uri(), str(clone))
    said = refused(ground, 4, "--bad", "l8", "--repository", str(clone))

    assert f"{clone} is a partial clone: it may lack contents of files." in said


def test_the_checkout_has_no_history(ground: Ground, shallow: Path, tmp_path: Path) -> None:
    """Neither is anything of it upstream's but the pin."""
    project = ground.world.project()._replace(checkout=shallow)
    patches, cache = reader.load(project), Cache(root=tmp_path)
    for ask in (
        lambda: stage.once(project, patches, 4, good="l8", at="", folder=shallow),
        lambda: history.find(project, shallow, ["l8"], cache, Recorder()),
    ):
        with pytest.raises(NotAHistory, match="it is this project's checkout, which has the pin without"):
            ask()


def test_only_a_package_is_configured(ground: Ground, tmp_path: Path) -> None:
    project = ground.world.project()
    upstream = project.upstream._replace(repository="", mirrors=())
    with pytest.raises(NoHistory) as caught:
        history.find(
            project._replace(upstream=upstream), None, ["b1", "l8"], Cache(root=tmp_path), Recorder()
        )

    assert "No repository is configured." in caught.value.why
    assert "--repository DIR" in caught.value.mend


def test_folders_that_are_no_clone(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder, reason in [
        (tmp_path, "not a git repository"),
        (tmp_path / "file", "it is not a folder"),
        (tmp_path / "none", "it does not exist"),
        (ground.world.upstream / "src", "it lies in the work tree of a repository around it"),
    ]:
        said = refused(ground, 4, "--bad", "l8", "--repository", str(folder))
        assert f"{folder} cannot be searched: " in said
        assert reason in said
