"""What a shared cache saves: `python benchmarks/bench_cache.py`. Minutes of CPU, and a Redis of its own.

libllama of this project's queue is built twice by ccache, in folders of different length, each with an empty
local cache: first through an empty Redis, then through what that left. Exit status 1 when fewer than HITS of
the files came out of it, or when compiling took more than LIMIT of the CPU time. The configure step, which
nothing caches, is shown apart.
"""

from __future__ import annotations

import dataclasses
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches import config
from skippy_patches.apply import stage
from skippy_patches.build import cmake, launcher, recipe, toolchain
from skippy_patches.build.layout import Layout
from skippy_patches.progress import Silent
from skippy_patches.queue import reader
from skippy_patches.upstream import pin
from skippy_patches.upstream.cache import Cache

if TYPE_CHECKING:
    from skippy_patches.build.engine import Counts, Launcher

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.services import redis  # noqa: E402 - the tests' own server, from the folder above

HITS = 0.98
LIMIT = 0.02
RECIPE = """\
extends: cpu
description: libllama alone.
targets: [llama]
artifacts: [libllama, libggml, libggml-base, libggml-cpu]
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """A build. configure, compile: CPU seconds of all processes but the Redis."""

    name: str
    configure: float
    compile: float
    counts: Counts


class Phases(Silent):
    """A reporter that looks at the clock where compiling begins."""

    def __init__(self) -> None:
        self.configured = 0.0

    def step(self, text: str) -> None:
        """Say it on stderr, as the command line does."""
        print(text, file=sys.stderr)
        if text.startswith("Compiling"):
            self.configured = _children()


def main() -> int:
    """Build twice, print the table and judge."""
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as name:
        folder = Path(name)
        with redis(folder) as server:
            os.environ["SKIPPY_PATCHES_CACHE_REMOTE"] = f"redis://127.0.0.1:{server.port}"
            cold = _build("cold", folder / "cold")
            warm = _build("warm", folder / "another folder" / "and one more" / "warm")
            memory = server.cli("info", "memory").partition("used_memory_human:")[2].split()[0]
    return _report(cold, warm, memory)


def _build(name: str, folder: Path) -> Measured:
    os.environ["CCACHE_DIR"] = str(folder / "ccache")
    project = _project(folder / "project")
    applied = stage.apply(
        project,
        lambda: (pin.read(project.upstream), reader.load(project)),
        stage.Request(),
        cache=Cache.default(),
        reporter=Silent(),
    ).applied
    chosen, front, phases = recipe.load(project.recipes, "libllama"), _front(project), Phases()
    tools, layout = toolchain.find(front), Layout.of(project.state, "libllama")
    before = _children()
    built = cmake.build(applied, chosen, tools, layout, launcher=front, reporter=phases)
    if built.cached is None or built.remote != "redis":
        sys.exit("bench_cache: the Redis was not used")
    return Measured(
        name=name,
        configure=phases.configured - before,
        compile=_children() - phases.configured,
        counts=built.cached,
    )


def _project(folder: Path) -> config.Project:
    """The queue and the recipes of this project, elsewhere."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / config.FILE_NAME, folder)
    for part in ("patches", "recipes"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "recipes/libllama.yaml").write_text(RECIPE, encoding="utf-8")
    return config.load(folder / config.FILE_NAME)


def _front(project: config.Project) -> Launcher:
    found = launcher.find("ccache", project.cache)
    assert found is not None  # asked for by name
    return found


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _report(cold: Measured, warm: Measured, memory: str) -> int:
    print(f"{'build':6} {'files':>6} {'hits':>6} {'shared':>7} {'configure s':>12} {'compile s':>10}")
    for each in (cold, warm):
        files = each.counts.hits + each.counts.misses
        print(
            f"{each.name:6} {files:6} {each.counts.hits:6} {each.counts.shared:7} "
            f"{each.configure:12.2f} {each.compile:10.2f}"
        )
    part = warm.compile / cold.compile
    print(f"hits {warm.counts.rate:.1%}, more than {HITS:.0%}")
    print(f"CPU of compiling {part:.2%} of cold, at most {LIMIT:.0%}")
    print(f"cold/warm {cold.compile / warm.compile:.1f}; the Redis holds {memory}")
    return 0 if warm.counts.rate > HITS and part <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
