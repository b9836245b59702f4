"""The git that ggml's configure step asks."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import ggmlgit
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository in which ggml/ changed in the first commit and src/ in the second."""
    folder = tmp_path / "llama.cpp"
    for name in ("ggml/ggml.c", "src/llama.cpp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("int x;\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Both")
    (folder / "src/llama.cpp").write_text("int y;\n", encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "The other")
    return folder


def _ask(source: Path, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    ggmlgit.write(tmp_path)
    command = [str(ggmlgit.place(tmp_path)), *arguments]
    env = {"PATH": os.environ["PATH"]}
    return subprocess.run(command, cwd=source / "ggml", env=env, capture_output=True, text=True, check=False)


def test_a_patch_elsewhere_leaves_ggml_s_commit_alone(source: Path, tmp_path: Path) -> None:
    first = git(source, "rev-parse", "HEAD^")
    assert first.startswith(_ask(source, tmp_path, "rev-parse", "--short", "HEAD").stdout.strip())
    (source / "ggml/ggml.c").write_text("int z;\n", encoding="utf-8")
    assert _ask(source, tmp_path, "diff-index", "--quiet", "HEAD", "--", ".").returncode == 1
    git(source, "commit", "-q", "-a", "-m", "ggml")
    head = git(source, "rev-parse", "HEAD")
    assert head.startswith(_ask(source, tmp_path, "rev-parse", "--short", "HEAD").stdout.strip())
    assert _ask(source, tmp_path, "diff-index", "--quiet", "HEAD", "--", ".").returncode == 0
