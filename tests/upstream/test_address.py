"""Addresses as they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.upstream.address import public
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://github.com/ggml-org/llama.cpp.git", "https://github.com/ggml-org/llama.cpp.git"),
        ("https://x-access-token:hunter2@host.example:8443/a.git", "https://host.example:8443/a.git"),
        ("https://hunter2@host.example/a.git", "https://host.example/a.git"),
        ("https://me:hunter@2@host.example", "https://host.example"),
        ("https://host.example/npm/@scope/a", "https://host.example/npm/@scope/a"),
        ("ssh://git:hunter2@host.example/a.git", "ssh://git@host.example/a.git"),
        ("ssh://git@host.example/a.git", "ssh://git@host.example/a.git"),
        ("git@host.example:a.git", "git@host.example:a.git"),
        ("/a/folder", "/a/folder"),
        ("node-llama-cpp@3.20.0", "node-llama-cpp@3.20.0"),
    ],
)
def test_no_secret_is_shown(address: str, shown: str) -> None:
    assert public(address) == shown


@pytest.mark.parametrize("words", [("apply",), ("bisect", "1", "--bad", "v1")])
def test_a_token_in_the_address_is_not_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As a CI job sets it; nothing answers at that port."""
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    git(upstream, "init", "-q")
    git(upstream, "commit", "-q", "--allow-empty", "-m", "The pin")
    world = World.create(tmp_path / "project", upstream)
    world.add(1, "one", {"one.c": "int one;\n"})
    env = {
        "SKIPPY_PATCHES_REPOSITORY": "http://me:hunter2@127.0.0.1:9/x.git",
        "SKIPPY_PATCHES_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = world.run(*words, env=env)
    assert done.returncode == 2
    assert "http://127.0.0.1:9/x.git" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
