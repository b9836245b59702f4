"""What refresh refuses, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring.errors import (
    DirtyCheckout,
    HiddenEdits,
    MergeAmongCommits,
    NothingApplied,
    NotOnBranch,
    OperationInProgress,
    PinNotBelow,
    QueueChanged,
)
from skippy_patches.authoring.message_errors import BadAuthorDate, CutAuthor, CutMessage, EmptyCommit
from skippy_patches.authoring.refresh.errors import (
    AutosquashLeft,
    Unusable,
)
from tests.authoring.desk import (
    FILE,
    actions,
    commit,
    contents,
    edit,
    names,
    run,
    three_patches,
)

if TYPE_CHECKING:
    from skippy_patches.authoring.message_errors import DoesNotSurvive
    from tests.world import World


@pytest.mark.case(24)
def test_what_is_no_commit_is_refused(project: World) -> None:
    three_patches(project)
    (project.checkout / "notes").write_text("mine\n", encoding="utf-8")
    with pytest.raises(DirtyCheckout, match="notes: untracked"):
        run(project)
    (project.checkout / "notes").unlink()
    edit(project, 5, "mine")
    with pytest.raises(DirtyCheckout, match=r"src/llama\.cpp: modified"):
        run(project)
    project.inside("update-index", "--assume-unchanged", FILE)
    with pytest.raises(HiddenEdits, match=FILE):
        run(project)


@pytest.mark.thorough
def test_other_places_than_the_branch_are_refused(world: World) -> None:
    with pytest.raises(NothingApplied):
        run(world)
    three_patches(world)
    (world.checkout / ".git/rebase-merge").mkdir()
    with pytest.raises(OperationInProgress, match="git rebase is in progress"):
        run(world)
    (world.checkout / ".git/rebase-merge").rmdir()
    world.inside("checkout", "-q", "-b", "other")
    with pytest.raises(NotOnBranch, match="the branch other is checked out"):
        run(world)
    world.inside("checkout", "-q", "--detach", "skippy")
    with pytest.raises(NotOnBranch, match="a commit without a branch"):
        run(world)
    world.inside("checkout", "-q", "skippy")
    world.inside("reset", "-q", "--hard", world.inside("commit-tree", "-m", "none", "HEAD^{tree}"))
    with pytest.raises(PinNotBelow):
        run(world)


@pytest.mark.thorough
def test_a_merge_is_refused(project: World) -> None:
    three_patches(project)
    project.inside("checkout", "-q", "-b", "side", "HEAD^")
    commit(project, "Side\n", {"docs/side.md": "x\n"})
    project.inside("checkout", "-q", "skippy")
    project.inside("merge", "-q", "--no-edit", "side")
    with pytest.raises(MergeAmongCommits, match="is a merge"):
        run(project)


def test_a_queue_that_was_changed_since_is_refused(project: World) -> None:
    three_patches(project)
    patch = project.patches / "0002-patch2.patch"
    patch.write_bytes(patch.read_bytes().replace(b"Because of 2", b"Because of two"))
    with pytest.raises(QueueChanged, match=r"skippy-patches apply$"):
        run(project)
    commit(project, "Mine\n", {"docs/mine.md": "x\n"})
    before = contents(project)
    with pytest.raises(QueueChanged, match="branch mine skippy"):
        run(project)
    assert contents(project) == before


@pytest.mark.thorough
@pytest.mark.case(19)
def test_an_empty_commit_is_retired_not_broken(project: World) -> None:
    three_patches(project)
    commit(project, "Nothing\n", None, "--allow-empty")
    with pytest.raises(EmptyCommit, match="changes nothing") as caught:
        run(project)
    assert "commit --all --amend" in caught.value.mend
    project.inside("reset", "-q", "--hard", "HEAD~2")
    project.inside("commit", "-q", "--allow-empty", "-m", "patch4: change 4\n\nBecause of 4.")
    with pytest.raises(EmptyCommit, match=r"patches/0004-patch4\.patch in the queue, and is retired"):
        run(project)


@pytest.mark.case(17)
def test_a_message_that_would_be_cut_is_refused_with_its_line(project: World) -> None:
    three_patches(project)
    before = contents(project)
    edit(project, 5, "mine")
    commit(project, "Mine\n\nBefore\n---\nBehind\n")
    with pytest.raises(CutMessage, match=r"line 4 on: ---") as caught:
        run(project)
    assert f"git -C {project.checkout} commit --amend, then" in caught.value.mend
    edit(project, 27, "more")
    commit(project, "More\n")
    with pytest.raises(CutMessage) as caught:
        run(project)
    assert (
        f"git -C {project.checkout} rebase -i {project.inside('rev-parse', '--short=12', 'HEAD^')}^"
        in str(caught.value)
    )
    assert contents(project) == before


@pytest.mark.thorough
def test_what_the_check_would_refuse_is_not_written(project: World) -> None:
    three_patches(project)
    (project.checkout / "docs/link").symlink_to("../../../outside")
    commit(project, "A link out of the tree\n")
    with pytest.raises(Unusable):
        run(project)
    assert len(names(project)) == 3


def test_commits_for_other_commits_are_refused(project: World) -> None:
    three_patches(project)
    edit(project, 27, "late")
    project.inside("commit", "-q", "-a", "--fixup", "HEAD~1")
    with pytest.raises(AutosquashLeft, match="fixup! patch2: change 2") as caught:
        run(project)
    pin = caught.value.mend.partition("--autosquash ")[2].split()[0]
    project.inside("-c", "sequence.editor=true", "rebase", "-q", "-i", "--autosquash", pin)
    assert actions(run(project)) == ["kept 1", "rewritten 2", "kept 4"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("author", "error"), [("X <> 1700000000 +0100", CutAuthor), ("X <x@example.org> -5 +0000", BadAuthorDate)]
)
def test_an_author_that_git_cannot_read_back(
    project: World, author: str, error: type[DoesNotSurvive]
) -> None:
    three_patches(project)
    made = commit(project, "Mine\n", {"docs/mine.md": "x\n"})
    raw = project.inside("cat-file", "commit", made)
    before = next(line for line in raw.split("\n") if line.startswith("author "))
    file = project.root / "commit"
    file.write_text(raw.replace(before, f"author {author}") + "\n", encoding="utf-8")
    odd = project.inside("hash-object", "-t", "commit", "-w", "--literally", str(file))
    project.inside("reset", "-q", "--hard", odd)
    with pytest.raises(error, match=r"instead of .*X <>|instead of -5 \+0000"):
        run(project)
