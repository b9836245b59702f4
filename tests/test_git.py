"""The one place that starts git for the checkout."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches import git as hermetic
from skippy_patches.errors import WrongTree
from skippy_patches.git import LOCAL_VARIABLES, GitFailed, GitMissing, Repository
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit."""
    made = Repository.create(tmp_path / "work", bare=False)
    (tmp_path / "work/file").write_text("content\n", encoding="utf-8")
    git(tmp_path / "work", "add", "-A")
    git(tmp_path / "work", "commit", "-q", "-m", "One")
    return made


def test_every_local_variable_of_this_git_is_known() -> None:
    done = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= LOCAL_VARIABLES


@pytest.mark.case(2)
def test_the_environment_is_an_allowlist(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        *LOCAL_VARIABLES,
        "GIT_AUTHOR_NAME",
        "GIT_TRACE",
        "GIT_CONFIG_KEY_77",
        "EDITOR",
        "LC_MESSAGES",
    ):
        monkeypatch.setenv(name, "hostile")
    env = hermetic.hermetic_environment()
    assert "hostile" not in env.values()
    assert env["HOME"] == env["XDG_CONFIG_HOME"] == os.devnull
    fetching = hermetic.user_environment()
    aimed = {name for name in fetching if name in LOCAL_VARIABLES} - {"GIT_CONFIG_COUNT"}
    assert aimed == set()
    assert fetching["EDITOR"] == "hostile"


@pytest.mark.case(3)
def test_objects_are_read_from_here_whatever_the_environment_says(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy = Repository.create(tmp_path / "decoy", bare=False)
    commit = repository.resolve("HEAD")
    assert commit is not None
    for name in LOCAL_VARIABLES:
        monkeypatch.setenv(name, "0" if name.endswith("COUNT") else str(decoy.git_dir))
    with repository.objects() as objects:
        assert (objects.commit(commit).tree / "file").data_stream.read() == b"content\n"
    assert repository.resolve("HEAD") == commit


@pytest.mark.case(1)
def test_a_place_that_is_another_repository_s_is_refused(repository: Repository, tmp_path: Path) -> None:
    repository.verify_place()
    inside = dataclasses.replace(repository, work_tree=tmp_path)
    inside.verify_place()  # git is told both, so it believes them
    other = Repository.create(tmp_path / "other", bare=False)
    (other.git_dir / "commondir").write_text(str(repository.git_dir), encoding="utf-8")
    subprocess.run(["rm", "-rf", str(other.git_dir)], check=True)
    other.git_dir.write_text(f"gitdir: {repository.git_dir}\n", encoding="utf-8")
    with pytest.raises(WrongTree, match="git answers for"):
        other.verify_place()


def test_failures_show_command_status_and_streams(repository: Repository) -> None:
    with pytest.raises(GitFailed) as caught:
        repository.run("rev-parse", "--verify", "nothing")
    assert "`git rev-parse --verify nothing` ended with status 128" in str(caught.value)
    assert "fatal: Needed a single revision" in caught.value.why


def test_without_git(repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitMissing, match="not found on PATH"):
        repository.run("status")
    with pytest.raises(GitMissing):
        repository.fetch("x", on_progress=lambda *_: None)


def test_names_that_are_no_utf_8_survive(repository: Repository) -> None:
    assert repository.work_tree is not None
    name = os.fsdecode(b"caf\xe9")
    (repository.work_tree / name).write_text("x", encoding="utf-8")
    repository.run("add", "--all")
    assert name in repository.run("ls-files", "-z").paths


@pytest.mark.parametrize(
    ("said", "status"),
    [("fatal: write error: No space left on device", 2), ("fatal: bad object HEAD", 3)],
)
def test_what_the_machine_refuses_is_no_internal_error(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int
) -> None:
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 128\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(GitFailed, match="ended with status 128") as caught:
        repository.run("write-tree")
    assert (caught.value.exit_status, caught.value.why) == (status, said)
