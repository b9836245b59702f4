"""An author at work in the checkout of a small world."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from skippy_patches.authoring.edit import abort as aborting
from skippy_patches.authoring.edit import sequence
from skippy_patches.authoring.refresh import stage as refresh
from skippy_patches.authoring.refresh.stage import Outcome, Request
from skippy_patches.upstream import pin
from tests.world import Recorder, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skippy_patches.authoring.edit.abort import Aborted
    from skippy_patches.authoring.edit.sequence import Begun, Continued

FILE = "src/llama.cpp"


def three_patches(world: World) -> None:
    """0001, 0002 and 0004, each in a place of its own, applied."""
    _from_template(world, "three-patches", _make_three_patches)


def conflicting(world: World) -> str:
    """An edit of 0001 is stopped, amended; 0002 changes the same line, 0004 another. The queue's commit."""
    _from_template(world, "conflicting", _make_conflicting)
    return world.inside("rev-parse", "refs/heads/original")


def _from_template(world: World, name: str, make: Callable[[World], None]) -> None:
    """Projects take seconds to make, and are copied in no time."""
    template = world.upstream.with_name(name)
    if not template.exists():
        made = World.create(template, world.upstream)
        make(made)
    if world.root.exists():
        shutil.rmtree(world.root)
    shutil.copytree(template, world.root, symlinks=True)


def _make_three_patches(world: World) -> None:
    for number, at in ((1, 3), (2, 12), (4, 21)):
        text = world.source(FILE).replace(f"step_{at}()", f"step_{at}_{number}()")
        world.add(number, f"patch{number}", {FILE: text})
    world.apply()


def _make_conflicting(world: World) -> None:
    for number, old, new in ((1, "step_3()", "one()"), (2, "one()", "two()"), (4, "step_21()", "last()")):
        world.add(number, f"patch{number}", {FILE: world.source(FILE).replace(old, new)})
    world.apply()
    world.inside("branch", "original")
    stop(world, 1)
    edit(world, 9, "also")
    (world.checkout / FILE).write_text(source(world).replace("one()", "uno()"), encoding="utf-8")
    amend(world)


def stop(world: World, number: int) -> Begun:
    project = world.project()
    return sequence.edit(project, pin.read(project.upstream), number, reporter=Recorder())


def go_on(world: World) -> Continued:
    project = world.project()
    return sequence.continue_(project, pin.read(project.upstream), reporter=Recorder())


def abort(world: World) -> Aborted:
    return aborting.abort(world.project(), reporter=Recorder())


def amend(world: World) -> None:
    world.inside("commit", "-q", "-a", "--amend", "--no-edit")


def source(world: World) -> str:
    return (world.checkout / FILE).read_text(encoding="utf-8")


def edit(world: World, at: int, text: str) -> None:
    """Change what step `at` is called."""
    path = world.checkout / FILE
    before = path.read_text(encoding="utf-8")
    after = before.replace(f"void step_{at}", f"void {text}_{at}")
    assert after != before
    path.write_text(after, encoding="utf-8")


def commit(world: World, message: str, files: Mapping[str, str | bytes] | None = None, *options: str) -> str:
    """Commit in the checkout, as its author would."""
    for name, content in (files or {}).items():
        path = world.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    world.inside("add", "-A")
    world.inside("commit", "-q", "--cleanup=verbatim", "-m", message, *options)
    return world.inside("rev-parse", "HEAD")


def run(world: World, *drop: str, normalise: bool = False, dry_run: bool = False) -> Outcome:
    """Refresh in process."""
    project = world.project()
    request = Request(drop=drop, normalise=normalise, dry_run=dry_run)
    return refresh.refresh(project, pin.read(project.upstream), request, reporter=Recorder())


def names(world: World) -> list[str]:
    return sorted(path.name for path in world.patches.iterdir())


def contents(world: World) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(world.patches.iterdir())}


def actions(outcome: Outcome) -> list[str]:
    return [f"{change.action} {change.number}" for change in outcome.plan.changes]
