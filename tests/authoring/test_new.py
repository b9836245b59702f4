"""`new`: a patch begins as an empty commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring import new
from skippy_patches.authoring.errors import NothingApplied, NotOnBranch
from skippy_patches.authoring.message_errors import EmptyCommit
from skippy_patches.authoring.new import Begun, Request
from skippy_patches.authoring.new_errors import (
    NoIdentity,
    NumberOutOfReach,
    NumberTaken,
    SubjectDoesNotSurvive,
    TwoWishes,
)
from skippy_patches.authoring.refresh.errors import NumberDoesNotFit
from skippy_patches.queue.claims import NoSuchBand
from skippy_patches.upstream import pin
from tests.authoring.desk import actions, commit, edit, go_on, names, run, stop, three_patches
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from collections.abc import Iterator

BANDS = "bands: {mtp: 100-199}\n"


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Per Son")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "per@example.org")
    yield


def begin(world: World, subject: str, *, number: int = 0, band: str = "") -> Begun:
    request = Request(subject=subject, number=number, band=band)
    project = world.project()
    return new.begin(project, pin.read(project.upstream), request, reporter=Recorder())


def fill(world: World, name: str) -> None:
    """As its author would."""
    (world.checkout / f"docs/{name}.md").write_text("new\n", encoding="utf-8")
    world.inside("add", "-A")
    world.inside("commit", "-q", "--amend", "--no-edit")


def test_a_patch_from_beginning_to_end(project: World) -> None:
    three_patches(project)
    edit(project, 27, "already")
    begun = begin(project, "kv: count pages")
    assert begun.file == "0005-kv-count-pages.patch"
    assert project.inside("log", "-1", "--format=%an <%ae> %s") == "Per Son <per@example.org> kv: count pages"
    assert project.inside("diff", "--name-only") == "src/llama.cpp"
    with pytest.raises(EmptyCommit):
        project.inside("stash")
        run(project)
    project.inside("stash", "pop", "-q")
    project.inside("commit", "-q", "-a", "--amend", "--no-edit")
    run(project)
    assert names(project)[-1] == begun.file
    assert not project.apply().moved


@pytest.mark.thorough
def test_a_band_and_a_number_are_remembered(project: World) -> None:
    three_patches(project)
    project.configure(BANDS)
    assert begin(project, "in the band", band="mtp").file == "0100-in-the-band.patch"
    fill(project, "one")
    begin(project, "a number", number=150)
    fill(project, "two")
    project.inside("commit", "-q", "--amend", "-m", "another subject")
    assert actions(run(project))[3:] == ["new 100", "new 150"]
    assert names(project)[-1] == "0150-another-subject.patch"
    assert not project.apply().moved
    begin(project, "behind it", number=160)
    fill(project, "three")
    commit(project, "Another\n", {"docs/another.md": "x\n"})
    order = project.inside("rev-list", "--reverse", "HEAD~2..HEAD").split()
    project.inside("reset", "-q", "--hard", "HEAD~2")
    project.inside("cherry-pick", *reversed(order))
    with pytest.raises(NumberDoesNotFit, match=r"number 0160.\n.*It stands behind"):
        run(project)


@pytest.mark.case(17)
@pytest.mark.parametrize(
    "subject",
    [
        "[tag] x",
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in ("", "  ", "Re: x", "two\nlines", "a  b", " x")
        ),
    ],
)
def test_a_subject_that_would_not_survive(project: World, subject: str) -> None:
    three_patches(project)
    head = project.inside("rev-parse", "HEAD")
    with pytest.raises(SubjectDoesNotSurvive):
        begin(project, subject)
    assert project.inside("rev-parse", "HEAD") == head


@pytest.mark.thorough
def test_what_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NothingApplied):
        begin(world, "x")
    three_patches(world)
    with pytest.raises(TwoWishes):
        begin(world, "x", number=9, band="mtp")
    with pytest.raises(NumberTaken, match=r"0002 is taken by patches/0002-patch2\.patch"):
        begin(world, "x", number=2)
    with pytest.raises(NoSuchBand):
        begin(world, "x", band="none")
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    with pytest.raises(NoIdentity, match=r"git config --global user\.name"):
        begin(world, "x")
    world.inside("config", "user.name", "Local Name")
    assert world.inside("log", "-1", "--format=%an", begin(world, "x").commit) == "Local Name"
    world.inside("checkout", "-q", "--detach")
    with pytest.raises(NotOnBranch):
        begin(world, "x")


@pytest.mark.thorough
def test_numbers_of_other_branches_count(project: World) -> None:
    three_patches(project)
    git(project.root, "init", "-q")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "queue")
    git(project.root, "checkout", "-q", "-b", "other")
    (project.patches / "0004-patch4.patch").rename(project.patches / "0007-patch4.patch")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "other")
    git(project.root, "checkout", "-q", "-")
    with pytest.raises(NumberTaken, match="on other"):
        begin(project, "x", number=7)
    commit(project, "Mine\n", {"docs/mine.md": "x\n"})
    assert actions(run(project))[-1] == "new 8"


def test_a_number_that_cannot_stand_there_is_refused_at_once(project: World) -> None:
    three_patches(project)
    begin(project, "a", number=50)
    with pytest.raises(NumberTaken, match='0050 is taken by "a", which `new` began before'):
        begin(project, "b", number=50)
    with pytest.raises(NumberOutOfReach, match=r'0049 does not fit.* behind "a"'):
        begin(project, "b", number=49)
    project.inside("reset", "-q", "--hard", "HEAD^")
    assert begin(project, "b", number=50).file == "0050-b.patch"
    project.inside("reset", "-q", "--hard", "HEAD^")
    with pytest.raises(NumberOutOfReach, match=r"0003 does not fit.* behind patches/0004-patch4\.patch"):
        begin(project, "b", number=3)


@pytest.mark.thorough
def test_a_number_fits_where_an_edit_stopped(project: World) -> None:
    three_patches(project)
    stop(project, 2)
    with pytest.raises(NumberOutOfReach, match=r"0005 does not fit.* before patches/0004-patch4\.patch"):
        begin(project, "b", number=5)
    begin(project, "b", number=3)
    fill(project, "b")
    go_on(project)
    assert actions(run(project)) == ["kept 1", "kept 2", "new 3", "kept 4"]
