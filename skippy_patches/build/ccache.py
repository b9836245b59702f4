"""ccache in one build: settings with which folders and users share objects, and the log of what it did."""

from __future__ import annotations

import collections
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.engine import Counts, Engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.build.engine import Launcher

LOG = "ccache.log"
_HITS = ("direct_cache_hit", "preprocessed_cache_hit")
_SHARED = "remote_storage_hit"
_FAILURES = ("remote_storage_error", "remote_storage_timeout")


def settings(source: Path, tree: Path) -> dict[str, str]:
    """Settings with which ccache finds the objects that another folder, or user, compiled."""
    shared = {"CCACHE_NOHASHDIR": "1", "CCACHE_COMPILERCHECK": "content"}
    base = Path(os.path.commonpath((source, tree)))
    if base != Path(base.anchor):  # the root would make /usr/include relative as well
        shared["CCACHE_BASEDIR"] = str(base)
    return shared


def start(launcher: Launcher, environment: Mapping[str, str], source: Path, tree: Path) -> Engine:
    """It needs no start but an empty log, beside `tree`."""
    log = tree.parent / LOG
    log.unlink(missing_ok=True)
    return Engine(
        environment={
            **environment,
            **settings(source, tree),
            **dict(launcher.environment),
            "CCACHE_STATSLOG": str(log),
        },
        remote=launcher.remote,
        cpus=0,
        count=lambda: read(log),
    )


def read(log: Path) -> Counts | None:
    """What a log of CCACHE_STATSLOG adds up to: names of counters, a line each, behind # lines of names."""
    try:
        text = log.read_text("utf-8", "replace")
    except OSError:
        return None
    found = collections.Counter(line for line in text.splitlines() if not line.startswith("#"))
    hits, misses = sum(found[name] for name in _HITS), found["cache_miss"]
    if not hits + misses:
        return None
    return Counts(
        hits=hits,
        misses=misses,
        shared=min(hits, found[_SHARED]),
        failures=sum(found[name] for name in _FAILURES),
    )
