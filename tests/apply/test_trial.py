"""A trial tells what an apply would make, and leaves everything as it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.errors import PatchDoesNotApply
from skippy_patches.apply.trial import open_trial
from skippy_patches.queue import reader
from skippy_patches.upstream import pin
from skippy_patches.upstream.cache import Cache
from tests.apply.scenario import author_queue
from tests.world import Recorder, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.apply.trial import Trial


@pytest.fixture
def queue(world: World) -> World:
    author_queue(world)
    return world


def _trial(world: World, reporter: Recorder) -> Iterator[Trial]:
    project = world.project()
    with open_trial(project, pin.read(project.upstream), Cache.default(), reporter) as trial:
        yield trial


def _everything(folder: Path) -> dict[str, int]:
    """Names and times; git freshens objects that it is asked to write again, so that gc spares them."""
    return {
        str(path): 0 if "objects" in path.parts else path.lstat().st_mtime_ns for path in folder.rglob("*")
    }


def test_rows_are_those_of_apply(queue: World) -> None:
    patches = reader.load(queue.project())
    reporter = Recorder()
    for trial in _trial(queue, reporter):
        rows = trial.rows(patches)
    assert not queue.checkout.exists()
    assert [(row.commit, row.tree) for row in rows] == [
        (patch.commit, patch.tree) for patch in queue.apply().applied.patches
    ]
    assert not list(queue.project().state.glob("trial-*"))


def test_what_the_checkout_knows_is_reused_and_not_touched(queue: World) -> None:
    queue.apply()
    patches = reader.load(queue.project())
    before = _everything(queue.checkout)
    for anew in (False, True):
        reporter = Recorder()
        for trial in _trial(queue, reporter):
            rows = trial.rows(patches, anew=anew)
        assert rows[-1].commit == queue.inside("rev-parse", "HEAD")
        assert bool(reporter.progress) is anew
    assert _everything(queue.checkout) == before


def test_any_order_on_any_commit(queue: World) -> None:
    first, *_, last = reader.load(queue.project())
    for trial in _trial(queue, Recorder()):
        base = trial.pin.commit
        there = trial.apply(trial.apply(base, first).commit, last)
        back = trial.apply(trial.apply(base, last).commit, first)
        assert there.tree == back.tree
        assert there.commit != back.commit


def test_a_patch_that_does_not_apply(queue: World) -> None:
    broken = queue.patches / "0002-crlf.patch"
    broken.write_bytes(broken.read_bytes().replace(b"-two\r\n", b"-too\r\n"))
    patches, reporter = reader.load(queue.project()), Recorder()
    for trial in _trial(queue, reporter):
        rows, error = trial.until_error(patches)
        assert [done for label, done, _ in reporter.progress if label == "Applying"] == [1, 2]  # each once
        assert (len(rows), rows[0]) == (1, trial.apply(trial.pin.commit, patches[0]))
        assert isinstance(error, PatchDoesNotApply)
        with pytest.raises(PatchDoesNotApply, match="Patch 0002 does not apply"):
            trial.rows(patches)


def test_what_a_killed_trial_left_goes_after_a_day(queue: World) -> None:
    state = queue.project().state
    for name, age in (("trial-old", 25 * 3600), ("trial-new", 60)):
        (state / name / "trial.git").mkdir(parents=True)
        stamp = (state / name).stat().st_mtime - age
        os.utime(state / name, (stamp, stamp))
    for _ in _trial(queue, Recorder()):
        pass
    assert [path.name for path in state.glob("trial-*")] == ["trial-new"]
