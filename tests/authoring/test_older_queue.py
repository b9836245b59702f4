"""Commits on a queue that changed since: what is advised, followed to the letter, loses nothing."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring.errors import QueueChanged
from tests.authoring.desk import actions, amend, commit, edit, names, run, stop, three_patches
from tests.world import git

if TYPE_CHECKING:
    from tests.world import World

LAST = "0004-patch4.patch"


def change(world: World, old: str, new: str) -> None:
    """As a pull would, or an editor."""
    file = world.patches / LAST
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def commands(error: QueueChanged) -> list[list[str]]:
    """What the mend names, for git."""
    found = re.findall(r"\bgit -C .*?(?= && |, | and |\n| \(|$)", error.mend)
    return [shlex.split(each)[1:] for each in found]


def test_an_amended_patch_is_not_rebased_onto_itself(project: World) -> None:
    three_patches(project)
    for words in (["init", "-q"], ["add", "patches"], ["commit", "-q", "-m", "queue"]):
        git(project.root, *words)
    stop(project, 2)
    edit(project, 12, "amended")
    amend(project)
    change(project, "Because of 4.", "Because of four.")
    said = project.run("continue").stdout
    assert "Write it into the queue" not in said
    assert "The patch files were changed" in said
    with pytest.raises(QueueChanged) as caught:
        run(project)
    assert "rebase" not in caught.value.mend
    put_back, pop, *_ = commands(caught.value)
    git(project.root, *put_back)
    assert actions(run(project)) == ["kept 1", "rewritten 2", "kept 4"]
    git(project.root, "commit", "-q", "-a", "-m", "mine")
    git(project.root, *pop)
    assert project.apply().moved
    assert actions(run(project)) == ["kept 1", "kept 2", "kept 4"]
    assert "four." in (project.patches / LAST).read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_pulled_queue_is_merged(project: World) -> None:
    three_patches(project)
    for words in (["init", "-q"], ["add", "patches"], ["commit", "-q", "-m", "queue"]):
        git(project.root, *words)
    stop(project, 2)
    edit(project, 12, "amended")
    amend(project)
    assert "Write it into the queue: skippy-patches refresh" in project.run("continue").stdout
    change(project, "Because of 4.", "Because of four.")
    git(project.root, "commit", "-q", "-a", "-m", "pulled")
    with pytest.raises(QueueChanged) as caught:
        run(project)
    _, _, switch, _, back, merge = commands(caught.value)
    git(project.root, *(word.replace("COMMIT", "HEAD^") for word in switch))
    assert actions(run(project)) == ["kept 1", "rewritten 2", "kept 4"]
    git(project.root, "commit", "-q", "-a", "-m", "mine")
    git(project.root, *back)
    git(project.root, *merge)
    project.apply()
    assert "amended_12_2" in (project.checkout / "src/llama.cpp").read_text(encoding="utf-8")
    assert actions(run(project)) == ["kept 1", "kept 2", "kept 4"]


@pytest.mark.thorough
def test_commits_on_top_are_rebased(project: World) -> None:
    three_patches(project)
    commit(project, "Mine\n", {"docs/mine.md": "x\n"})
    change(project, "Because of 4.", "Because of four.")
    with pytest.raises(QueueChanged, match="rebase --onto skippy") as caught:
        run(project)
    branch, rebase, switch = commands(caught.value)
    git(project.root, *branch)
    assert project.run("apply", "--discard").returncode == 0
    git(project.root, *rebase)
    git(project.root, *switch)
    assert actions(run(project)) == ["kept 1", "kept 2", "kept 4", "new 5"]
    assert names(project)[-1] == "0005-Mine.patch"
