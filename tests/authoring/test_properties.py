"""Random queues and random work on them: refresh after apply changes no byte, and is the identity twice."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skippy_patches.objectid import ObjectId
from tests.authoring.desk import actions, contents, run
from tests.queue.corpus import RECIPES, Desk
from tests.world import World, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXPORTS = st.sampled_from(
    [
        (),
        ("--no-stat",),
        ("-U1",),
        ("--abbrev=9", "--no-full-index"),
        ("-n", "--start-number=7"),
        ("--signature=me",),
    ]
)
BODIES = st.sampled_from(["", "\n\nWhy.", "\n\nGröße: ü\n\n  * one\n  * two", "\n\nSigned-off-by: A <a@x>"])
QUEUES = st.lists(st.tuples(EXPORTS, BODIES, st.integers(1, 3)), min_size=2, max_size=5)
WORK = st.lists(st.sampled_from(["amend", "reword", "new", "swap", "insert", "nothing"]), max_size=4)


def few(amount: int) -> Callable[[Any], Any]:
    suppressed = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(
        max_examples=amount, deadline=None, database=None, derandomize=True, suppress_health_check=suppressed
    )


def _work(world: World, jobs: list[str]) -> None:
    """What an author does, with plain git."""
    for at, job in enumerate(jobs):
        commits = world.inside("rev-list", "--reverse", f"{world.pin}..HEAD").split()
        if job == "amend":
            (world.checkout / f"docs/amended{at}.md").write_text("x\n", encoding="utf-8")
            world.inside("add", "-A")
            world.inside("commit", "-q", "--amend", "--no-edit")
        elif job == "reword":
            world.inside("commit", "-q", "--amend", "-m", f"Reworded {at}")
        elif job == "new":
            _commit(world, at)
        elif job in ("swap", "insert") and len(commits) > 1:
            world.inside("reset", "-q", "--hard", commits[-3] if len(commits) > 2 else world.pin)
            if job == "insert":
                _commit(world, at)
            order = (commits[-1], commits[-2]) if job == "swap" else (commits[-2], commits[-1])
            world.inside("cherry-pick", *order)


def _commit(world: World, at: int) -> None:
    (world.checkout / f"src/new{at}.cpp").write_text(f"int x{at};\n", encoding="utf-8")
    world.inside("add", "-A")
    world.inside("commit", "-q", "-m", f"New {at}\n\nBecause.")


def _check(world: World, queue: list[tuple[tuple[str, ...], str, int]], jobs: list[str]) -> None:
    number = 0
    for at, (options, body, step) in enumerate(queue):  # a file for each patch: every order of them applies
        number += step
        world.commit({f"docs/{at}.md": f"{at}\n" * 9}, f"Patch {at}: ä{body}")
        world.export(number, f"name-{at}", *options)
    tip = world.apply().applied.patched.commit
    before = contents(world)
    assert not run(world).is_written
    assert contents(world) == before
    _work(world, jobs)
    tree = world.inside("rev-parse", "HEAD^{tree}")
    texts = world.inside("log", "--reverse", "--format=%B%an%ae%ad", f"{world.pin}..HEAD")
    outcome = run(world)
    after = contents(world)
    applied = world.apply()
    assert not applied.moved
    assert world.inside("rev-parse", "HEAD^{tree}") == tree
    assert world.inside("log", "--reverse", "--format=%B%an%ae%ad", f"{world.pin}..HEAD") == texts
    assert not run(world).is_written
    assert contents(world) == after
    if not set(jobs) & {"amend", "reword", "new", "swap", "insert"}:
        assert (applied.applied.patched.commit, outcome.is_written) == (tip, False)
    unrewritten = {change.before for change in outcome.plan.changes if change.action in ("kept", "renamed")}
    assert {before[name.removeprefix("patches/")] for name in unrewritten if name} <= set(after.values())


@few(1)
@given(queue=QUEUES, jobs=WORK)
def test_a_few(tmp_path_factory: pytest.TempPathFactory, upstream: Path, queue: Any, jobs: Any) -> None:
    world = World.create(tmp_path_factory.mktemp("random") / "project", upstream)
    _check(world, queue, jobs)


@pytest.mark.thorough
@few(60)
@given(queue=QUEUES, jobs=WORK)
def test_many(tmp_path_factory: pytest.TempPathFactory, upstream: Path, queue: Any, jobs: Any) -> None:
    world = World.create(tmp_path_factory.mktemp("random") / "project", upstream)
    _check(world, queue, jobs)
    shutil.rmtree(world.root)


class Odd(World):
    """A world whose upstream is the repository that the corpus of odd patches is made in."""

    @property
    def pin(self) -> ObjectId:
        return ObjectId(git(self.upstream, "rev-parse", "base"))


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Odd, Desk]:
    folder = tmp_path_factory.mktemp("odd")
    desk = Desk(folder / "desk")
    world = Odd(root=folder / "project", upstream=desk.root, desk=desk.root)
    world.patches.mkdir(parents=True)
    world.configure()
    return world, desk


NEVER = ("no context", "plain diff(1)", "plain diff(1), new and gone")  # git apply finds no place for them


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in RECIPES if name not in NEVER])
def test_an_odd_patch_keeps_its_bytes(odd: tuple[Odd, Desk], name: str) -> None:
    """Also on another parent, where it cannot be told by its commit."""
    world, desk = odd
    for file in world.patches.iterdir():
        file.unlink()
    patch = RECIPES[name](desk)
    (world.patches / "0003-odd.patch").write_bytes(patch)
    if not world.checkout.exists() or world.inside("rev-parse", "skippy") != world.pin:
        world.run("apply", "--discard")
    world.apply()
    assert not run(world).is_written
    tip = world.inside("rev-parse", "HEAD")
    world.inside("reset", "-q", "--hard", world.pin)
    (world.checkout / "before.txt").write_text("new\n", encoding="utf-8")
    world.inside("add", "-A")
    world.inside("commit", "-q", "-m", "Before it")
    world.inside("cherry-pick", "--allow-empty", tip)
    outcome = run(world)
    assert actions(outcome) == ["new 2", "kept 3"]
    assert contents(world)["0003-odd.patch"] == patch
    assert not world.apply().moved
