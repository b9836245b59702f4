"""Queues read from folders and from the index."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skippy_patches import config
from skippy_patches.errors import ConfigError
from skippy_patches.git_host import HostGit, HostGitError
from skippy_patches.queue import reader
from skippy_patches.queue.errors import QueueError
from skippy_patches.queue.snapshot import FILE, OTHER, SYMLINK, UNMERGED, Entry, Snapshot, ordered
from tests.queue.corpus import ENVIRONMENT
from tests.queue.made import good, mailed

CONFIG = """\
upstream:
  repository: https://example.org/llama.cpp.git
  commit: 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840
queue: {queue}
"""


def git(folder: Path, *arguments: str) -> bytes:
    environment = {**os.environ, **ENVIRONMENT}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose project lies in a folder of it, with two good patches."""
    root = tmp_path / "host" / "pr\u00f6ject"
    (root / "patches").mkdir(parents=True)
    git(tmp_path / "host", "init", "-q", "-b", "main")
    (root / "skippy-patches.yaml").write_text(CONFIG.format(queue="patches"))
    (root / "patches/0001-a.patch").write_bytes(good(1))
    (root / "patches/0002-b.patch").write_bytes(good(2))
    return root


def _folder(project: Path) -> Snapshot:
    return reader.read_folder(config.load(project / "skippy-patches.yaml"))


def _index(project: Path) -> Snapshot:
    _, snapshot = reader.read(project, is_staged=True)
    return snapshot


def _names(snapshot: Snapshot) -> list[str]:
    return [patch.name for patch in ordered(snapshot)]


def test_load(project: Path) -> None:
    patches = reader.load(config.load(project / "skippy-patches.yaml"))
    assert [(patch.path, patch.number, patch.content) for patch in patches] == [
        ("patches/0001-a.patch", 1, good(1)),
        ("patches/0002-b.patch", 2, good(2)),
    ]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("0002-c.patch", good(3), "duplicate-number"),
        ("c.patch", good(3), "malformed-name"),
        ("0003-c.patch", b"", "empty-patch"),
        ("series", b"0002-b.patch\n", "series-extra"),
    ],
)
def test_load_refuses_what_is_in_doubt(name: str, content: bytes, code: str, project: Path) -> None:
    (project / "patches" / name).write_bytes(content)
    with pytest.raises(QueueError) as raised:
        reader.load(config.load(project / "skippy-patches.yaml"))
    assert code in [finding.code for finding in raised.value.findings]
    assert f"[{code}]" in str(raised.value)


def test_load_takes_a_queue_with_a_hole_even_if_it_is_forbidden(project: Path) -> None:
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue="patches") + "gaps: forbid\n")
    (project / "patches/0009-c.patch").write_bytes(good(3))
    assert len(reader.load(config.load(project / "skippy-patches.yaml"))) == 3


def test_folder_with_everything_in_it(project: Path) -> None:
    lane = project / "patches"
    (lane / "README").write_text("no patch")
    (lane / "0003-folder.patch").mkdir()
    (lane / "0004-link.patch").symlink_to("0001-a.patch")
    os.mkfifo(lane / "0005-pipe.patch")
    Path(os.fsdecode(os.fsencode(lane) + b"/0006-\xff.patch")).write_bytes(good(6))
    (lane / "series").write_text("0001-a.patch\n")
    (read,) = _folder(project).lanes
    assert read.series == Entry("series", FILE, b"0001-a.patch\n")
    assert [(entry.name, entry.kind) for entry in read.entries] == [
        ("0001-a.patch", FILE),
        ("0002-b.patch", FILE),
        ("0003-folder.patch", OTHER),
        ("0004-link.patch", SYMLINK),
        ("0005-pipe.patch", OTHER),
        ("0006-\udcff.patch", FILE),
    ]
    assert read.entries[3].content == b"0001-a.patch"


def test_missing_folder(project: Path) -> None:
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue="[patches, more]"))
    assert [lane.exists for lane in _folder(project).lanes] == [True, False]


def test_lane_that_is_a_file(project: Path) -> None:
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue="skippy-patches.yaml"))
    with pytest.raises(ConfigError, match="cannot be read"):
        _folder(project)


def test_index_is_read_and_not_the_folder(project: Path) -> None:
    git(project, "add", ".")
    (project / "patches/0001-a.patch").write_bytes(b"edited")
    (project / "patches/0003-c.patch").write_bytes(good(3))
    (project / "patches/0002-b.patch").unlink()
    (project / "skippy-patches.yaml").write_text("broken: [")
    snapshot = _index(project)
    assert _names(snapshot) == ["0001-a.patch", "0002-b.patch"]
    assert [patch.content for patch in ordered(snapshot)] == [good(1), good(2)]


def test_index_and_folder_give_the_same(project: Path) -> None:
    lane = project / "patches"
    (lane / "0003-link.patch").symlink_to("0001-a.patch")
    Path(os.fsdecode(os.fsencode(lane) + b"/0006-\xff \n.patch")).write_bytes(good(6))
    (lane / "sub").mkdir()
    (lane / "sub/0001-other.patch").write_bytes(good(7))
    (lane / "series").write_text("0001-a.patch\n")
    git(project, "add", ".")
    assert _index(project).lanes == _folder(project).lanes


def test_index_of_a_project_at_the_root_with_the_root_as_lane(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "skippy-patches.yaml").write_text(CONFIG.format(queue="."))
    (tmp_path / "0001-a.patch").write_bytes(good(1))
    git(tmp_path, "add", ".")
    assert _index(tmp_path).lanes == _folder(tmp_path).lanes
    assert [patch.path for patch in ordered(_index(tmp_path))] == ["0001-a.patch"]


def test_lane_names_are_not_patterns(project: Path) -> None:
    (project / "p*").mkdir()
    (project / "p*/0001-star.patch").write_bytes(good(5))
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue="'p*'"))
    git(project, "add", ".")
    assert _names(_index(project)) == ["0001-star.patch"]


def test_empty_lane_in_the_index(project: Path) -> None:
    git(project, "add", "skippy-patches.yaml")
    assert [lane.exists for lane in _index(project).lanes] == [False]


def test_announced_patches_are_left_out_and_empty_ones_are_not(project: Path) -> None:
    (project / "patches/0003-empty.patch").write_bytes(b"")
    git(project, "add", "skippy-patches.yaml", "patches/0003-empty.patch")
    git(project, "add", "--intent-to-add", ".")
    assert _names(_index(project)) == ["0003-empty.patch"]


def _conflict(project: Path, path: str) -> None:
    git(project, "add", ".")
    git(project, "commit", "-qm", "base")
    git(project, "checkout", "-qb", "side")
    (project / path).write_bytes(mailed(b"side\n"))
    git(project, "commit", "-qam", "side")
    git(project, "checkout", "-q", "main")
    (project / path).write_bytes(mailed(b"main\n"))
    git(project, "commit", "-qam", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "-q", "side")


def test_conflict_in_the_index(project: Path) -> None:
    _conflict(project, "patches/0001-a.patch")
    (lane,) = _index(project).lanes
    assert [(entry.name, entry.kind) for entry in lane.entries] == [
        ("0001-a.patch", UNMERGED),
        ("0002-b.patch", FILE),
    ]


def test_conflict_in_the_configuration(project: Path) -> None:
    _conflict(project, "skippy-patches.yaml")
    with pytest.raises(ConfigError, match="merge conflict"):
        _index(project)


def test_configuration_that_is_not_added(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"git add skippy-patches\.yaml"):
        _index(project)


def test_lane_outside_the_repository(project: Path) -> None:
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue="../patches"))
    git(project, "add", ".")
    with pytest.raises(ConfigError, match="not in the repository"):
        _index(project)


def test_no_repository(tmp_path: Path) -> None:
    with HostGit(tmp_path) as host, pytest.raises(HostGitError, match="not a git repository"):
        list(host.entries(["patches"]))


@pytest.mark.parametrize("lane", ["patches", "link/patches"])
def test_a_lane_behind_a_symbolic_link(project: Path, lane: str) -> None:
    """The index has the link and no patch: the folder must not be read as if it were one."""
    (project / "real").mkdir()
    (project / "patches").rename(project / "real/patches")
    link = project / lane.partition("/")[0]
    link.symlink_to("real/patches" if lane == "patches" else "real")
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue=lane))
    with pytest.raises(ConfigError, match=f"names {lane}, and {link.name} is a symbolic link") as caught:
        _folder(project)
    assert caught.value.exit_status == 2
    git(project, "add", ".")
    (read,) = _index(project).lanes
    assert (read.exists, read.link) == (False, link.name)


def test_links_above_the_project_are_nobodys_concern(project: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(project.parent)
    assert _names(_folder(tmp_path / "way" / project.name)) == ["0001-a.patch", "0002-b.patch"]
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far")
    (project / "skippy-patches.yaml").write_text(CONFIG.format(queue=tmp_path / "near"))
    with pytest.raises(ConfigError, match="is a symbolic link"):
        _folder(project)
