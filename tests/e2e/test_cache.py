"""libllama of the real llama.cpp through a shared cache: built once, found everywhere. `pytest -m e2e`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.services import redis

if TYPE_CHECKING:
    from tests.services import Redis

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "skippy-patches"
# As the person has it, taken before any fixture: with the cache of pins.
ENVIRONMENT = {
    name: text
    for name, text in os.environ.items()
    if not name.startswith(("GIT_", "SKIPPY_", "CCACHE_", "SCCACHE_"))
}
RECIPE = """\
extends: cpu
description: libllama alone.
targets: [llama]
artifacts: [libllama, libggml, libggml-base, libggml-cpu]
"""


class Person:
    """Somebody with a folder and an empty compiler cache."""

    def __init__(self, folder: Path, server: Redis) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "skippy-patches.yaml", folder)
        for name in ("patches", "recipes"):
            shutil.copytree(ROOT / name, folder / name)
        (folder / "recipes/libllama.yaml").write_text(RECIPE, encoding="utf-8")
        self.environment = {
            **ENVIRONMENT,
            "CCACHE_DIR": str(folder / "cache"),
            "SKIPPY_PATCHES_CACHE_REMOTE": f"redis://127.0.0.1:{server.port}",
            "SKIPPY_PATCHES_CACHE_SECRET_VARIABLE": "TEAM_CACHE_SECRET",
            "TEAM_CACHE_SECRET": server.secret,
        }

    def build(self) -> str:
        command = [str(PROGRAM), "build", "--recipe", "libllama", "--launcher", "ccache"]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-8000:]
        return done.stderr

    def kept(self, name: str) -> dict[str, Any]:
        content = json.loads((self.folder / ".skippy/build/libllama" / name).read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        return content


def test_what_one_compiled_another_finds(tmp_path: Path) -> None:
    with redis(tmp_path, secret="between us") as server:
        first = Person(tmp_path / "first", server)
        first.build()
        second = Person(tmp_path / "the second person" / "in a longer folder", server)
        said = second.build()

    cached = second.kept("built.json")["cached"]
    assert first.kept("built.json")["cached"]["hits"] == 0
    assert cached["hits"] > 0.98 * (cached["hits"] + cached["misses"])
    assert cached["shared"] == cached["hits"] > 150
    assert "of these from the shared one" in said
    assert first.kept("record.json")["artifacts"] == second.kept("record.json")["artifacts"]
    assert "between us" not in said + json.dumps([second.kept("record.json"), second.kept("built.json")])
