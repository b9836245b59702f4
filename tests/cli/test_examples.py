"""Every command's help has an example, and what it shows works: typed into a shell, in a world that fits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
from typer.core import TyperGroup

from skippy_patches.cli.app import app
from tests.bisect.past import Step, line, make, source
from tests.cli.test_road import make_road
from tests.world import World, git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet

# Command to the fixture below whose world its example runs in. A new command needs a line here.
WORLDS = {
    "init": "unadopted",
    "apply": "queue",
    "check": "queue",
    "list": "queue",
    "next-number": "queue",
    "status": "queue",
    "renumber": "colliding",
    "new": "applied",
    "edit": "applied",
    "continue": "stopped",
    "refresh": "applied",
    "recipe": "built",
    "doctor": "built",
    "build": "built",
    "test": "built",
    "record": "built",
    "verify": "built",
    "sbom": "built",
    "bisect": "moved_on",
}
FAST = {"init", "check", "next-number"}


@pytest.fixture
def queue(world: World) -> World:
    """Patches 0001 and 0021 in a repository, and one without a number beside them."""
    world.add(1, "first", {"docs/readme.md": "# First\n"})
    world.add(21, "second", {"docs/readme.md": "# Second\n"})
    git(world.root, "init", "-q")
    git(world.root, "add", ".")
    git(world.root, "commit", "-q", "-m", "the queue")
    git(world.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    spare = world.add(22, "third", {"docs/readme.md": "# Third\n"})
    spare.rename(world.root / "my.patch")
    return world


@pytest.fixture
def colliding(queue: World) -> World:
    """Two patches have number 0021."""
    (queue.root / "my.patch").rename(queue.patches / "0021-third.patch")
    return queue


@pytest.fixture
def applied(queue: World) -> World:
    """The queue is applied, there is a band of numbers, and git knows who somebody is."""
    identity = "[user]\n\tname = Ada Author\n\temail = ada@example.org\n"
    (Path(os.environ["HOME"]) / ".gitconfig").write_text(identity, encoding="utf-8")
    queue.configure("bands: {mtp: 100-199}\n")
    queue.apply()
    return queue


@pytest.fixture
def stopped(applied: World) -> World:
    """The checkout is stopped at a patch that has another one behind it."""
    done = applied.run("edit", "1")
    assert done.returncode == 0, done.stderr
    return applied


@pytest.fixture
def unadopted(queue: World) -> World:
    """The same without skippy-patches.yaml, and with the pin in a file; the cache of pins has it."""
    queue.apply()
    shutil.rmtree(queue.root / ".skippy")
    (queue.root / "skippy-patches.yaml").unlink()
    (queue.root / "upstream.txt").write_text(f"{queue.pin}\n", encoding="utf-8")
    return queue


@pytest.fixture
def moved_on(tmp_path: Path) -> World:
    """Upstream went on, and its tag b10400 breaks patch 0021."""
    changes = {"b10400": {"src/a.cpp": source(b5="theirs")}}
    pin = Step(name="b10361", files={"src/a.cpp": source()}, parents=[])
    make(tmp_path / "upstream", [pin, *line("b10380 b10400", "b10361", changes)], head="b10361")
    world = World.create(tmp_path / "project", tmp_path / "upstream")
    world.add(21, "count-pages", {"src/a.cpp": source(b5="mine")})
    return world


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project that can be built in seconds, and was."""
    world = make_road(tmp_path_factory.mktemp("built"), "add_test(NAME test-kv-page COMMAND test-one)\n")
    done = world.run("build")
    assert done.returncode == 0, done.stderr
    return world


def _commands() -> dict[str, str]:
    """Name to epilog of every command there is."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return {name: command.epilog or "" for name, command in group.commands.items()}


@pytest.mark.parametrize("command", sorted(_commands()))
def test_the_help_has_an_example(command: str) -> None:
    word, _, example = _commands()[command].partition(" ")
    assert word == "Example:"
    shown, _, told = example.partition("  # ")
    assert f"skippy-patches {command}" in shown
    assert told, f"what does the example of {command} do? '  # ...'"
    assert command in WORLDS, f"give the example of '{command}' a world in tests/cli/test_examples.py"


def _runnable() -> Iterator[ParameterSet]:
    """Every command that has a world; most are left to the thorough suite, for the CPU of so many starts."""
    for command in sorted(_commands().keys() & WORLDS.keys()):
        yield pytest.param(command, marks=[] if command in FAST else [pytest.mark.thorough])


@pytest.mark.parametrize("command", list(_runnable()))
def test_the_example_runs(command: str, request: pytest.FixtureRequest) -> None:
    example = _commands()[command].removeprefix("Example: ")
    world = request.getfixturevalue(WORLDS[command])
    assert isinstance(world, World)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", example],
        cwd=world.root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not found" not in done.stderr


def test_every_world_is_for_a_command() -> None:
    assert set(WORLDS) == set(_commands())
