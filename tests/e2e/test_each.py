"""`test --each` on the real queue and llama.cpp. Minutes: `pytest -m e2e`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "skippy-patches"
# As the person has it, taken before any fixture: with the caches of pins and of compiled files.
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith(("GIT_", "SKIPPY_"))}
PATCHED = "src/llama-kv-page.cpp"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project's queue and recipes, and nothing built."""
    folder = tmp_path_factory.mktemp("each")
    shutil.copy(ROOT / "skippy-patches.yaml", folder)
    for name in ("patches", "recipes"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def each(folder: Path, *, status: int) -> dict[str, Any]:
    command = [str(PROGRAM), "test", "--each", "--recipe", "rpc", "-R", "^test-skippy-", "--format", "json"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr[-8000:]
    content = json.loads(done.stdout)
    assert isinstance(content, dict)
    return content


def test_every_prefix_builds_and_passes_the_tests_that_it_has(copy: Path) -> None:
    content = each(copy, status=0)

    files = [prefix["file"] for prefix in content["prefixes"]]
    assert files == sorted(file.name for file in (copy / "patches").glob("*.patch"))
    assert content["first_broken"] is None
    for prefix in content["prefixes"]:
        assert prefix["outcome"] == "tested"  # the first patch brings a test
        counts = prefix["required"]
        assert counts["run"] == counts["passed"] > 0
        assert (counts["failed"], counts["skipped"]) == (0, 0)


def test_the_first_prefix_that_breaks_is_named(copy: Path) -> None:
    """An error in the first patch that brings the file; the build folder is the one from before."""
    patches = sorted((copy / "patches").glob("*.patch"))
    patch = next(each for each in patches if f"+++ b/{PATCHED}".encode() in each.read_bytes())
    before = patch.read_bytes()
    start = before.index(f"+++ b/{PATCHED}".encode())
    comment = re.search(rb"^\+//[^\n]*\n", before[start:], re.MULTILINE)
    assert comment is not None
    at = start + comment.start()
    patch.write_bytes(before[:at] + b"+#error broken on purpose\n" + before[at + len(comment[0]) :])
    try:
        content = each(copy, status=6)
    finally:
        patch.write_bytes(before)

    assert content["first_broken"] == patch.name
    assert [prefix["outcome"] for prefix in content["prefixes"]][-1] == "broken"
    assert "broken on purpose" in content["prefixes"][-1]["error"]["why"]
