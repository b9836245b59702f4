"""Chooses what runs in front of the compilers, and what of the team's it uses: a shared store, a scheduler.

Existing engines only: ccache, or sccache, which can also distribute compiles (nvcc's too). What a team has
configured and this machine cannot use is said once; the build goes on without it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import ccache, engine, pip, sccache, sharing
from skippy_patches.build.engine import Launcher
from skippy_patches.build.errors import BadLauncher, ToolBroken
from skippy_patches.build.tool import Tool, beside_python, examine, is_old, require
from skippy_patches.compilercache import AUTO, CCACHE, LAUNCHERS, NONE, NOT_CONFIGURED, SCCACHE, SPEAKERS
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skippy_patches.build.engine import Engine
    from skippy_patches.build.sharing import Unused
    from skippy_patches.compilercache import CompilerCache
    from skippy_patches.progress import Reporter

# The person's variables that would take an engine to another remote than the project's: how they begin.
_OVERRIDDEN = {
    CCACHE: ("CCACHE_REMOTE_STORAGE", "CCACHE_SECONDARY_STORAGE"),
    SCCACHE: ("SCCACHE_REDIS", "SCCACHE_WEBDAV", "SCCACHE_MULTILEVEL"),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """launcher: None: none. unused: what the project shares and this machine cannot use."""

    launcher: Launcher | None = None
    unused: tuple[Unused, ...] = ()


def check_name(wanted: str) -> None:
    """Raise BadLauncher (2) for what is none of LAUNCHERS."""
    if wanted not in LAUNCHERS:
        raise BadLauncher(wanted, LAUNCHERS)


def choose(
    wanted: str = AUTO,
    cache: CompilerCache = NOT_CONFIGURED,
    variables: Mapping[str, str] | None = None,
) -> Choice:
    """Choose, and see what answers: a second at most for each server.

    wanted: one of LAUNCHERS; auto is what `cache` says, and if that is auto too, ccache where there is one,
    or sccache where only that knows the remote or distributes. Raises BadLauncher (2) for one that is asked
    for and not there, ToolTooOld and ToolBroken (6).
    """
    check_name(wanted)
    own = os.environ if variables is None else variables
    name = cache.launcher if wanted == AUTO else wanted
    if name == NONE:
        return Choice()
    tool = _best(_candidates(cache), own) if name == AUTO else program(name, own)
    if tool is None:
        is_shared = cache.remote or cache.scheduler
        return Choice(unused=(sharing.without(_candidates(cache)[0]),) if is_shared else ())
    shared = sharing.look(tool, cache, own)
    return Choice(
        launcher=Launcher(
            tool=tool, remote=shared.remote, environment=shared.environment, scheduler=shared.scheduler
        ),
        unused=shared.unused,
    )


def find(
    wanted: str = AUTO,
    cache: CompilerCache = NOT_CONFIGURED,
    variables: Mapping[str, str] | None = None,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> Launcher | None:
    """What `choose` chooses; what cannot be used is told."""
    choice = choose(wanted, cache, variables)
    for each in choice.unused:
        reporter.step(each.what)
    return choice.launcher


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


def places(name: str, own: Mapping[str, str]) -> tuple[Path, ...]:
    """The programs of that name: the one beside this Python, as for cmake and ninja, then the one on PATH."""
    found = beside_python(name), shutil.which(name, path=own.get("PATH", os.defpath))
    return tuple(Path(file).absolute() for file in found if file)


def program(name: str, own: Mapping[str, str]) -> Tool:
    """The launcher called `name`. Raises BadLauncher (2), ToolTooOld and ToolBroken (6)."""
    found = places(name, own)
    if not found:
        why = "It is neither beside this Python nor on PATH."
        raise BadLauncher(name, LAUNCHERS, why=why, mend=pip.install(sharing.PACKAGES[name]))
    best = _best((name,), own)
    if best is not None:
        return best
    tool = examine(found[0].name, found[0])
    require(tool, f"Update it (PyPI: {sharing.PACKAGES[name]}), or use: --launcher none")
    return tool


def _candidates(cache: CompilerCache) -> tuple[str, ...]:
    """For auto: what can do all that is configured, then what still helps."""
    if cache.scheduler is not None:
        return (SCCACHE, CCACHE)
    if cache.remote is not None:
        return tuple(dict.fromkeys((*SPEAKERS[cache.remote.scheme], CCACHE)))
    return (CCACHE,)


def _best(names: tuple[str, ...], own: Mapping[str, str]) -> Tool | None:
    """The first that runs and is not too old."""
    for place in (place for name in names for place in places(name, own)):
        with contextlib.suppress(ToolBroken):
            tool = examine(place.name, place)
            if not is_old(tool):
                return tool
    return None
