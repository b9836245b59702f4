"""Completion as the shells ask for it: with variables, and an answer on stdout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.inprocess import run

if TYPE_CHECKING:
    from tests.inprocess import Done
    from tests.world import World

PROGRAM = Path(sys.executable).with_name("skippy-patches")
VARIABLE = "_SKIPPY_PATCHES_COMPLETE"


@pytest.fixture
def queue(world: World) -> World:
    """Names only: completion opens no patch."""
    for name in ("0001-a.patch", "0021-two words.patch", "0210-c.patch", "notes.patch", "README"):
        (world.patches / name).write_text("", encoding="utf-8")
    (world.root / "recipes").mkdir()
    for name in ("cpu.yaml", "cuda.yaml", "$(touch x).yaml", "notes.txt"):
        (world.root / "recipes" / name).write_text("", encoding="utf-8")
    return world


def _ask(folder: Path, **variables: str) -> Done:
    done = run(folder, env=variables)
    assert done.stderr == ""
    return done


def _bash(folder: Path, words: str) -> list[str]:
    """What bash offers for the last word."""
    count = str(len(words.split(" ")) - 1)
    return _ask(folder, COMP_WORDS=words, COMP_CWORD=count, **{VARIABLE: "complete_bash"}).stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("skippy-patches apply --to ", ["0001", "0021", "0210"]),
        ("skippy-patches apply --to 2", ["21", "210"]),
        ("skippy-patches apply --to 002", ["0021"]),
        ("skippy-patches apply --to x", []),
        ("skippy-patches build --recipe c", ["cpu", "cuda"]),
        ("skippy-patches next-n", ["next-number"]),
        ("skippy-patches check --format s", ["sarif"]),
    ],
)
def test_bash(queue: World, words: str, offered: list[str]) -> None:
    assert _bash(queue.root, words) == offered


def test_another_folder(queue: World) -> None:
    assert _bash(queue.root.parent, "skippy-patches apply --to ") == []
    assert _bash(queue.root.parent, "skippy-patches -C project apply --to 00") == ["0001", "0021"]


def test_a_shell_completes(queue: World) -> None:
    """The script that --show-completion prints, in a real bash."""
    script = subprocess.run(
        [PROGRAM, "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    ).stdout
    typed = (
        "COMP_WORDS=(skippy-patches apply --to 002); COMP_CWORD=3; _skippy_patches_completion skippy-patches"
    )
    done = subprocess.run(
        ["bash", "-c", f'{script}\n{typed}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
        cwd=queue.root,
        env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0021\n"


def test_zsh_and_fish_show_names(queue: World) -> None:
    words = {"_TYPER_COMPLETE_ARGS": "skippy-patches apply --to 00"}
    zsh = _ask(queue.root, **words, **{VARIABLE: "complete_zsh"})
    assert zsh.stdout == '_arguments \'*: :(("0001":"a"\n"0021":"two words"))\'\n'
    action = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    fish = _ask(queue.root, **words, **action, **{VARIABLE: "complete_fish"})
    assert fish.stdout == "0001\ta\n0021\ttwo words\n"


def test_a_name_runs_nothing_in_zsh(queue: World) -> None:
    """zsh evaluates the answer; here a shell does with the same quotes."""
    (queue.patches / '0003-it\'s "$(touch run)" `touch run` ; touch run; :.patch').write_text(
        "", encoding="utf-8"
    )
    words = {"_TYPER_COMPLETE_ARGS": "skippy-patches apply --to 0003"}
    answer = _ask(queue.root, **words, **{VARIABLE: "complete_zsh"}).stdout
    assert answer == '_arguments \'*: :(("0003":"it s touch run touch run touch run"))\'\n'
    subprocess.run(["sh", "-c", f"_arguments() {{ :; }}\n{answer}"], cwd=queue.root, check=True)
    assert not (queue.root / "run").exists()


@pytest.mark.parametrize("broken", ["unread: [", "queue: gone\nrecipes: gone\n"])
def test_a_broken_project_is_silent(queue: World, broken: str) -> None:
    if broken.startswith("queue"):
        queue.configure(broken)
    else:
        (queue.root / "skippy-patches.yaml").write_text(broken, encoding="utf-8")
    assert _bash(queue.root, "skippy-patches apply --to ") == []
    assert _bash(queue.root, "skippy-patches build --recipe ") == []
