"""What every test stands on: no person's configuration, fixed dates, and a small upstream."""

from __future__ import annotations

import itertools
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.world import World, make_upstream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_REMOVED = ("GIT_", "SKIPPY_PATCHES_", "XDG_", "LC_", "LANG", "NO_COLOR", "FORCE_COLOR", "CFLAGS", "CXXFLAGS")


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of pins for every test that is not about the cache."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names for empty folders, one after the other: mktemp would look through all of them for the next."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _no_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Nothing of the machine's user counts, and nothing may be written there."""
    for name in list(os.environ):
        if name.startswith(_REMOVED):
            monkeypatch.delenv(name)
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(shared_cache))


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small upstream repository with two commits; the second one is the pin."""
    return make_upstream(tmp_path_factory.mktemp("upstream"))


@pytest.fixture
def world(tmp_path: Path, upstream: Path) -> World:
    """A project with an empty queue on the small upstream."""
    return World.create(tmp_path / "project", upstream)


def pytest_configure() -> None:
    """git must be there: every test of worth runs it."""
    subprocess.run(["git", "--version"], check=True, capture_output=True)
