"""Renumbering real queues: branches that met, evidence that pins, and the proof that nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.errors import PatchDoesNotApply
from skippy_patches.queue.assignment.errors import NoRoom
from skippy_patches.queue.errors import QueueError
from skippy_patches.renumber import stage as renumber
from skippy_patches.renumber.errors import NeitherOrderApplies, PatchesDoNotCommute
from skippy_patches.upstream.cache import Cache
from tests.renumber.branches import Author, commit, merge, record, switch, without_desk
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.renumber.plan import Plan


@pytest.fixture
def world(tmp_path: Path, upstream: Path) -> World:
    return without_desk(tmp_path / "project", upstream)


def _plan(world: World, *, close_gaps: bool = False) -> Plan:
    return renumber.plan(world.project(), close_gaps=close_gaps, cache=Cache.default(), reporter=Recorder())


def _write(world: World, plan: Plan) -> None:
    renumber.write(world.project(), plan, Recorder())


def _names(world: World) -> list[str]:
    return sorted(path.name for path in world.patches.iterdir())


def _status(world: World) -> list[str]:
    return sorted(git(world.root, "status", "--porcelain").splitlines())


def _is_proven(plan: Plan) -> bool:
    """Every patch was applied, and no prefix has another commit."""
    assert plan.proof is not None
    return plan.is_order_kept and plan.proof.equal == len(plan.proof.rows) == len(plan.moves)


def _story(world: World, ours: str, theirs: str, *, has_evidence: bool) -> Author:
    """`main` publishes 0021-<ours>, `work` has 0021-<theirs> and 0022-needs, which needs it."""
    author = Author(lane=world.patches)
    base = author.add(20, "base", "src/base.c")
    commit(world, "The queue")
    switch(world, "work", "main")
    other = author.elsewhere()
    other.add(21, theirs, "src/theirs.c")
    other.add(22, "needs", "src/theirs.c")
    commit(world, "Work")
    switch(world, "main")
    published = author.add(21, ours, "src/ours.c")
    if has_evidence:
        record(world, "published", [base, published])
    commit(world, "Publish")
    return author


def _meet(world: World, first: str) -> None:
    """Both branches land on `trunk`; neither merge has a conflict."""
    switch(world, "trunk", "main~1")
    merge(world, first, *({"main", "work"} - {first}))


@pytest.mark.case(10, 11, 12)
@pytest.mark.parametrize(
    ("first", "ours", "theirs"),
    [
        ("main", "coalesce", "other"),
        ("work", "other", "coalesce"),
        pytest.param("work", "coalesce", "other", marks=pytest.mark.thorough),
        pytest.param("main", "other", "coalesce", marks=pytest.mark.thorough),
    ],
)
def test_the_number_that_evidence_names_stays(world: World, first: str, ours: str, theirs: str) -> None:
    """Whichever lands first, and whichever sorts first."""
    _story(world, ours, theirs, has_evidence=True)
    _meet(world, first)
    with pytest.raises(QueueError, match="1 error"):
        world.apply()
    plan = _plan(world)
    assert plan.renames == {
        f"patches/0021-{theirs}.patch": f"patches/0022-{theirs}.patch",
        "patches/0022-needs.patch": "patches/0023-needs.patch",
    }
    stays = {move.patch.name: move.reason for move in plan.moves if not move.is_rename}
    assert stays == dict.fromkeys(
        ("0020-base.patch", f"0021-{ours}.patch"), "pinned by records/published.json"
    )
    assert plan.proof is not None
    if ours < theirs:
        assert _is_proven(plan)
    else:
        assert not plan.is_order_kept
        assert plan.proof.equal == 1
        assert plan.first_difference == f"patches/0021-{ours}.patch"
    _write(world, plan)
    applied = world.apply().applied
    assert [patch.commit for patch in applied.patches] == [row.commit for row in plan.proof.rows]
    assert applied.patched.tree == plan.proof.rows[-1].tree
    assert applied.queue_digest == plan.after != plan.before
    assert _status(world) == [f"R  {old} -> {new}" for old, new in sorted(plan.renames.items())]


@pytest.mark.case(10, 11)
def test_without_evidence_the_first_by_name_keeps_the_number(world: World) -> None:
    """A edits f, B edits g, 0022 needs B: moving B to the end would break it."""
    _story(world, "zebra", "other", has_evidence=False)
    _meet(world, "work")
    last = world.patches / "0023-other.patch"
    (world.patches / "0021-other.patch").rename(last)
    with pytest.raises(PatchDoesNotApply, match="0022-needs"):
        world.apply()
    last.rename(world.patches / "0021-other.patch")
    plan = _plan(world)
    assert plan.renames == {
        "patches/0021-zebra.patch": "patches/0022-zebra.patch",
        "patches/0022-needs.patch": "patches/0023-needs.patch",
    }
    assert _is_proven(plan)
    _write(world, plan)
    assert not _plan(world).renames
    assert plan.proof is not None
    assert world.apply().applied.patched.commit == plan.proof.rows[-1].commit


@pytest.mark.case(10)
def test_three_branches_at_once(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(20, "base", "src/base.c")
    commit(world, "The queue")
    for name in ("c", "b", "a"):
        switch(world, f"work-{name}", "main")
        other = author.elsewhere()
        other.add(21, f"{name}-first", f"src/{name}.c")
        other.add(22, f"{name}-then", f"src/{name}.c")
        commit(world, name)
    switch(world, "main")
    merge(world, "work-b", "work-c", "work-a")
    plan = _plan(world)
    assert _is_proven(plan)
    _write(world, plan)
    assert _names(world) == [
        "0020-base.patch",
        "0021-a-first.patch",
        "0022-b-first.patch",
        "0023-c-first.patch",
        "0024-a-then.patch",
        "0025-b-then.patch",
        "0026-c-then.patch",
    ]


def test_slugs_that_are_alike_shift_through_each_other(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(20, "a", "src/a.c")
    author.add(21, "a", "src/b.c")
    author.add(21, "x", "src/b.c")
    author.add(22, "x", "src/b.c")
    author.add(23, "x", "src/b.c")
    record(world, "pin", [world.patches / "0020-a.patch"])
    commit(world, "The queue")
    before = {path.name: path.read_bytes() for path in world.patches.iterdir()}
    plan = _plan(world)
    assert _is_proven(plan)
    _write(world, plan)
    now = {path.name: path.read_bytes() for path in world.patches.iterdir()}
    assert now == {
        "0020-a.patch": before["0020-a.patch"],
        "0021-a.patch": before["0021-a.patch"],
        "0022-x.patch": before["0021-x.patch"],
        "0023-x.patch": before["0022-x.patch"],
        "0024-x.patch": before["0023-x.patch"],
    }
    assert git(world.root, "diff", "--name-only") == ""


def test_a_series_is_rewritten_with_its_files(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(21, "zebra", "src/a.c")
    author.add(21, "other", "src/a.c")
    author.add(20, "last", "src/a.c")
    listing = b"# first\n\n0021-zebra.patch # 0021-other.patch\n  0021-other.patch\n\n0020-last.patch\n# end"
    (world.patches / "series").write_bytes(listing)
    commit(world, "The queue")
    plan = _plan(world)
    assert plan.renames == {"patches/0021-other.patch": "patches/0022-other.patch"}
    assert list(plan.series) == ["patches/series"]
    assert _is_proven(plan)
    _write(world, plan)
    rewritten = listing.replace(b"  0021-other", b"  0022-other")
    assert (world.patches / "series").read_bytes() == rewritten
    assert plan.proof is not None
    assert world.apply().applied.patched.commit == plan.proof.rows[-1].commit
    done = renumber.undo(world.project(), Recorder())
    assert sorted(each.path for each in done.plan.files) == [
        "patches/0021-other.patch",
        "patches/0022-other.patch",
        "patches/series",
    ]
    assert (world.patches / "series").read_bytes() == listing
    assert _status(world) == []


def test_lanes_and_bands(world: World) -> None:
    """Numbers are unique over both lanes; a patch of a band stays in it."""
    world.configure("queue: [patches, more]\nbands: {mtp: 100-102}\n")
    (world.root / "more").mkdir()
    author = Author(lane=world.patches)
    author.add(7, "one", "src/a.c")
    author.add(100, "two", "src/a.c")
    more = Author(lane=world.root / "more", files=author.files)
    more.add(7, "three", "src/a.c")
    more.add(100, "four", "src/a.c")
    plan = _plan(world)
    assert plan.renames == {
        "more/0007-three.patch": "more/0008-three.patch",
        "more/0100-four.patch": "more/0101-four.patch",
    }
    assert _is_proven(plan)
    assert [(gap.numbers, gap.reason) for gap in plan.gaps] == [
        ("0009-0099", "band mtp (0100-0102) begins or ends there")
    ]
    author.add(102, "five", "src/b.c")
    more.add(102, "six", "src/c.c")
    with pytest.raises(NoRoom, match=r"in band mtp \(0100-0102\)"):
        _plan(world)


def test_the_end_of_the_numbers(world: World) -> None:
    author = Author(lane=world.patches)
    first = author.add(9998, "first", "src/a.c")
    author.add(9999, "a", "src/a.c")
    author.add(9999, "b", "src/a.c")
    plan = _plan(world)
    assert [move.number for move in plan.moves] == [9997, 9998, 9999]
    assert _is_proven(plan)
    record(world, "pin", [first])
    with pytest.raises(NoRoom, match="up to 9999 for patches/9999-b") as caught:
        _plan(world)
    assert caught.value.exit_status == 1
    assert "after patches/9998-first.patch, which is pinned" in caught.value.why
    author.add(1, "x", "src/x.c").rename(world.patches / "10000-x.patch")
    with pytest.raises(QueueError, match="10000-x"):
        _plan(world)


def test_gaps_are_closed_where_nothing_keeps_them_open(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(3, "a", "src/a.c")
    author.add(6, "b", "src/a.c")
    pinned = author.add(9, "c", "src/a.c")
    author.add(12, "d", "src/a.c")
    gone = author.elsewhere().add(10, "gone", "src/a.c")
    record(world, "pin", [pinned, gone])
    gone.unlink()
    plan = _plan(world, close_gaps=True)
    assert [(move.number, move.reason) for move in plan.moves] == [
        (3, ""),
        (4, "closes a gap"),
        (9, "pinned by records/pin.json"),
        (11, "closes a gap"),
    ]
    assert [(gap.numbers, gap.reason) for gap in plan.gaps] == [
        ("0005-0008", "patches/0009-c.patch is pinned by records/pin.json"),
        ("0010", "records/pin.json names 0010, of a patch that is gone"),
    ]
    assert _is_proven(plan)
    kept = _plan(world)
    assert not kept.renames
    assert kept.proof is None
    assert [gap.numbers for gap in kept.gaps] == ["0004-0005", "0007-0008", "0010-0011"]


@pytest.mark.case(11, 12)
def test_a_pin_that_would_change_the_outcome_is_refused(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(21, "a", "src/a.c")
    record(world, "pin", [author.add(21, "b", "src/a.c")])
    before = _names(world)
    with pytest.raises(PatchesDoNotCommute) as caught:
        _plan(world)
    assert caught.value.exit_status == 4
    assert "patches/0021-b.patch keeps 0021 (pinned by records/pin.json)" in caught.value.what
    assert "before patches/0021-a.patch; but these two do not commute" in caught.value.what
    assert "0021-b.patch" in caught.value.why
    assert _names(world) == before


@pytest.mark.case(12, 15)
def test_both_orders_apply_and_give_other_trees(world: World) -> None:
    """The hunk of one finds its lines in the block that the other one adds."""
    author = Author(lane=world.patches)
    head = "diff --git a/t b/t\n"
    new = "new file mode 100644\n--- /dev/null\n+++ b/t\n@@ -0,0 +1,4 @@\n+head\n+x\n+y\n+end\n"
    author.write(20, "base", head + new)
    old = f"{head}--- a/t\n+++ b/t\n"
    author.write(21, "block", f"{old}@@ -1,2 +1,4 @@\n head\n+x\n+y\n x\n")
    record(world, "pin", [author.write(21, "line", f"{old}@@ -2,2 +2,3 @@\n x\n+line\n y\n")])
    with pytest.raises(PatchesDoNotCommute, match="do not commute") as caught:
        _plan(world)
    assert "two orders differ in t" in caught.value.why


def test_of_three_the_two_that_do_not_commute_are_named(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(20, "base", "src/base.c")
    author.add(21, "a", "src/a.c")
    author.add(21, "b", "src/b.c")
    record(world, "pin", [author.add(21, "c", "src/a.c")])
    with pytest.raises(PatchesDoNotCommute, match=r"0021-c\.patch keeps .* before patches/0021-a\.patch"):
        _plan(world)


def test_a_pin_that_mends_the_order(world: World) -> None:
    """The order of today does not apply: 0021-a needs 0021-b, which sorts behind it."""
    author = Author(lane=world.patches)
    needed = author.add(21, "b", "src/a.c")
    author.add(21, "a", "src/a.c")
    record(world, "pin", [needed])
    plan = _plan(world)
    assert plan.renames == {"patches/0021-a.patch": "patches/0022-a.patch"}
    assert plan.notes == (
        "A pin changes the order of application, from patches/0021-b.patch on.",
        "The order of today does not apply, the new one does. Today: "
        "Patch 0021 does not apply: patches/0021-a.patch",
    )
    _write(world, plan)
    world.apply()


def test_a_queue_that_applies_in_neither_order(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(20, "broken", "src/a.c")
    author.add(21, "a", "src/a.c")
    record(world, "pin", [author.add(21, "b", "src/b.c")])
    (world.patches / "0020-broken.patch").unlink()
    with pytest.raises(NeitherOrderApplies) as caught:
        _plan(world)
    assert caught.value.exit_status == 4
    assert caught.value.why.count("does not apply: patches/0021-a.patch") == 2


def test_a_queue_that_does_not_apply_stops_at_the_same_patch(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(1, "a", "src/a.c")
    author.add(1, "b", "src/b.c")
    lost = Author(lane=world.patches)
    lost.add(2, "stale", "src/none.c")
    lost.add(2, "stale", "src/none.c")  # over the one that makes the file
    author.add(3, "c", "src/b.c")
    plan = _plan(world)
    assert [move.number for move in plan.moves] == [1, 2, 3, 4]
    assert plan.proof is not None
    assert plan.proof.equal == len(plan.proof.rows) == 2
    assert plan.notes[0].startswith("The queue stops at the same patch before and after: Patch 0002 ")
    answer = plan.as_json(is_written=False)
    assert [patch["commit"] is None for patch in answer["patches"]] == [False, False, True, True]
    assert "0002-stale" in answer["stops"]["what"]
    _write(world, plan)
    with pytest.raises(PatchDoesNotApply, match="0003-stale"):
        world.apply()


@pytest.mark.case(13)
def test_doubtful_names_are_refused_all_at_once(world: World) -> None:
    author = Author(lane=world.patches)
    author.add(1, "a", "src/a.c")
    author.add(1, "b", "src/a.c")
    (world.patches / "0002-link.patch").symlink_to("0001-a.patch")
    (world.patches / "2-short.patch").write_bytes(b"")
    (world.patches / "0003-folder.patch").mkdir()
    (world.patches / "series").write_text("0001-a.patch\n0009-none.patch\n", encoding="utf-8")
    before = _names(world)
    with pytest.raises(QueueError) as caught:
        _plan(world)
    codes = {finding.code for finding in caught.value.findings}
    assert codes == {"not-a-file", "malformed-name", "series-missing", "series-extra"}
    assert _names(world) == before


def test_an_empty_queue(world: World) -> None:
    plan = _plan(world)
    assert (plan.moves, plan.renames, plan.gaps) == ((), {}, ())
    _write(world, plan)
