"""Whatever the queue: new numbers keep its order, its commits and its trees."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skippy_patches.queue import reader
from skippy_patches.queue.assignment.errors import CannotRenumber
from skippy_patches.queue.snapshot import ordered
from skippy_patches.renumber import stage as renumber
from skippy_patches.renumber.errors import (
    NeitherOrderApplies,
    PatchesDoNotCommute,
    PinsCollide,
)
from skippy_patches.upstream.cache import Cache
from tests.renumber.branches import Author, record, without_desk
from tests.world import Recorder, World

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Words = tuple[int, str, int, bool]  # step to the next number, slug, which file, whether evidence names it

QUEUES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.text("abc", min_size=1, max_size=2),
        st.integers(0, 2),
        st.integers(0, 5).map(bool),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, upstream: Path) -> World:
    """A project that is emptied for every example."""
    return without_desk(tmp_path_factory.mktemp("model") / "project", upstream)


def _author(world: World, queue: Sequence[Words]) -> None:
    for folder in ("patches", "records", ".skippy/rewrite"):
        shutil.rmtree(world.root / folder, ignore_errors=True)
    world.patches.mkdir()
    author = Author(lane=world.patches)
    number = 18
    named = []
    for step, slug, file, is_unnamed in queue:
        number += step
        if not (world.patches / f"{number:04d}-{slug}.patch").exists():
            patch = author.add(number, slug, f"src/{file}.c")
            named += [] if is_unnamed else [patch]
    record(world, "evidence", named)


def _check(world: World, queue: Sequence[Words], close_gaps: bool) -> None:
    _author(world, queue)
    project = world.project()
    before = ordered(reader.read_folder(project))
    files = {path.name: path.read_bytes() for path in world.patches.iterdir()}
    try:
        plan = renumber.plan(project, close_gaps=close_gaps, cache=Cache.default(), reporter=Recorder())
    except (PatchesDoNotCommute, NeitherOrderApplies, PinsCollide, CannotRenumber):
        return
    renumber.write(project, plan, Recorder())
    after = ordered(reader.read_folder(project))
    numbers = [patch.number for patch in after]
    assert numbers == sorted(set(numbers))
    if plan.is_order_kept:
        assert [patch.content for patch in after] == [patch.content for patch in before]
    if plan.proof is not None and plan.proof.error is None:
        applied = world.apply().applied.patches
        assert [patch.commit for patch in applied] == [row.commit for row in plan.proof.rows]
    again = renumber.plan(project, close_gaps=close_gaps, cache=Cache.default(), reporter=Recorder())
    assert not again.renames
    if plan.renames:
        renumber.undo(project, Recorder())
    assert {path.name: path.read_bytes() for path in world.patches.iterdir()} == files


@given(queue=QUEUES, close_gaps=st.booleans())
@settings(max_examples=3, deadline=None, derandomize=True)
def test_order_and_trees_are_kept(model: World, queue: list[Words], close_gaps: bool) -> None:
    _check(model, queue, close_gaps)


@pytest.mark.thorough
@given(queue=QUEUES, close_gaps=st.booleans())
@settings(max_examples=150, deadline=None)
def test_order_and_trees_are_kept_thoroughly(model: World, queue: list[Words], close_gaps: bool) -> None:
    _check(model, queue, close_gaps)
