"""What may be done with git while a conflict of `continue` waits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.errors import ForeignWork
from skippy_patches.authoring.edit.errors import BaseGone, Conflict
from skippy_patches.authoring.errors import OperationInProgress
from tests.authoring.desk import FILE, abort, actions, amend, conflicting, go_on, run, source, stop
from tests.world import git

if TYPE_CHECKING:
    from tests.world import World

PERSON = {
    "GIT_AUTHOR_NAME": "Per Son",
    "GIT_AUTHOR_EMAIL": "per@example.org",
    "GIT_AUTHOR_DATE": "2027-01-01",
}


def in_conflict(world: World) -> None:
    conflicting(world)
    with pytest.raises(Conflict, match=f"{FILE}: changed by both"):
        go_on(world)
    before, _, rest = source(world).partition("<<<<<<< ")
    behind = rest.partition(">>>>>>> ")[2].partition("\n")[2]
    (world.checkout / FILE).write_text(f"{before}void due() {{\n{behind}", encoding="utf-8")


def head(world: World, commit: str = "HEAD") -> str:
    return world.inside("log", "-1", "--format=%an %ae %aI", commit)


def test_a_commit_is_the_patch_s_author_s_and_an_amend_is_refused(project: World) -> None:
    in_conflict(project)
    author = head(project, "original~1")
    with pytest.raises(AssertionError, match="in the middle of a cherry-pick"):
        amend(project)
    git(project.checkout, "commit", "-q", "-a", "-m", "other words", env=PERSON)
    assert head(project) == author
    go_on(project)
    assert head(project, "HEAD~1") == author
    assert not (project.checkout / ".git/CHERRY_PICK_HEAD").exists()
    assert actions(run(project)) == ["rewritten 1", "rewritten 2", "kept 4"]


@pytest.mark.thorough
def test_what_an_amend_swallowed_is_brought_back(project: World) -> None:
    in_conflict(project)
    project.inside("reset", "-q")
    amend(project)
    with pytest.raises(BaseGone) as caught:
        go_on(project)
    soft = re.search(r"reset --soft (\w+)", caught.value.mend)
    assert soft
    project.inside("reset", "-q", "--soft", soft[1])
    go_on(project)
    assert actions(run(project)) == ["rewritten 1", "rewritten 2", "kept 4"]


@pytest.mark.thorough
@pytest.mark.parametrize("word", ["--abort", "--skip"])
def test_git_s_own_words_leave_the_patch_out(project: World, word: str) -> None:
    in_conflict(project)
    project.inside("cherry-pick", word)
    assert [each.patch for each in go_on(project).left_out] == ["patches/0002-patch2.patch"]


@pytest.mark.thorough
def test_a_cherry_pick_of_the_author_s_own_is_in_progress(project: World) -> None:
    in_conflict(project)
    project.inside("reset", "-q", "--hard")
    with pytest.raises(AssertionError, match="could not apply"):
        project.inside("cherry-pick", project.inside("rev-parse", "original~2"))
    with pytest.raises(OperationInProgress):
        go_on(project)
    with pytest.raises(OperationInProgress):
        abort(project)


@pytest.mark.thorough
def test_apply_points_to_the_edit(project: World) -> None:
    in_conflict(project)
    with pytest.raises(ForeignWork) as caught:
        project.apply()
    assert "skippy-patches continue" in caught.value.mend
    assert "refresh" not in caught.value.mend


@pytest.mark.thorough
def test_a_file_that_one_side_deleted_is_said_so(world: World) -> None:
    world.add(1, "first", {"docs/a.md": "1\n"})
    world.add(2, "second", {"docs/readme.md": "changed\n"})
    world.apply()
    stop(world, 1)
    world.inside("rm", "-q", "docs/readme.md")
    amend(world)
    with pytest.raises(Conflict, match=r"docs/readme\.md: deleted or renamed by you") as caught:
        go_on(world)
    assert re.search(r"git -C \S+ rm FILE", caught.value.mend)
