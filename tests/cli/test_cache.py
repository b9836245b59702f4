"""`cache:` in the whole road, on the small project of test_road: real engines, real servers."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_road import make_road
from tests.services import Redis, free_port, http_store, redis, scheduler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.world import World

SECRET = "p|ss w%rd/ü@:"
TOKEN = "sesame-for-compiles"
ENGINES = ["ccache", "sccache"]


def configured(world: World, cache: str) -> World:
    """The project with this cache, and nothing built."""
    shutil.rmtree(world.root / ".skippy/build", ignore_errors=True)
    world.configure(f"cache: {cache}\n")
    return world


def build(world: World, local: Path, *options: str, **variables: str) -> str:
    """Build with the caches of this folder; what was said."""
    # Not SCCACHE_DIR: who sets up a remote has not set that either.
    env = {"CCACHE_DIR": str(local / "ccache"), "XDG_CACHE_HOME": str(local), **variables}
    done = world.run("build", *options, env=env)
    assert done.returncode == 0, done.stderr
    return done.stderr


def kept(world: World, name: str) -> dict[str, Any]:
    content = json.loads((world.root / ".skippy/build/cpu" / name).read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def assert_untold(world: World, said: str, *words: str) -> None:
    """Nothing that was kept, and nothing that was said, holds any of the words."""
    files = [file for file in (world.root / ".skippy").rglob("*") if file.is_file()]
    for word in words:
        assert word not in said
        assert [file for file in files if word.encode() in file.read_bytes()] == []


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, World]:
    """The same project in two folders of different length."""
    folder = tmp_path_factory.mktemp("twins")
    return make_road(folder / "one"), make_road(folder / "another/of/other length")


def test_over_http_with_ccache(twins: tuple[World, World], tmp_path: Path) -> None:
    first, second = twins
    with http_store() as store:
        cache = f"{{remote: 'http://127.0.0.1:{store.port}/objects'}}"
        build(configured(first, cache), tmp_path / "first", "--launcher", "ccache")
        said = build(configured(second, cache), tmp_path / "second", "--launcher", "ccache")

    assert "ccache: 2 of 2 files from the cache (100.0%), 2 of these from the shared one" in said
    assert re.search(r"Compiling, \d+ at once \(.+\), ccache with http;", said)
    assert kept(second, "built.json")["cached"] == {
        "hits": 2, "misses": 0, "shared": 2, "failures": 0, "distributed": 0, "returned": 0,
    }  # fmt: skip
    assert kept(second, "record.json")["toolchain"]["launcher"]["remote"] == "http"
    assert kept(first, "record.json")["artifacts"] == kept(second, "record.json")["artifacts"]
    assert_untold(second, "", f"127.0.0.1:{store.port}")


def test_an_edited_queue_compiles_only_what_it_changed(tmp_path: Path) -> None:
    world = make_road(tmp_path)
    first = build(world, tmp_path, "--launcher", "none")
    patch = world.root / "patches/0001-answer.patch"
    patch.write_bytes(patch.read_bytes().replace(b"return 2;", b"return 4;"))
    edited = build(world, tmp_path, "--launcher", "none")

    assert "files compiled: 2" in first
    assert "files compiled: 1" in edited


def test_a_remote_that_is_down_is_told_once_and_changes_nothing(
    twins: tuple[World, World], tmp_path: Path
) -> None:
    world, port = twins[0], free_port()
    configured(world, f"{{remote: 'redis://127.0.0.1:{port}'}}")
    build(world, tmp_path, "--launcher", "ccache")
    said = build(world, tmp_path, "--launcher", "ccache")

    line = f"The shared cache at 127.0.0.1:{port} is not used: there is no answer (Connection refused)"
    assert said.count(line) == 1
    assert "files compiled: 0" in said
    assert kept(world, "record.json")["toolchain"]["launcher"]["remote"] == ""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    """A Redis that wants a password."""
    with redis(tmp_path, secret=SECRET) as started:
        yield started


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
def test_a_team_shares_through_redis(
    twins: tuple[World, World], tmp_path: Path, server: Redis, engine: str
) -> None:
    cache = f"{{launcher: {engine}, remote: 'redis://127.0.0.1:{server.port}/1', secret_variable: TEAM}}"
    first = configured(twins[0], cache)
    cold = build(first, tmp_path / "first", TEAM=SECRET)
    # sccache looks for objects of the same folder; ccache finds those of any.
    second = configured(first if engine == "sccache" else twins[1], cache)
    warm = build(second, tmp_path / "second", TEAM=SECRET)

    assert f"{engine}: 0 of 2 files from the cache" in cold
    assert f"{engine}: 2 of 2 files from the cache (100.0%), 2 of these from the shared one" in warm
    assert server.cli("-n", "1", "dbsize") != "0"
    assert kept(second, "record.json")["toolchain"]["launcher"]["remote"] == "redis"
    assert_untold(first, cold, SECRET, "p%7Css")
    assert_untold(second, warm, SECRET, "p%7Css")


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
def test_read_only_gives_nothing(
    twins: tuple[World, World], tmp_path: Path, server: Redis, engine: str
) -> None:
    cache = f"{{launcher: {engine}, remote: 'redis://127.0.0.1:{server.port}', secret_variable: TEAM}}"
    configured(twins[0], cache)
    build(twins[0], tmp_path, TEAM=SECRET, SKIPPY_PATCHES_CACHE_READ_ONLY="true")

    assert server.keys == 0


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_secret_is_told_and_no_obstacle(
    twins: tuple[World, World], tmp_path: Path, server: Redis, engine: str
) -> None:
    cache = f"{{launcher: {engine}, remote: 'redis://127.0.0.1:{server.port}', secret_variable: TEAM}}"
    said = build(configured(twins[0], cache), tmp_path, TEAM="another")

    assert said.count("is not used: it wants a secret, or refuses this one") == 1
    assert_untold(twins[0], said, "another")


@pytest.mark.thorough
def test_sccache_over_http(twins: tuple[World, World], tmp_path: Path) -> None:
    world = twins[0]
    with http_store(secret="token") as store:
        cache = f"{{launcher: sccache, remote: 'http://127.0.0.1:{store.port}/x', secret_variable: TEAM}}"
        build(configured(world, cache), tmp_path / "first", TEAM="token")
        said = build(configured(world, cache), tmp_path / "second", TEAM="token")

    assert "sccache: 2 of 2 files from the cache (100.0%), 2 of these from the shared one" in said


@pytest.mark.thorough
def test_a_scheduler_that_cannot_help_is_told_and_no_obstacle(
    twins: tuple[World, World], tmp_path: Path
) -> None:
    with scheduler(tmp_path, token=TOKEN) as port:
        cache = f"{{distribute: {{scheduler: 'http://127.0.0.1:{port}', secret_variable: TEAM}}}}"
        alone = build(configured(twins[0], cache), tmp_path / "first", "--launcher", "sccache", TEAM=TOKEN)
        refused = build(configured(twins[0], cache), tmp_path / "second", "--launcher", "sccache", TEAM="x")

    assert "Compiles are not distributed: the scheduler knows no server" in alone
    why = "it wants a secret, or refuses this one"
    assert f"Compiles are not distributed by 127.0.0.1:{port}: {why}" in refused
    assert_untold(twins[0], alone + refused, TOKEN)
