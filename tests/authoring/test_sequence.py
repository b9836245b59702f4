"""edit, continue, edit --abort: stop at a patch, change it, have the rest follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply.errors import ForeignWork, NoSuchPatch
from skippy_patches.apply.stage import Request
from skippy_patches.authoring.bench import open_bench
from skippy_patches.authoring.edit.errors import (
    Conflict,
    MarkersLeft,
    NoEdit,
    NotStaged,
    UnrefreshedCommits,
    Unresolved,
)
from skippy_patches.authoring.edit.replay import replay
from skippy_patches.authoring.errors import DirtyCheckout, EditIsStopped
from skippy_patches.authoring.refresh.errors import UnnamedDrops
from skippy_patches.git import Repository
from tests.authoring.desk import (
    FILE,
    abort,
    actions,
    amend,
    commit,
    conflicting,
    contents,
    edit,
    go_on,
    names,
    run,
    source,
    stop,
    three_patches,
)
from tests.world import Recorder, World

if TYPE_CHECKING:
    from skippy_patches.git import Result


def test_amending_a_patch_in_the_middle(project: World) -> None:
    three_patches(project)
    before = contents(project)
    stopped = stop(project, 2)
    assert "step_12_2" in source(project)
    assert "step_21_4" not in source(project)
    assert (stopped.stopped.number, len(stopped.stopped.rest)) == (2, 1)
    edit(project, 12, "amended")
    amend(project)
    done = go_on(project)
    assert (done.is_changed, done.left_out) == (True, ())
    assert "amended_12_2" in source(project)
    assert "step_21_4" in source(project)
    assert project.inside("status", "--porcelain") == ""
    outcome = run(project)
    assert actions(outcome) == ["kept 1", "rewritten 2", "kept 4"]
    after = contents(project)
    assert [name for name in after if after[name] != before[name]] == ["0002-patch2.patch"]
    assert not project.apply().moved
    assert not run(project).is_written


@pytest.mark.thorough
def test_an_edit_without_a_change_changes_nothing(project: World) -> None:
    three_patches(project)
    head = project.inside("rev-parse", "HEAD")
    for number in (1, 2, 4):
        stop(project, number)
        assert not go_on(project).is_changed
        assert project.inside("rev-parse", "HEAD") == head
    assert not project.apply().moved
    assert not run(project).is_written


@pytest.mark.thorough
def test_the_message_alone(project: World) -> None:
    three_patches(project)
    stop(project, 1)
    project.inside("commit", "-q", "--amend", "-m", "Another subject")
    go_on(project)
    assert actions(run(project)) == ["rewritten 1", "kept 2", "kept 4"]
    assert names(project) == ["0001-patch1.patch", "0002-patch2.patch", "0004-patch4.patch"]


@pytest.mark.thorough
def test_splitting_a_patch(world: World) -> None:
    world.commit({FILE: world.source(FILE).replace("step_3()", "three()"), "docs/a.md": "a\n"}, "two things")
    world.export(1, "two-things")
    world.add(2, "second", {FILE: world.source(FILE).replace("step_12()", "twelve()")})
    world.apply()
    head = world.inside("rev-parse", "HEAD^{tree}")
    at = stop(world, 1).stopped.at
    world.inside("reset", "-q", "HEAD^")
    world.inside("add", FILE)
    world.inside("commit", "-q", "-C", at)
    commit(world, "The other half\n")
    go_on(world)
    assert world.inside("rev-parse", "HEAD^{tree}") == head
    assert actions(run(world)) == ["rewritten 1", "new 2", "renamed 3"]
    assert names(world) == ["0001-two-things.patch", "0002-The-other-half.patch", "0003-second.patch"]
    assert not world.apply().moved


@pytest.mark.thorough
def test_dropping_a_patch(project: World) -> None:
    three_patches(project)
    stop(project, 2)
    project.inside("reset", "-q", "--hard", "HEAD^")
    go_on(project)
    with pytest.raises(UnnamedDrops, match=r"refresh --drop 2\b"):
        run(project)
    outcome = run(project, "2")
    assert actions(outcome) == ["kept 1", "kept 4", "dropped 2"]
    assert names(project) == ["0001-patch1.patch", "0004-patch4.patch"]
    assert not project.apply().moved


@pytest.mark.thorough
def test_inserting_a_patch(project: World) -> None:
    three_patches(project)
    stop(project, 2)
    commit(project, "In between\n", {"docs/between.md": "x\n"})
    go_on(project)
    assert actions(run(project)) == ["kept 1", "kept 2", "new 3", "kept 4"]


@pytest.mark.case(15)
def test_equal_blocks_are_told_apart(world: World) -> None:
    """Patch text would land in another of the equal blocks; the commit knows which one it changed."""
    text = world.source(FILE)
    for number in range(1, 31):
        text = text.replace(f"step_{number}()", "step()")
    world.add(1, "equal", {FILE: text})
    parts = text.split("void step()")
    changed = "void step()".join([*parts[:10], parts[10].replace("work();", "other();", 1), *parts[11:]])
    world.add(2, "tenth", {FILE: changed})
    world.apply()
    stop(world, 1)
    more = "// a note\n" * 21
    (world.checkout / FILE).write_text(more + source(world), encoding="utf-8")
    amend(world)
    go_on(world)
    assert source(world) == more + changed
    assert actions(run(world)) == ["rewritten 1", "rewritten 2"]
    assert not world.apply().moved
    assert source(world) == more + changed


def in_conflict(world: World) -> str:
    """As above, and stopped there."""
    head = conflicting(world)
    with pytest.raises(Conflict, match=r"patches/0002-patch2\.patch is in conflict"):
        go_on(world)
    return head


@pytest.mark.case(15)
def test_a_conflict_is_resolved_in_the_work_tree(project: World) -> None:
    in_conflict(project)
    text = source(project)
    assert "<<<<<<< yours\nvoid uno() {\n=======\nvoid two() {\n>>>>>>> " in text
    assert "also_9" in text
    assert project.inside("status", "--porcelain") == f"UU {FILE}"
    with pytest.raises(Unresolved, match=FILE):
        go_on(project)
    project.inside("add", FILE)
    with pytest.raises(MarkersLeft, match=FILE):
        go_on(project)
    before, _, rest = text.partition("<<<<<<< ")
    resolved = before + "void due() {\n" + rest.partition(">>>>>>> ")[2].partition("\n")[2]
    (project.checkout / FILE).write_text(resolved, encoding="utf-8")
    with pytest.raises(NotStaged, match=FILE):
        go_on(project)
    project.inside("add", FILE)
    done = go_on(project)
    assert done.left_out == ()
    assert source(project) == resolved.replace("step_21()", "last()")
    assert actions(run(project)) == ["rewritten 1", "rewritten 2", "kept 4"]
    assert not project.apply().moved


@pytest.mark.thorough
def test_a_conflict_is_resolved_by_a_commit(project: World) -> None:
    in_conflict(project)
    project.inside("checkout", "-q", "--theirs", FILE)
    project.inside("commit", "-q", "-a", "--no-edit")  # with the message that waits in MERGE_MSG
    go_on(project)
    assert not (project.checkout / ".git/MERGE_MSG").exists()
    assert actions(run(project)) == ["rewritten 1", "rewritten 2", "kept 4"]


@pytest.mark.thorough
@pytest.mark.case(19)
def test_leaving_the_patch_in_conflict_out(project: World) -> None:
    in_conflict(project)
    project.inside("reset", "-q", "--hard")
    done = go_on(project)
    assert [each.patch for each in done.left_out] == ["patches/0002-patch2.patch"]
    assert actions(run(project, "0002-patch2.patch")) == ["rewritten 1", "kept 4", "dropped 2"]


@pytest.mark.thorough
@pytest.mark.case(19)
def test_a_patch_whose_change_was_brought_in_is_retired(project: World) -> None:
    three_patches(project)
    stop(project, 1)
    (project.checkout / FILE).write_text(
        source(project).replace("step_12()", "step_12_2()"), encoding="utf-8"
    )
    amend(project)
    done = go_on(project)
    assert [each.patch for each in done.left_out] == ["patches/0002-patch2.patch"]
    with pytest.raises(UnnamedDrops):
        run(project)
    assert actions(run(project, "2")) == ["rewritten 1", "kept 4", "dropped 2"]


def test_abort_saves_what_is_there(project: World) -> None:
    head = in_conflict(project)
    (project.checkout / "notes").write_text("mine\n", encoding="utf-8")
    done = abort(project)
    assert done.saved is not None
    assert project.inside("rev-parse", "HEAD") == head
    assert project.inside("status", "--porcelain") == ""
    assert "<<<<<<< yours" in project.inside("show", f"{done.saved}:{FILE}")
    assert project.inside("show", f"{done.saved}:notes") == "mine"
    assert "uno()" in project.inside("show", f"{done.saved}^:{FILE}")
    with pytest.raises(NoEdit):
        go_on(project)
    assert not project.apply().moved


@pytest.mark.thorough
def test_abort_without_work_saves_nothing(project: World) -> None:
    three_patches(project)
    head = project.inside("rev-parse", "HEAD")
    stop(project, 1)
    assert abort(project).saved is None
    assert project.inside("rev-parse", "HEAD") == head


def test_apply_ends_an_edit_only_when_nothing_was_done(project: World) -> None:
    three_patches(project)
    stop(project, 2)
    reporter = Recorder()
    assert project.apply(reporter=reporter).moved
    assert "The edit of patches/0002-patch2.patch is over" in reporter.steps
    with pytest.raises(NoEdit):
        go_on(project)
    stop(project, 2)
    edit(project, 5, "mine")
    amend(project)
    with pytest.raises(ForeignWork, match=r"an edit of patches/0002-patch2\.patch is stopped"):
        project.apply()
    amended = project.inside("rev-parse", "HEAD")
    saved = project.apply(Request(discard=True)).saved
    assert project.inside("merge-base", str(saved), amended) == amended
    with pytest.raises(NoEdit):
        go_on(project)


@pytest.mark.thorough
def test_apply_does_not_run_over_a_conflict(project: World) -> None:
    in_conflict(project)
    with pytest.raises(ForeignWork):
        project.apply()
    project.inside("reset", "-q", "--hard")
    with pytest.raises(ForeignWork, match="is stopped, with work in it"):
        project.apply()


@pytest.mark.thorough
def test_what_edit_and_refresh_refuse(project: World) -> None:
    three_patches(project)
    with pytest.raises(NoSuchPatch):
        stop(project, 3)
    with pytest.raises(NoEdit):
        go_on(project)
    stop(project, 1)
    edit(project, 5, "mine")
    with pytest.raises(DirtyCheckout):
        go_on(project)
    with pytest.raises(DirtyCheckout):
        stop(project, 2)
    amend(project)
    for refused in (lambda: stop(project, 2), lambda: run(project)):
        with pytest.raises(EditIsStopped, match="skippy-patches continue"):
            refused()
    go_on(project)
    with pytest.raises(UnrefreshedCommits):
        stop(project, 1)


def resolve(world: World, text: str) -> None:
    """Put `text` in the place of the conflict."""
    before, _, rest = source(world).partition("<<<<<<< ")
    behind = rest.partition(">>>>>>> ")[2].partition("\n")[2]
    (world.checkout / FILE).write_text(f"{before}void {text}() {{\n{behind}", encoding="utf-8")
    world.inside("add", FILE)


@pytest.mark.thorough
def test_one_conflict_after_the_other(world: World) -> None:
    steps = ["step_3()", "one()", "two()", "three()"]
    for number in (1, 2, 3):
        old, new = steps[number - 1 : number + 1]
        world.add(number, f"p{number}", {FILE: world.source(FILE).replace(old, new)})
    world.add(4, "p4", {"docs/4.md": "x\n"})
    world.apply()
    stop(world, 1)
    (world.checkout / FILE).write_text(source(world).replace("one()", "uno()"), encoding="utf-8")
    amend(world)
    with pytest.raises(Conflict, match="0002-p2"):
        go_on(world)
    resolve(world, "due")
    with pytest.raises(Conflict, match="0003-p3"):
        go_on(world)
    assert "void due() {\n=======\nvoid three() {" in source(world)
    resolve(world, "tre")
    go_on(world)
    assert "void tre() {" in source(world)
    assert actions(run(world)) == ["rewritten 1", "rewritten 2", "rewritten 3", "kept 4"]
    assert world.inside("show", "HEAD~2:src/llama.cpp").count("void due()") == 1
    assert not world.apply().moved


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["deleted", "binary", "folder"])
def test_conflicts_that_have_no_markers(world: World, kind: str) -> None:
    """The author deletes what a later patch changes; two binary files; a folder where a file comes."""
    first: dict[str, dict[str, str | bytes | None]] = {
        "deleted": {"docs/a.md": "1\n"},
        "binary": {"a.bin": b"\0one"},
        "folder": {"docs/a.md": "1\n"},
    }
    second: dict[str, dict[str, str | bytes | None]] = {
        "deleted": {"docs/readme.md": "changed\n"},
        "binary": {"logo.bin": b"\0two" * 99},
        "folder": {"docs/b": "a file\n"},
    }
    world.add(1, "first", first[kind])
    world.add(2, "second", second[kind])
    world.apply()
    head = world.inside("rev-parse", "HEAD")
    stop(world, 1)
    if kind == "deleted":
        world.inside("rm", "-q", "docs/readme.md")
    elif kind == "binary":
        (world.checkout / "logo.bin").write_bytes(b"\0mine" * 99)
    else:
        (world.checkout / "docs/b").mkdir()
        (world.checkout / "docs/b/c").write_text("in a folder\n", encoding="utf-8")
        world.inside("add", "-A")
    amend(world)
    with pytest.raises(Conflict):
        go_on(world)
    with pytest.raises(Unresolved):
        go_on(world)
    if kind == "deleted":
        world.inside("rm", "-q", "docs/readme.md")
        assert [each.patch for each in go_on(world).left_out] == ["patches/0002-second.patch"]
        assert actions(run(world, "2")) == ["rewritten 1", "dropped 2"]
        return
    assert abort(world).saved
    assert world.inside("rev-parse", "HEAD") == head
    assert world.inside("status", "--porcelain") == ""


@pytest.mark.thorough
def test_a_replay_without_a_conflict_starts_few_processes(
    project: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One git for our side, one for the merge, one for the commit; and two that read all commits."""
    three_patches(project)
    rest = stop(project, 1).stopped.rest
    edit(project, 5, "mine")
    amend(project)
    checkout = checkouts.open_existing(project.checkout)
    assert checkout
    tip = checkout.repository.resolve("HEAD")
    assert tip
    bench = open_bench(checkout)
    called: list[str] = []
    run_git = Repository.run

    def counted(repository: Repository, *arguments: str, **options: Any) -> Result:
        called.append(next(each for each in arguments if each in known))
        return run_git(repository, *arguments, **options)

    known = ("commit-tree", "merge-tree", "cat-file")
    monkeypatch.setattr(Repository, "run", counted)
    replay(bench, tip, rest, project.project().committer)
    assert called == ["cat-file"] * 2 + ["commit-tree", "merge-tree", "commit-tree"] * len(rest)
