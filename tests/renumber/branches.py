"""Queues that grow on several branches, and evidence for them. Written by hand: no desk, no git."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

from skippy_patches.apply.stage import Request
from tests.world import World, git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MAIL = (
    "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
    "From: Ada Author <ada@example.org>\nDate: Fri, 2 Jan 2026 03:04:05 +0600\n"
    "Subject: [PATCH] {subject}\n\nBecause.\n---\n{diff}-- \n2.39.5\n\n"
)


def without_desk(root: Path, upstream: Path) -> World:
    """A world whose author needs no clone of the upstream to work in, with the pin in its checkout."""
    world = _empty(root, upstream)
    shutil.copytree(_with_pin(upstream).checkout, world.checkout, symlinks=True)
    return world


@functools.cache
def _with_pin(upstream: Path) -> World:
    """The world whose checkout the others copy: a fetch costs as much as four patches."""
    world = _empty(upstream.with_name(f"{upstream.name}-pin"), upstream)
    world.apply(Request(to=0))
    return world


def _empty(root: Path, upstream: Path) -> World:
    world = World(root=root, upstream=upstream, desk=root.with_name("none"))
    world.patches.mkdir(parents=True)
    world.configure()
    return world


@dataclasses.dataclass(frozen=True, kw_only=True)
class Author:
    """Writes patches that each append a line to a file: it needs the line before it."""

    lane: Path
    files: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def elsewhere(self) -> Author:
        """An author who starts from the same files, and does not see what the other does next."""
        return Author(lane=self.lane, files={name: list(lines) for name, lines in self.files.items()})

    def add(self, number: int, slug: str, file: str) -> Path:
        """Write NNNN-slug.patch, which appends a line that names the slug."""
        lines = self.files.setdefault(file, [])
        line = f"{slug} {len(lines)}"
        head = f"diff --git a/{file} b/{file}\n"
        if lines:
            hunk = f"@@ -{len(lines)} +{len(lines)},2 @@\n {lines[-1]}\n+{line}\n"
            diff = f"{head}--- a/{file}\n+++ b/{file}\n{hunk}"
        else:
            diff = f"{head}new file mode 100644\n--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+{line}\n"
        lines.append(line)
        return self.write(number, slug, diff)

    def write(self, number: int, slug: str, diff: str) -> Path:
        """Write NNNN-slug.patch with this diff."""
        target = self.lane / f"{number:04d}-{slug}.patch"
        target.write_bytes(_MAIL.format(subject=slug, diff=diff).encode())
        return target


def record(world: World, name: str, patches: Iterable[Path]) -> Path:
    """Evidence in records/ for a build of these patches."""
    rows = [
        {
            "number": int(patch.name[:4]),
            "file": patch.name,
            "sha256": hashlib.sha256(patch.read_bytes()).hexdigest(),
            "commit": "c" * 40,
            "tree": "d" * 40,
        }
        for patch in patches
    ]
    tip = {"commit": "1" * 40, "tree": "2" * 40}
    content: dict[str, Any] = {
        "schema_version": 1,
        "recipe": "cpu",
        "queue_digest": "e" * 64,
        "platform": {"system": "linux", "machine": "x86_64", "libc": ""},
        "toolchain": {"launcher": None},
        "cmake": {"generator": "Ninja", "arguments": [], "variables": {}},
        "started": "2026-01-01T00:00:00Z",
        "finished": "2026-01-01T00:01:00Z",
        "upstream": {**tip, "tag": "b1"},
        "patched": tip,
        "patches": rows,
        "artifacts": [{"name": "libllama.so", "sha256": "a" * 64, "size": 1}],
        "tests": None,
    }
    file = world.root / "records" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def commit(world: World, message: str) -> None:
    """Commit everything on the branch that is checked out; make the repository where there is none."""
    if not (world.root / ".git").exists():
        git(world.root, "init", "-q")
        (world.root / ".gitignore").write_text(".skippy/\n", encoding="utf-8")
    git(world.root, "add", "-A")
    git(world.root, "commit", "-q", "-m", message)


def switch(world: World, branch: str, *start: str) -> None:
    """Go to a branch; with a start, a new one."""
    git(world.root, "checkout", "-q", *(["-b"] if start else []), branch, *start)


def merge(world: World, *branches: str) -> None:
    """Merge the branches into the one that is checked out, one after the other: always clean here."""
    for branch in branches:
        git(world.root, "merge", "-q", "--no-edit", branch)
