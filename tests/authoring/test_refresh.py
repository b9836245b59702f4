"""Commits in the checkout become patch files: both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.apply import handover
from skippy_patches.apply.engine import IndexEngine
from skippy_patches.apply.stage import Request
from skippy_patches.authoring.refresh.errors import (
    CrossesLanes,
    NormaliseAlone,
    NotDropped,
    NothingLeft,
    RestDoesNotApply,
    UnnamedDrops,
)
from skippy_patches.journal import rewrite
from tests.authoring.desk import (
    FILE,
    actions,
    commit,
    contents,
    edit,
    go_on,
    names,
    run,
    stop,
    three_patches,
)

if TYPE_CHECKING:
    from skippy_patches.apply.ledger import Row
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch
    from tests.world import World


@pytest.mark.thorough
def test_nothing_to_do_after_apply(project: World) -> None:
    three_patches(project)
    before = contents(project)
    outcome = run(project)
    assert (outcome.is_written, actions(outcome)) == (False, ["kept 1", "kept 2", "kept 4"])
    assert contents(project) == before


def test_a_new_commit_becomes_the_next_patch(project: World) -> None:
    three_patches(project)
    before = contents(project)
    edit(project, 27, "last")
    mine = commit(project, "Add: a last thing\n\nBecause.\n")
    outcome = run(project)
    assert actions(outcome) == ["kept 1", "kept 2", "kept 4", "new 5"]
    assert names(project)[-1] == "0005-Add-a-last-thing.patch"
    assert {**contents(project), **before} == contents(project)
    assert outcome.saved is not None
    assert project.inside("rev-parse", outcome.saved) == mine
    applied = project.apply()
    assert not applied.moved
    assert applied.applied.patched.commit == outcome.commit == project.inside("rev-parse", "HEAD")
    assert project.inside("status", "--porcelain") == ""
    assert not run(project).is_written


def test_amending_keeps_name_and_number_whatever_the_subject_is(project: World) -> None:
    three_patches(project)
    before = contents(project)
    edit(project, 21, "again")
    project.inside("commit", "-q", "-a", "--amend", "-m", "Quite another subject")
    assert actions(run(project)) == ["kept 1", "kept 2", "rewritten 4"]
    assert names(project) == list(before)
    assert b"Subject: [PATCH] Quite another subject\n" in contents(project)["0004-patch4.patch"]
    assert not project.apply().moved


@pytest.mark.thorough
def test_reordering_renames_the_fewest(project: World) -> None:
    three_patches(project)
    before = contents(project)
    tips = project.inside("rev-list", "--reverse", f"{project.pin}..HEAD").split()
    project.inside("reset", "-q", "--hard", project.pin)
    project.inside("cherry-pick", tips[1], tips[2], tips[0])
    assert actions(run(project)) == ["kept 2", "kept 4", "renamed 5"]
    assert names(project) == ["0002-patch2.patch", "0004-patch4.patch", "0005-patch1.patch"]
    assert contents(project)["0005-patch1.patch"] == before["0001-patch1.patch"]
    assert not project.apply().moved


@pytest.mark.thorough
def test_inserting_moves_those_behind(world: World) -> None:
    for number in (1, 2):
        world.add(number, f"p{number}", {f"docs/{number}.md": "x\n"})
    world.apply()
    tip = world.inside("rev-parse", "HEAD")
    world.inside("reset", "-q", "--hard", "HEAD^")
    commit(world, "Between\n", {"docs/between.md": "x\n"})
    world.inside("cherry-pick", tip)
    assert actions(run(world)) == ["kept 1", "new 2", "renamed 3"]
    assert names(world) == ["0001-p1.patch", "0002-Between.patch", "0003-p2.patch"]
    assert not world.apply().moved


def test_dropped_patches_go_only_when_they_are_named(project: World) -> None:
    three_patches(project)
    before = contents(project)
    project.inside("reset", "-q", "--hard", "HEAD~2")
    with pytest.raises(UnnamedDrops, match="--drop 2 --drop 4"):
        run(project)
    with pytest.raises(UnnamedDrops, match=r"of patches/0004-patch4\.patch\. Nothing was written"):
        run(project, "2")
    with pytest.raises(NotDropped, match="its commit was not taken out"):
        run(project, "1", "2", "4")
    with pytest.raises(NotDropped, match="no such patch"):
        run(project, "7")
    assert contents(project) == before
    assert actions(run(project, "0002", "patches/0004-patch4.patch")) == ["kept 1", "dropped 2", "dropped 4"]
    assert names(project) == ["0001-patch1.patch"]
    assert not project.apply().moved


@pytest.mark.thorough
def test_a_queue_is_never_emptied(project: World) -> None:
    three_patches(project)
    project.inside("reset", "-q", "--hard", project.pin)
    with pytest.raises(NothingLeft):
        run(project, "1", "2", "4")
    assert len(names(project)) == 3


@pytest.mark.thorough
def test_a_queue_begins(world: World) -> None:
    world.apply(Request(to=0))
    assert not run(world).is_written
    commit(world, "First\n", {"docs/first.md": "1\n"})
    commit(world, "日本\n", {"docs/second.md": "2\n"})
    assert actions(run(world)) == ["new 1", "new 2"]
    assert names(world) == ["0001-First.patch", "0002-patch.patch"]
    assert not world.apply().moved


@pytest.mark.thorough
def test_a_dry_run_writes_nothing(project: World) -> None:
    three_patches(project)
    edit(project, 27, "last")
    mine = commit(project, "More\n")
    before = contents(project)
    outcome = run(project, dry_run=True)
    assert (outcome.plan.has_changes, outcome.is_written) == (True, False)
    assert contents(project) == before
    assert project.inside("rev-parse", "HEAD") == mine


@pytest.mark.thorough
def test_patches_that_are_not_checked_out_stay(project: World) -> None:
    three_patches(project)
    before = contents(project)
    project.apply(Request(to=1))
    assert actions(run(project)) == ["kept 1", "kept 2", "kept 4"]
    edit(project, 5, "mine")
    project.inside("commit", "-q", "-a", "--amend", "--no-edit")
    edit(project, 8, "more")
    commit(project, "More\n")
    assert actions(run(project)) == ["rewritten 1", "new 2", "renamed 3", "kept 4"]
    after = contents(project)
    assert after["0003-patch2.patch"] == before["0002-patch2.patch"]
    assert not project.apply(Request(to=2)).moved
    project.apply()
    assert not run(project).is_written
    project.apply(Request(to=2))
    text = (project.checkout / FILE).read_text(encoding="utf-8").replace("step_12()", "twelve()")
    commit(project, "In the way\n", {FILE: text})
    with pytest.raises(RestDoesNotApply, match=r"patches/0003-patch2\.patch, which is not checked out"):
        run(project)
    assert contents(project) == after


@pytest.mark.thorough
def test_two_lanes(world: World) -> None:
    world.configure("queue: [patches, more]\n")
    world.add(1, "a", {"docs/1.md": "x\n"})
    world.add(2, "b", {"docs/2.md": "x\n"})
    world.add(3, "c", {"docs/3.md": "x\n"})
    (world.root / "more").mkdir()
    (world.patches / "0003-c.patch").rename(world.root / "more/0003-c.patch")
    world.apply()
    a, b, c = world.inside("rev-list", "--reverse", f"{world.pin}..HEAD").split()
    world.inside("reset", "-q", "--hard", a)
    commit(world, "In the first lane\n", {"docs/first.md": "x\n"})
    world.inside("cherry-pick", b)
    commit(world, "At its end\n", {"docs/end.md": "x\n"})
    world.inside("cherry-pick", c)
    commit(world, "Last\n", {"docs/last.md": "x\n"})
    outcome = run(world)
    lanes = [change.path.partition("/")[0] for change in outcome.plan.changes]
    assert lanes == ["patches", "patches", "patches", "patches", "more", "more"]
    assert not world.apply().moved
    world.inside("reset", "-q", "--hard", a)
    world.inside("cherry-pick", c, b)
    with pytest.raises(CrossesLanes, match=r"0003-c\.patch stands before"):
        run(world)


@pytest.mark.thorough
def test_behind_the_last_patch_of_a_lane_nothing_moves(world: World) -> None:
    world.configure("queue: [patches, more]\n")
    (world.root / "more").mkdir()
    for number in (1, 2, 3):
        world.add(number, str(number), {f"docs/{number}.md": "x\n"})
    (world.patches / "0003-3.patch").rename(world.root / "more/0003-3.patch")
    world.apply()
    stop(world, 2)
    commit(world, "At its end\n", {"docs/end.md": "x\n"})
    go_on(world)
    outcome = run(world)
    assert [action.split()[0] for action in actions(outcome)] == ["kept", "kept", "new", "kept"]
    assert outcome.plan.changes[2].path.startswith("patches/")
    assert not world.apply().moved


@pytest.mark.thorough
def test_patches_behind_a_reworded_one_are_not_applied_again(
    project: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_patches(project)
    stop(project, 1)
    project.inside("commit", "-q", "--amend", "-m", "Other words")
    go_on(project)
    applied: list[str] = []
    apply = IndexEngine.apply

    def counted(engine: IndexEngine, parent: ObjectId, patch: Patch) -> Row:
        applied.append(patch.name)
        return apply(engine, parent, patch)

    monkeypatch.setattr(IndexEngine, "apply", counted)
    outcome = run(project)
    assert actions(outcome) == ["rewritten 1", "kept 2", "kept 4"]
    assert set(applied) == {"0001-patch1.patch"}
    monkeypatch.undo()
    (project.checkout / ".git/skippy/ledger.json").unlink()
    assert project.apply(Request(verify_with_git=True)).applied.patched.commit == outcome.commit


@pytest.mark.thorough
def test_a_lane_with_a_series_file(world: World) -> None:
    for number in (1, 2, 3):
        world.add(number, f"p{number}", {f"docs/{number}.md": "x\n"})
    series = world.patches / "series"
    series.write_text("# head\n0002-p2.patch # two\n\n# one\n0001-p1.patch\n0003-p3.patch\n# end\n", "utf-8")
    world.apply()
    two, one, three = world.inside("rev-list", "--reverse", f"{world.pin}..HEAD").split()
    world.inside("reset", "-q", "--hard", world.pin)
    world.inside("cherry-pick", one)
    commit(world, "New\n", {"docs/new.md": "x\n"})
    world.inside("cherry-pick", three)
    outcome = run(world, "2")
    assert actions(outcome)[0] == "kept 1"
    new = outcome.plan.changes[1].path.removeprefix("patches/")
    expected = f"# head\n\n# one\n0001-p1.patch\n{new}\n0003-p3.patch\n# end\n"
    assert series.read_text(encoding="utf-8") == expected
    assert not world.apply().moved
    world.inside("reset", "-q", "--hard", world.pin)
    world.inside("cherry-pick", three, one)
    assert [each.split()[0] for each in actions(run(world, str(outcome.plan.changes[1].number)))[:2]] == [
        "kept"
    ] * 2
    assert series.read_text(encoding="utf-8").index("0003-p3") < series.read_text(encoding="utf-8").index(
        "0001-p1"
    )
    assert not world.apply().moved
    assert two


@pytest.mark.thorough
def test_pinned_numbers_stay(world: World) -> None:
    for number in (2, 3):
        world.add(number, f"p{number}", {f"docs/{number}.md": "x\n"})
    world.configure("pinned: [3]\n")
    world.apply()
    tip = world.inside("rev-parse", "HEAD")
    world.inside("reset", "-q", "--hard", "HEAD^")
    commit(world, "Between\n", {"docs/between.md": "x\n"})
    world.inside("cherry-pick", tip)
    assert actions(run(world)) == ["renamed 1", "new 2", "kept 3"]
    assert not world.apply().moved


@pytest.mark.thorough
def test_normalise_is_a_step_of_its_own(project: World) -> None:
    three_patches(project)
    odd = project.patches / "0002-patch2.patch"
    odd.write_bytes(odd.read_bytes().replace(b"[PATCH]", b"[PATCH 2/99]") + b"-- \n2.1\n\n")
    tip = project.apply().applied.patched.commit
    edit(project, 5, "mine")
    commit(project, "Mine\n")
    with pytest.raises(NormaliseAlone):
        run(project, normalise=True)
    project.inside("reset", "-q", "--hard", tip)
    before = contents(project)
    assert not run(project).is_written
    outcome = run(project, normalise=True)
    assert "rewritten 2" in actions(outcome)
    assert contents(project)["0002-patch2.patch"] != before["0002-patch2.patch"]
    assert project.apply().applied.patched.commit == tip
    assert not run(project, normalise=True).is_written


@pytest.mark.case(23)
@pytest.mark.parametrize(
    "moment", ["files", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("refs", "note"))]
)
def test_a_kill_between_files_and_refs_is_finished(
    project: World, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The files are written and the refs are not, or the refs are and the note is still there."""
    three_patches(project)
    edit(project, 27, "mine")
    mine = commit(project, "Mine\n")
    with monkeypatch.context() as patch:
        place = {"files": (rewrite, "carry_out"), "refs": (handover, "settle"), "note": (handover, "settle")}
        module, name = place[moment]
        real = getattr(module, name)
        calls: list[object] = []

        def killed(*arguments: object) -> object:
            calls.append(arguments)
            if moment == "note" and len(calls) > 1:
                note = project.checkout / ".git/skippy/handover.json"
                content = note.read_bytes()
                real(*arguments)
                note.write_bytes(content)
            if moment == "files":
                real(*arguments)
            if len(calls) > (moment != "files"):
                raise KeyboardInterrupt
            return real(*arguments)

        patch.setattr(module, name, killed)
        with pytest.raises(KeyboardInterrupt):
            run(project)
    edit(project, 9, "more")
    commit(project, "More\n")
    assert actions(run(project))[3:] == ["kept 5", "new 6"]
    assert not project.apply().moved
    assert project.inside("for-each-ref", "refs/skippy/saved", "--contains", mine)


@pytest.mark.thorough
@pytest.mark.case(23)
def test_apply_finishes_a_refresh_that_was_killed(project: World, monkeypatch: pytest.MonkeyPatch) -> None:
    three_patches(project)
    edit(project, 27, "mine")
    commit(project, "Mine\n")
    with monkeypatch.context() as patch:
        real = rewrite.carry_out

        def killed(*arguments: Any) -> None:
            real(*arguments)
            raise KeyboardInterrupt

        patch.setattr(rewrite, "carry_out", killed)
        with pytest.raises(KeyboardInterrupt):
            run(project)
    assert not project.apply().moved
    assert not run(project).is_written
