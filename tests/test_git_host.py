"""Whose index is read, whatever a hook exports."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.git_host import HostGit, HostGitError
from tests.queue.corpus import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path


def _git(folder: Path, *arguments: str, **variables: str) -> str:
    environment = {**os.environ, **ENVIRONMENT, **variables}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment, text=True).stdout.strip()


def _repository(folder: Path, name: str) -> Path:
    folder.mkdir()
    _git(folder, "init", "-q")
    (folder / name).write_text(name)
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "base")
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return _repository(tmp_path / "ours", "ours.txt")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return _repository(tmp_path / "other", "other.txt")


def _paths(folder: Path, **variables: str) -> list[str]:
    with HostGit(folder, {**os.environ, **variables}) as git:
        return [entry.path for entry in git.entries(["."])]


def test_every_local_variable_of_git_is_dropped(ours: Path, other: Path) -> None:
    names = _git(ours, "rev-parse", "--local-env-vars").split()
    assert {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR"} <= set(names)
    hostile = dict.fromkeys(names, str(other / ".git")) | {"GIT_INDEX_FILE": str(other / ".git/index")}
    assert _paths(ours, **hostile) == ["ours.txt"]


def test_pathspec_variables_are_dropped(ours: Path) -> None:
    assert _paths(ours, GIT_GLOB_PATHSPECS="1", GIT_ICASE_PATHSPECS="1") == ["ours.txt"]


def test_folders_are_not_patterns(ours: Path) -> None:
    with HostGit(ours) as git:
        assert list(git.entries(["ou*"])) == []
        assert [entry.path for entry in git.entries(["ours.txt"])] == ["ours.txt"]


def test_temporary_index_in_the_git_dir_is_read(ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for `git commit FILE`; git names it relative to the top of the work tree, where hooks run."""
    (ours / "more.txt").write_text("x")
    _git(ours, "add", ".", GIT_INDEX_FILE=".git/next-index-1.lock")
    monkeypatch.chdir(ours)
    assert _paths(ours, GIT_INDEX_FILE=".git/next-index-1.lock") == ["more.txt", "ours.txt"]
    assert _paths(ours) == ["ours.txt"]


def test_index_of_a_linked_worktree(ours: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    _git(ours, "worktree", "add", "-q", str(linked))
    (linked / "linked.txt").write_text("x")
    _git(linked, "add", ".")
    git_dir = _git(linked, "rev-parse", "--absolute-git-dir")
    exported = {"GIT_DIR": git_dir, "GIT_INDEX_FILE": f"{git_dir}/index"}
    assert _paths(linked, **exported) == ["linked.txt", "ours.txt"]
    assert _paths(ours, **exported) == ["ours.txt"]


def test_index_elsewhere_is_not_read(ours: Path, other: Path, tmp_path: Path) -> None:
    _git(ours, "read-tree", "HEAD", GIT_INDEX_FILE=str(tmp_path / "index"))
    (ours / "more.txt").write_text("x")
    _git(ours, "add", "more.txt")
    for index in (tmp_path / "index", other / ".git/index", tmp_path / "missing"):
        assert _paths(ours, GIT_INDEX_FILE=str(index)) == ["more.txt", "ours.txt"]


def test_blobs(ours: Path) -> None:
    content = bytes(range(256)) * 1000
    (ours / "big.bin").write_bytes(content)
    _git(ours, "add", ".")
    with HostGit(ours) as git:
        assert git.index_blob("big.bin") == content
        assert git.index_blob("missing") is None
        assert git.index_blob("ours.txt") == b"ours.txt"
        assert git.blobs(["0" * 40, "HEAD", ":ours.txt", ":ours"]) == [None, None, b"ours.txt", None]
        assert git.blobs([":big.bin", ":ours.txt"] * 150) == [content, b"ours.txt"] * 150
        assert git.blobs([]) == []
        with pytest.raises(ValueError, match="line end"):
            git.blobs(["two\nlines"])


def test_no_repository_is_an_error_with_the_words_of_git(tmp_path: Path) -> None:
    with HostGit(tmp_path) as git:
        assert git.index_blob("x") is None
        with pytest.raises(HostGitError, match="not a git repository") as raised:
            list(git.entries(["."]))
    assert raised.value.exit_status == 2


def test_git_that_is_not_there(ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(ours))
    with HostGit(ours) as git, pytest.raises(HostGitError, match="cannot be started"):
        list(git.entries(["."]))
