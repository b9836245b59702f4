"""Queues read from commits, without checking them out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skippy_patches.errors import ConfigError
from skippy_patches.project_git import ProjectGit
from skippy_patches.queue import reader
from skippy_patches.queue.check import check, policy_of
from skippy_patches.queue.commit_errors import (
    MissingObjects,
    NoMergeBase,
    NoSuchCommit,
    NotACommit,
    NotConfigured,
)
from skippy_patches.queue.commits import Committed, resolve
from skippy_patches.queue.snapshot import FILE, OTHER, SYMLINK, Snapshot, ordered
from tests.queue.made import good
from tests.queue.test_claims import CONFIG
from tests.queue.test_reader import git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project in a folder of a repository, with a lane beside it; every kind of entry."""
    host = tmp_path / "host"
    root = host / "pr\u00f6ject"
    (root / "patches").mkdir(parents=True)
    (host / "more").mkdir()
    git(host, "init", "-q", "-b", "main")
    (root / "skippy-patches.yaml").write_text(CONFIG, encoding="utf-8")
    (root / "patches/0001-a.patch").write_bytes(good(1))
    (root / "patches/0002-\u00e4\nb.patch").write_bytes(good(2))
    (root / "patches/0003-link.patch").symlink_to("0001-a.patch")
    (root / "patches/0004-folder.patch").mkdir()
    (root / "patches/0004-folder.patch/deep.patch").write_bytes(good(4))
    (root / "patches/readme.md").write_bytes(b"no patch\n")
    (host / "more/0005-b.patch").write_bytes(good(5))
    (host / "more/series").write_bytes(b"0005-b.patch\n")
    git(host, "add", ".")
    git(host, "commit", "-qm", "base")
    return root


def _at(root: Path, name: str = "HEAD") -> Committed:
    repository = ProjectGit.open(root)
    assert repository
    return Committed(
        git=repository,
        revision=resolve(repository, name),
        name=name,
        file=root / "skippy-patches.yaml",
        prefix=repository.prefix,
    )


def _queue(commit: Committed) -> Snapshot:
    return commit.queue(commit.project())


def test_the_same_as_the_folder_whatever_lies_there_now(root: Path) -> None:
    project, folder = reader.read(root, is_staged=False)
    for lane in project.queue:
        for patch in lane.glob("0*.patch"):
            patch.rename(patch.with_name(patch.name + ".away"))
    (root / "skippy-patches.yaml").write_text("not: this\n", encoding="utf-8")
    commit = _at(root)
    assert commit.project() == project
    snapshot = _queue(commit)
    assert snapshot.source == "commit HEAD"
    assert snapshot.lanes == folder.lanes
    kinds = {entry.name: entry.kind for entry in snapshot.lanes[0].entries}
    assert kinds == {
        "0001-a.patch": FILE,
        "0002-\u00e4\nb.patch": FILE,
        "0003-link.patch": SYMLINK,
        "0004-folder.patch": OTHER,
    }


def test_the_configuration_is_the_commits_own(root: Path) -> None:
    (root / "skippy-patches.yaml").write_text(CONFIG.replace("patches, ../more", "."), encoding="utf-8")
    (root / "0009-top.patch").write_bytes(good(9))
    git(root, "add", ".")
    git(root, "commit", "-qm", "another lane")
    assert [patch.path for patch in ordered(_queue(_at(root)))] == ["0009-top.patch"]
    assert len(ordered(_queue(_at(root, "HEAD~1")))) == 2


def test_the_pin_file_is_the_commits_own(root: Path) -> None:
    pin = "14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840"
    text = CONFIG.replace(f"commit: {pin}", "commit_file: PIN").replace(", ../more", "")
    (root / "skippy-patches.yaml").write_text(text, encoding="utf-8")
    (root / "PIN").write_text(f"{pin}\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a file")
    (root / "PIN").unlink()
    assert _at(root).project().upstream.commit == pin
    project, _ = reader.read(root, is_staged=True)
    assert project.upstream.commit == pin
    git(root, "rm", "-q", "PIN")
    git(root, "commit", "-qm", "no file")
    with pytest.raises(ConfigError, match="which cannot be read: HEAD has no such file"):
        _at(root).project()
    with pytest.raises(ConfigError, match="which cannot be read: the index has no such file"):
        reader.read(root, is_staged=True)


def test_a_lane_that_the_commit_does_not_have(root: Path) -> None:
    git(root, "rm", "-q", "-r", "../more")
    git(root, "commit", "-qm", "one lane less")
    commit = _at(root)
    (missing,) = (
        each for each in check(_queue(commit), policy_of(commit.project())) if each.code == "missing-lane"
    )
    assert missing.what == "commit HEAD holds no file of the queue's folder"


def test_a_project_at_the_top_with_the_top_as_its_lane(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "skippy-patches.yaml").write_text(CONFIG.replace("patches, ../more", "., sub"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "0001-a.patch").write_bytes(good(1))
    (tmp_path / "sub/0002-b.patch").write_bytes(good(2))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    assert [patch.path for patch in ordered(_queue(_at(tmp_path)))] == ["0001-a.patch", "sub/0002-b.patch"]


def test_errors(root: Path) -> None:
    for wrong in ("nobody", "--all", "HEAD..main", "nobody...main", ""):
        with pytest.raises(NoSuchCommit, match=f"no commit '{wrong.partition('...')[0]}'"):
            _at(root, wrong)
    (root / "skippy-patches.yaml").write_text(CONFIG.replace("../more", "/elsewhere"), encoding="utf-8")
    git(root, "commit", "-qam", "a lane outside")
    with pytest.raises(ConfigError, match="/elsewhere, which is not in the repository"):
        _queue(_at(root))
    git(root, "rm", "-q", "--cached", "skippy-patches.yaml")
    git(root, "commit", "-qm", "no configuration")
    with pytest.raises(NotConfigured, match="HEAD has no pr\u00f6ject/skippy-patches"):
        _at(root).project()
    blob = git(root, "rev-parse", "HEAD:./patches/0001-a.patch").decode().strip()
    top = Path(os.fsdecode(git(root, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    (top / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(MissingObjects, match=blob):
        _queue(_at(root, "HEAD~2"))


def test_a_lane_behind_a_symbolic_link(root: Path) -> None:
    (root / "patches").rename(root / "real")
    (root / "patches").symlink_to("real")
    (root.parent / "more").rename(root.parent / "less")
    (root.parent / "more").symlink_to("less")
    git(root.parent, "add", ".")
    git(root, "commit", "-qm", "links")
    snapshot = _queue(_at(root))
    assert [(lane.exists, lane.link) for lane in snapshot.lanes] == [(False, "patches"), (False, "../more")]
    assert {finding.code for finding in check(snapshot, policy_of(_at(root).project()))} == {"linked-lane"}


def test_a_mistake_is_blamed_on_the_commit(root: Path) -> None:
    (root / "skippy-patches.yaml").write_text("queue: patches\na: [\n", encoding="utf-8")
    git(root, "commit", "-qam", "broken")
    git(root, "branch", "bad")
    (root / "skippy-patches.yaml").write_text(CONFIG, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^pr\u00f6ject/skippy-patches\.yaml at bad:3: is not YAML: "):
        _at(root, "bad").project()


def test_names_of_something_else_than_a_commit(root: Path) -> None:
    git(root, "tag", "folder", "HEAD^{tree}")
    with pytest.raises(NotACommit, match="'folder' is no commit but a tree"):
        _at(root, "folder")
    for name, fetch in (("origin/x", "git fetch origin x;"), ("main~9", "git fetch origin;")):
        with pytest.raises(NoSuchCommit) as caught:
            _at(root, name)
        assert fetch in caught.value.mend
    git(root, "checkout", "-q", "--orphan", "alone")
    git(root, "commit", "-qm", "alone")
    with pytest.raises(NoMergeBase, match=r"'main\.\.\.alone' names nothing: the two have no common commit"):
        _at(root, "main...alone")
