"""Where the history comes from: a clone, what is configured, and an address, once."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skippy_patches.bisect import fetched
from skippy_patches.bisect.errors import NotAHistory, NotFetched
from skippy_patches.bisect.history import Clone
from skippy_patches.upstream.cache import Cache
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.bisect.conftest import Ground


@pytest.fixture
def address(ground: Ground, tmp_path: Path) -> World:
    """The same queue in a project whose repository is an address, with a cache of its own."""
    world = World.create(tmp_path / "project", ground.world.upstream)
    shutil.copytree(ground.world.patches, world.patches, dirs_exist_ok=True)
    copy = tmp_path / "server.git"
    git(tmp_path, "clone", "-q", "--mirror", str(ground.world.upstream), str(copy))
    world.configure(upstream=f"  repository: {copy.as_uri()}\n")
    return world


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    return {"SKIPPY_PATCHES_CACHE_DIR": str(tmp_path / "cache")}


def test_an_address_is_fetched_once(
    ground: Ground, address: World, env: Mapping[str, str], tmp_path: Path
) -> None:
    first = address.run("bisect", "4", "--bad", "l8~1", env=env)
    assert first.returncode == 0, first.stderr
    assert f"commit   {ground.commits['l5']}\n" in first.stdout
    assert "see it" not in first.stdout
    assert "Fetching history ..." in first.stderr

    shutil.rmtree(tmp_path / "server.git")  # no network any more
    ends = ("--good", ground.commits["l4"], "--bad", ground.commits["l5"])
    again = address.run("bisect", "4", *ends, env=env)
    assert again.returncode == 0, again.stderr
    assert f"commit   {ground.commits['l5']}\n" in again.stdout

    gone = address.run("bisect", "4", "--bad", "l8", env=env)
    assert gone.returncode == 2
    assert f"Commit 'l8' cannot be fetched from {(tmp_path / 'server.git').as_uri()}." in gone.stderr
    assert "does not appear to be a git repository" in gone.stderr
    names = [file.name for file in (tmp_path / "cache/history").rglob("*") if "FETCH_HEAD" in file.name]
    assert names == []


@pytest.mark.parametrize(
    "revision", ["--upload-pack=touch x", "+l8", "l8:refs/heads/x", "a..b", "b99", "l8;ls"]
)
def test_hostile_names_are_not_sent(ground: Ground, tmp_path: Path, revision: str) -> None:
    where, cache = ground.world.upstream.as_uri(), Cache(root=tmp_path / "cache")
    with pytest.raises(NotFetched):
        fetched.fetch(where, [revision], cache, Recorder())
    assert not [*tmp_path.rglob("x"), *ground.world.upstream.rglob("x")]


def test_a_branch_that_moved_is_asked_for_again(ground: Ground, address: World, tmp_path: Path) -> None:
    server, cache = tmp_path / "server.git", Cache(root=tmp_path / "cache")
    for commit in ("l1", "l2"):
        git(server, "update-ref", "refs/heads/main", ground.commits[commit])
        _, found = fetched.fetch(server.as_uri(), ["main"], cache, Recorder())
        assert found == (ground.commits[commit],)


def test_an_abbreviation_of_what_was_fetched(ground: Ground, address: World, tmp_path: Path) -> None:
    server, cache = tmp_path / "server.git", Cache(root=tmp_path / "cache")
    _, found = fetched.fetch(server.as_uri(), [ground.commits["l3"][:10], "l8"], cache, Recorder())
    assert found == (ground.commits["l3"], ground.commits["l8"])


def test_what_a_killed_fetch_left_is_removed(address: World, tmp_path: Path) -> None:
    server, cache = tmp_path / "server.git", Cache(root=tmp_path / "cache")
    repository, _ = fetched.fetch(server.as_uri(), ["l8"], cache, Recorder())
    (ref,) = repository.git_dir.glob("refs/skippy/history/*")
    left = [repository.git_dir / "objects/pack/tmp_pack_x", ref.with_suffix(".lock")]
    for file in left:
        file.write_bytes(b"half")
    fetched.fetch(server.as_uri(), ["l8"], cache, Recorder())
    assert not any(file.exists() for file in left)


def test_a_mirror_that_is_a_directory_serves(ground: Ground, address: World) -> None:
    upstream = ground.world.upstream
    address.configure(upstream=f"  repository: /nowhere\n  mirrors:\n    - directory: {upstream}\n")
    assert address.run("bisect", "4", "--good", "l4", "--bad", "l5").returncode == 0

    done = address.run("bisect", "4", "--bad", "b99")
    assert done.returncode == 2
    assert "Nothing that is configured holds the history between the two commits." in done.stderr
    assert "- /nowhere cannot be searched: it does not exist." in done.stderr
    assert f"- {upstream} knows no commit 'b99'." in done.stderr


@pytest.fixture
def clones(ground: Ground, tmp_path: Path) -> dict[Path, Path]:
    """One of each kind, with the git dir that has its objects."""
    upstream = ground.world.upstream
    git(tmp_path, "clone", "-q", "--bare", str(upstream), "bare.git")
    git(tmp_path, "clone", "-q", "--shared", str(upstream), "shared")
    git(tmp_path / "shared", "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    places = {"bare.git": "bare.git", "shared": "shared/.git", "linked": "shared/.git"}
    return {tmp_path / name: tmp_path / place for name, place in places.items()}


def test_clones_of_every_kind(ground: Ground, clones: dict[Path, Path]) -> None:
    for folder, git_dir in clones.items():
        clone = Clone.open(folder)
        assert clone.commit("l8") == ground.commits["l8"]
        assert clone.history.objects.git_dir == git_dir


@pytest.mark.parametrize(
    ("revision", "name"), [("l8~1", "l7"), ("l8^{/l6}", "l6"), (":/m4", "m4"), ("b1^{}", "b1")]
)
def test_a_revision_is_whatever_git_takes_for_one(ground: Ground, revision: str, name: str) -> None:
    assert Clone.open(ground.world.upstream).commit(revision) == ground.commits[name]


def test_a_path_that_git_cannot_borrow_from(tmp_path: Path) -> None:
    folder = tmp_path / "a\nb"
    folder.mkdir()
    git(folder, "init", "-q")
    with pytest.raises(NotAHistory, match="there is a line break in its path"):
        Clone.open(folder)


@pytest.mark.thorough
def test_clones_of_every_kind_are_searched(ground: Ground, clones: dict[Path, Path]) -> None:
    for folder in clones:
        done = ground.run(4, "--bad", "l8", "--repository", str(folder))
        assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_an_address_that_several_ask_at_once(ground: Ground, address: World, env: Mapping[str, str]) -> None:
    """Nothing was fetched before: one of them does it, and the others wait."""
    command = [sys.executable, "-m", "skippy_patches", "bisect", "4", "--bad", "l8", "--format", "json"]
    tree = {"PYTHONPATH": os.environ.get("PYTHONPATH", os.getcwd())}  # noqa: PTH109 - a variable's value
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    command, cwd=address.root, env={**os.environ, **env, **tree}, stdout=subprocess.PIPE
                )
            )
            for _ in range(3)
        ]
        answers = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    (answer,) = answers
    assert json.loads(answer)["first_bad"]["commit"] == ground.commits["l5"]
    assert not list(address.project().state.glob("trial-*"))
