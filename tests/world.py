"""A small world to apply queues in: an upstream, an author who exports patches, a project."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from skippy_patches import config
from skippy_patches.apply import stage
from skippy_patches.apply.stage import Outcome, Request
from skippy_patches.objectid import ObjectId
from skippy_patches.queue import reader
from skippy_patches.upstream import pin
from skippy_patches.upstream.cache import Cache
from tests import inprocess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.inprocess import Done

DATE = "2026-01-02T03:04:05+0600"
_AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada Author",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": DATE,
    "GIT_COMMITTER_NAME": "Upstream",
    "GIT_COMMITTER_EMAIL": "upstream@example.org",
    "GIT_COMMITTER_DATE": DATE,
}


def git(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run git for a test: fixed identity and dates, and no configuration but the repository's own."""
    base = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    settings = ("init.defaultBranch=main", "protocol.file.allow=always", "maintenance.auto=false")
    command = ["git", *(word for setting in settings for word in ("-c", setting)), *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**base, **_AUTHOR, **(env or {})}, capture_output=True, check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def block(number: int) -> str:
    """Seven lines that look like every other block but for their number."""
    return f"void step_{number}() {{\n    begin();\n    work();\n    work();\n    end();\n}}\n\n"


def make_upstream(folder: Path) -> Path:
    """Two commits: the second one is the pin."""
    git(folder, "init", "-q")
    files = {
        "src/llama.cpp": "".join(block(number) for number in range(1, 31)),
        "src/windows.txt": "one\r\ntwo\r\nthree\r\nfour\nfive\r\n",
        "src/trailing.txt": "blanks at the end   \n\n\nlast\n",
        "docs/readme.md": "# Upstream\n\nText.\n",
        ".gitignore": "*.log\nbuild/\n",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content.encode())
    (folder / "logo.bin").write_bytes(bytes(range(256)) * 8)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "The first commit")
    (folder / "docs/readme.md").write_text("# Upstream\n\nMore text.\n", encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "The pin\n\nWith a body.")
    return folder


@functools.cache
def _clone(upstream: Path, pin: str) -> Path:
    """A clone to copy: copying starts no git."""
    clone = upstream.with_name(f"{upstream.name}-clone-{pin}")
    git(upstream.parent, "clone", "-q", "--template=", str(upstream), str(clone))
    git(clone, "repack", "-adq")
    return clone


@functools.cache
def _commit_object(upstream: Path, pin: str) -> bytes:
    command = ["git", "-C", str(upstream), "cat-file", "commit", pin]
    return subprocess.run(command, capture_output=True, check=True).stdout


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """root: the project. upstream: the repository of the pin. desk: where the author commits."""

    root: Path
    upstream: Path
    desk: Path

    @classmethod
    def create(cls, root: Path, upstream: Path) -> World:
        """A project whose queue is empty."""
        root.mkdir(parents=True)
        world = cls(root=root, upstream=upstream, desk=root.with_name(root.name + "-desk"))
        shutil.copytree(_clone(upstream, world.pin), world.desk, symlinks=True)
        world.patches.mkdir()
        world.configure()
        return world

    @property
    def patches(self) -> Path:
        return self.root / "patches"

    @property
    def checkout(self) -> Path:
        return self.root / ".skippy" / "llama.cpp"

    @property
    def pin(self) -> ObjectId:
        return ObjectId(git(self.upstream, "rev-parse", "HEAD"))

    def configure(self, more: str = "", *, upstream: str | None = None, checkout: str = "") -> None:
        """Write skippy-patches.yaml. upstream: the lines below `upstream:`, indented by two."""
        pin = self.pin
        (self.root / "upstream.commit").write_bytes(_commit_object(self.upstream, pin))
        place = upstream if upstream is not None else f"  repository: {self.upstream}\n"
        text = f"upstream:\n  tag: b1\n  commit: {pin}\n  commit_object: upstream.commit\n{place}{more}"
        if checkout:
            text += f"\ncheckout: {checkout}\n"
        (self.root / "skippy-patches.yaml").write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str | bytes | None], message: str, *options: str) -> str:
        """Commit at the desk. A None removes its file."""
        for name, content in files.items():
            path = self.desk / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                git(self.desk, "rm", "-q", "--", name)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        git(self.desk, "add", "-A")
        git(self.desk, "commit", "-q", "--allow-empty", "-m", message, *options)
        return git(self.desk, "rev-parse", "HEAD")

    def export(self, number: int, name: str, *options: str) -> Path:
        """Write the desk's last commit into the queue."""
        target = self.patches / f"{number:04d}-{name}.patch"
        command = [
            "git",
            "format-patch",
            "-1",
            "--stdout",
            "--zero-commit",
            "--full-index",
            "--binary",
            *options,
        ]
        done = subprocess.run(command, cwd=self.desk, capture_output=True, check=True)
        target.write_bytes(done.stdout)
        return target

    def add(self, number: int, name: str, files: Mapping[str, str | bytes | None], *options: str) -> Path:
        """Commit and export in one."""
        self.commit(files, f"{name}: change {number}\n\nBecause of {number}.")
        return self.export(number, name, *options)

    def source(self, name: str) -> str:
        """A file at the desk, as it is now."""
        return (self.desk / name).read_bytes().decode()

    def project(self) -> config.Project:
        return config.load(config.find(self.root))

    def apply(self, request: Request = Request(), reporter: Recorder | None = None) -> Outcome:  # noqa: B008
        """Apply in process."""
        project = self.project()
        return stage.apply(
            project,
            lambda: (pin.read(project.upstream), reader.load(project)),
            request,
            cache=Cache.default(),
            reporter=reporter or Recorder(),
        )

    def inside(self, *arguments: str) -> str:
        """Run git in the checkout, as its user would."""
        return git(self.checkout, *arguments)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Done:
        """Run the command line from the project's folder, in this process: what it says and how it ends."""
        return inprocess.run(self.root, *arguments, env=env)

    def glance(self, *arguments: str) -> str | None:
        """What the program answers before it starts the command line; None: it starts it."""
        return inprocess.glance(self.root, *arguments)

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The same as a process of its own, for what only one has: its start, encodings, descriptors."""
        return subprocess.run(
            [sys.executable, "-m", "skippy_patches", *arguments],
            cwd=self.root,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )


class Recorder:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.details: list[str] = []
        self.progress: list[tuple[str, int, int | None]] = []

    def step(self, text: str) -> None:
        self.steps.append(text)

    def detail(self, text: str) -> None:
        self.details.append(text)

    def advance(self, label: str, done: int, total: int | None) -> None:
        self.progress.append((label, done, total))
