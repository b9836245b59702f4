"""Numbers that branches have taken."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from skippy_patches import config
from skippy_patches.queue import reader
from skippy_patches.queue.claims import (
    BandFull,
    Claim,
    NoSuchBand,
    NumbersClaimed,
    NumbersKept,
    NumbersUsedUp,
    claims,
    next_free,
    shown,
)
from skippy_patches.queue.snapshot import Snapshot
from tests import inprocess
from tests.queue.made import good, lane
from tests.queue.test_reader import git

CONFIG = """\
upstream:
  repository: https://example.org/llama.cpp.git
  commit: 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840
queue: [patches, ../more]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project in a folder of a repository, with two lanes; `other` and origin/far take numbers."""
    host, root = tmp_path / "host", tmp_path / "host" / "project"
    (root / "patches").mkdir(parents=True)
    (host / "more").mkdir()
    git(host, "init", "-q", "-b", "main")
    (root / "skippy-patches.yaml").write_text(CONFIG, encoding="utf-8")
    (root / "patches/0001-a.patch").write_bytes(good(1))
    (host / "more/0002-b.patch").write_bytes(good(2))
    git(host, "add", ".")
    git(host, "commit", "-qm", "base")
    git(host, "checkout", "-q", "-b", "other")
    (root / "patches/0003-c.patch").write_bytes(good(3))
    (root / "patches/notes.txt").write_bytes(b"")
    git(host, "add", ".")
    git(host, "commit", "-qm", "other")
    git(host, "checkout", "-q", "-b", "far", "main")
    (host / "more/0004-d.patch").write_bytes(good(4))
    (host / "0009-not-in-a-lane.patch").write_bytes(good(9))
    git(host, "add", ".")
    git(host, "commit", "-qm", "far")
    git(host, "update-ref", "refs/remotes/origin/far", "far")
    git(host, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/far")
    git(host, "checkout", "-q", "main")
    git(host, "branch", "-q", "-D", "far")
    git(host, "tag", "v1", "origin/far")
    return root


def _project(root: Path) -> config.Project:
    return config.load(root / "skippy-patches.yaml")


def test_claims_of_all_branches(root: Path) -> None:
    found = [(claim.number, claim.file, claim.refs) for claim in claims(_project(root))]
    assert found == [
        (1, "patches/0001-a.patch", ("refs/heads/main", "refs/heads/other", "refs/remotes/origin/far")),
        (2, "../more/0002-b.patch", ("refs/heads/main", "refs/heads/other", "refs/remotes/origin/far")),
        (3, "patches/0003-c.patch", ("refs/heads/other",)),
        (4, "../more/0004-d.patch", ("refs/remotes/origin/far",)),
    ]


def test_outside_a_repository_there_are_none(root: Path, tmp_path: Path) -> None:
    root.rename(tmp_path / "alone")
    project = _project(tmp_path / "alone")
    assert claims(project) == ()
    assert next_free(project, reader.read_folder(project), ()).number == 2


def test_before_the_first_commit_there_are_none(root: Path, tmp_path: Path) -> None:
    root.rename(tmp_path / "young")
    git(tmp_path / "young", "init", "-q")
    assert claims(_project(tmp_path / "young")) == ()


def test_hundreds_of_branches_start_no_more_processes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"create refs/heads/b{number} refs/heads/other\n" for number in range(300))
    subprocess.run(["git", "-C", str(root), "update-ref", "--stdin"], input=lines.encode(), check=True)
    started = []
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: started.append(a) or run(*a, **k))  # type: ignore[func-returns-value]
    third = claims(_project(root))[2]
    assert len(third.refs) == 301
    assert shown(third.refs) == "b0, b1, b10 and 298 more"
    assert len(started) == 4


def test_next_number_passes_over_what_branches_claim(root: Path) -> None:
    answer = inprocess.run(root, "next-number")
    assert (answer.returncode, answer.stdout) == (0, "0005\n")
    assert answer.stderr.splitlines() == [
        "0003 is claimed: patches/0003-c.patch on other",
        "0004 is claimed: ../more/0004-d.patch on origin/far",
    ]
    local = inprocess.run(root, "next-number", "--local")
    assert (local.stdout, local.stderr) == ("0003\n", "")
    assert json.loads(inprocess.run(root, "next-number", "--format", "json").stdout) == {
        "schema_version": 1,
        "next_number": 5,
        "claimed_by": [
            {"number": 3, "file": "patches/0003-c.patch", "refs": ["refs/heads/other"]},
            {"number": 4, "file": "../more/0004-d.patch", "refs": ["refs/remotes/origin/far"]},
        ],
    }


def _next(numbers: list[int], claimed: list[int] = [], *, bands: str = "", band: str = "") -> int:  # noqa: B006
    """The next number of a made-up queue."""
    text = f"{CONFIG}bands: {{{bands}}}\n"
    project = config.load(_FILE, content=text.encode())
    files = {f"{number:04d}-x.patch": good(number) for number in numbers}
    snapshot = Snapshot("folder", (lane({**files}),))
    taken = [Claim(number=number, file=f"{number}", blob="", refs=("refs/heads/b",)) for number in claimed]
    return next_free(project, snapshot, taken, band).number


_FILE = Path("/nowhere/skippy-patches.yaml")


@pytest.mark.parametrize(
    ("numbers", "claimed", "bands", "band", "expected"),
    [
        ([], [], "", "", 1),
        ([1, 7], [], "", "", 8),
        ([1, 7], [9], "", "", 10),
        ([1], [], "mtp: 2-99", "", 100),
        ([1], [50], "mtp: 2-99, kv: 100-199", "", 200),
        ([1, 150], [], "kv: 100-199", "", 200),
        ([1, 9500], [], "own: 9000-9999", "", 2),  # the last band: what is outside goes on below it
        ([1], [], "mtp: 100-199", "mtp", 100),
        ([1, 104, 250], [110], "mtp: 100-199", "mtp", 111),
        ([9999], [], "mtp: 100-199", "mtp", 100),
        ([9998], [], "", "", 9999),
    ],
)
def test_next_number_and_bands(
    numbers: list[int], claimed: list[int], bands: str, band: str, expected: int
) -> None:
    assert _next(numbers, claimed, bands=bands, band=band) == expected


def test_no_number_is_left() -> None:
    with pytest.raises(NumbersUsedUp):
        _next([9999])
    with pytest.raises(NumbersClaimed, match="9999 is claimed by 9999 on b"):
        _next([1], [9999])
    with pytest.raises(BandFull, match="The band 'mtp' has no free number: 0199"):
        _next([1, 199], bands="mtp: 100-199", band="mtp")
    with pytest.raises(NumbersClaimed, match="0199 is claimed"):
        _next([1, 180], [199], bands="mtp: 100-199", band="mtp")
    with pytest.raises(NumbersClaimed, match="in band 'mtp': 0199 is claimed by 199 on b"):
        _next([1], [199, 9999], bands="mtp: 100-199", band="mtp")
    with pytest.raises(BandFull, match="The band 'mtp'"):
        _next([1, 199], [9999], bands="mtp: 100-199", band="mtp")
    with pytest.raises(NumbersClaimed, match="number: 8999 is claimed"):
        _next([1], [8999, 9999], bands="own: 9000-9999")
    with pytest.raises(NumbersKept, match="no number behind 0024") as caught:
        _next([24], bands="all: 1-9999")
    assert "all: 1-9999" in caught.value.why
    with pytest.raises(NoSuchBand, match="There is no band 'mpt'") as unknown:
        _next([1], bands="mtp: 100-199", band="mpt")
    assert unknown.value.mend == "Did you mean 'mtp'?"
