"""sccache in one build: a server of its own, so that its settings and its counts are this build's alone.

sccache works in a server, which keeps the environment it was started with. One that was there before would
neither know the project's remote nor forget its secret. Socket, settings and token of the scheduler are in a
folder that only this user can enter, and gone with the build. The person's own settings file is not read:
`basedirs` in it would hand out objects that hold another tree's paths.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from skippy_patches.build.engine import Counts, Engine
from skippy_patches.build.errors import LauncherBroken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skippy_patches.build.engine import Launcher
    from skippy_patches.build.sharing import Scheduler
    from skippy_patches.progress import Reporter

_TIMEOUT = 30  # seconds for a command that only asks
_IDLE = 3600  # seconds after which a server that nobody stopped ends; nvcc can take a while
_LONGEST = 80  # bytes of a folder's path that leave room for a socket's name (unix(7): 108 in all)
_DIR = "SCCACHE_DIR"
_SECRET = ("_PASSWORD", "_TOKEN")  # how the variables end that remote.py gives a secret
_REMOTE_ERRORS = ("cache_read_errors", "cache_write_errors", "cache_timeouts")


@contextlib.contextmanager
def running(
    launcher: Launcher, environment: Mapping[str, str], reporter: Reporter, front: tuple[str, ...] = ()
) -> Iterator[Engine]:
    """A server for as long as the context lasts. Raises LauncherBroken (6) when none starts."""
    place = None if len(os.fsencode(tempfile.gettempdir())) < _LONGEST else "/tmp"  # noqa: S108 - mkdtemp in it
    with tempfile.TemporaryDirectory(prefix="skippy-sccache-", dir=place) as folder:
        server = _Server(launcher, environment, Path(folder), front)
        try:
            yield server.start(reporter)
        finally:
            server.stop()


class _Server:
    def __init__(
        self, launcher: Launcher, environment: Mapping[str, str], folder: Path, front: tuple[str, ...]
    ) -> None:
        self._launcher = launcher
        self._front = front
        self._own = {
            **environment,
            "SCCACHE_SERVER_UDS": str(folder / "socket"),
            "SCCACHE_CONF": str(folder / "config"),
            "SCCACHE_CACHED_CONF": str(folder / "cached-config"),
            "SCCACHE_IDLE_TIMEOUT": str(_IDLE),
        }
        self._environment = {**self._own, **_shared_settings(launcher, environment)}
        self._complaint = ""  # what sccache said when it failed
        _write_privately(folder / "config", configuration(launcher.scheduler))

    def start(self, reporter: Reporter) -> Engine:
        remote = self._launcher.remote
        output = self._call("--start-server")
        if output is None and self._launcher.environment:
            reporter.step(f"The shared cache is not used: sccache does not start with it{self._said()}")
            self._environment, remote = self._own, ""
            output = self._call("--start-server")
        if output is None:
            raise LauncherBroken(self._launcher.tool.name, self._launcher.tool.path, self._said())
        return Engine(
            environment=self._environment, remote=remote, cpus=self._cpus(reporter), count=self._count
        )

    def stop(self) -> None:
        self._call("--stop-server")

    def _said(self) -> str:
        """The last line of what it said, in brackets; nothing when that could hold a secret."""
        lines = self._complaint.split("\n")
        last = lines[-1].removeprefix("sccache: ").removeprefix("error: ")
        known = [value for name, value in self._environment.items() if name.endswith(_SECRET)]
        return f" ({last})" if last and not any(value in last for value in known) else ""

    def _cpus(self, reporter: Reporter) -> int:
        """Of all servers that the scheduler knows (sccache --dist-status)."""
        if self._launcher.scheduler is None:
            return 0
        cpus = cpus_of(_json(self._call("--dist-status")))
        if not cpus:
            reporter.step("Compiles are not distributed: the scheduler knows no server")
        return cpus

    def _count(self) -> Counts | None:
        return counts_of(_json(self._call("--show-stats", "--stats-format", "json")))

    def _call(self, *arguments: str) -> str | None:
        """The output; None when it fails. Into files: a server would keep the end of a pipe."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    [*self._front, self._launcher.tool.path, *arguments],
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    timeout=_TIMEOUT,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            self._complaint = _read(errors).strip()
            return _read(output) if done.returncode == 0 else None


def _shared_settings(launcher: Launcher, environment: Mapping[str, str]) -> dict[str, str]:
    """With a chain of levels sccache wants to be told of the disk what else it knows by itself."""
    if not launcher.environment:
        return {}
    return {_DIR: environment.get(_DIR) or str(_usual_folder(environment)), **dict(launcher.environment)}


def _usual_folder(environment: Mapping[str, str]) -> Path:
    """Where sccache keeps objects when nobody says where (docs/Local.md of sccache)."""
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library/Caches/Mozilla.sccache"
    caches = Path(environment.get("XDG_CACHE_HOME", ""))  # one that is not absolute is none, says XDG
    return (caches if caches.is_absolute() else home / ".cache") / "sccache"


def configuration(scheduler: Scheduler | None) -> str:
    """The settings file, TOML: sccache knows the token of a scheduler from there only."""
    if scheduler is None:
        return ""
    lines = ["[dist]", f"scheduler_url = {_toml(scheduler.url)}", "toolchains = []"]
    if scheduler.token:
        lines += ["[dist.auth]", 'type = "token"', f"token = {_toml(scheduler.token)}"]
    return "\n".join(lines) + "\n"


def cpus_of(status: Any) -> int:
    """The processors in the answer of --dist-status; 0 when there is no scheduler, or it knows no server."""
    with contextlib.suppress(KeyError, TypeError, IndexError, ValueError):
        return int(status["SchedulerStatus"][1]["num_cpus"])
    return 0


def counts_of(answer: Any) -> Counts | None:
    """The counts in the answer of --show-stats."""
    try:
        stats = answer["stats"]
        hits, misses = (sum(stats[name]["counts"].values()) for name in ("cache_hits", "cache_misses"))
        if not hits + misses:
            return None
        return Counts(
            hits=hits,
            misses=misses,
            shared=_shared(stats),
            failures=sum(stats.get(name, 0) for name in _REMOTE_ERRORS),
            distributed=sum(stats["dist_compiles"].values()),
            returned=stats["dist_errors"],
        )
    except (KeyError, TypeError, AttributeError):
        return None


def _shared(stats: dict[str, Any]) -> int:
    """Hits of every level behind the first, which is the disk."""
    return sum(level["hits"] for level in (stats["multi_level"] or [])[1:])


def _toml(text: str) -> str:
    """A basic string: JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except ValueError:
        return None


def _write_privately(file: Path, text: str) -> None:
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(text, encoding="utf-8")
