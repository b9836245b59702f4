"""How many compilers at once: as many as cores and memory carry, of the machine or of the container."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

MEMORY_PER_JOB = 2 << 30  # bytes; the largest translation units of llama.cpp
MEMORY_FOR_OTHERS = 2 << 30
MEMORY_PER_SENT_JOB = 256 << 20  # bytes; preprocessing here what is compiled elsewhere
_GB = 1 << 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class Jobs:
    """How many at once, and in words what allows no more."""

    count: int
    limit: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cgroups:
    """What the kernel grants this process: cgroups(7), version 2 and version 1, also both at once.

    membership: /proc/self/cgroup. root: /sys/fs/cgroup. In a container the path that the first one tells may
    be that of the host, where the second one has the container's own group at its top: both are looked at.
    """

    membership: Path = Path("/proc/self/cgroup")
    root: Path = Path("/sys/fs/cgroup")

    def memory(self) -> int | None:
        """Bytes; None without a limit."""
        files = [folder / "memory.max" for folder in self._folders("")]
        files += [folder / "memory.limit_in_bytes" for folder in self._folders("memory")]
        return min((limit for file in files if (limit := _number(file)) is not None), default=None)

    def cpus(self) -> float | None:
        """Processors; None without a limit."""
        granted = [_share(_text(folder / "cpu.max").split()) for folder in self._folders("")]
        for folder in self._folders("cpu"):
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            granted.append(_share([_text(folder / name).strip() for name in names]))
        return min((cpus for cpus in granted if cpus is not None), default=None)

    def _folders(self, controller: str) -> list[Path]:
        """The group of this process and those above it; a limit may be set on any. "": version 2."""
        for line in _text(self.membership).splitlines():
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            if controller in controllers.split(","):
                # Where it is mounted: cpu may be a link to cpu,cpuacct, or not be there.
                tops = (controller, controllers) if controller else ("", "unified")
                return [folder for top in tops for folder in _upwards(self.root / top, path)]
        return []


def available(cgroups: Cgroups = Cgroups()) -> int:
    """Bytes of memory of this machine, or of the container that this process is in."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    granted = cgroups.memory()
    return physical if granted is None else min(physical, granted)


def decide(
    *,
    cores: int | None = None,
    memory: int | None = None,
    elsewhere: int = 0,
    cgroups: Cgroups = Cgroups(),
) -> Jobs:
    """At least one, at most one a core, and 2 GB of memory for each above 2 GB for everything else.

    elsewhere: processors of other machines that compile for this one.
    """
    known = _cores(cgroups) if cores is None else Jobs(count=cores, limit=_counted(cores, "core"))
    room = (available(cgroups) if memory is None else memory) - MEMORY_FOR_OTHERS
    if room // MEMORY_PER_JOB < known.count:
        here = Jobs(count=max(1, room // MEMORY_PER_JOB), limit=f"{_gb(room + MEMORY_FOR_OTHERS)} of memory")
    else:
        here = known
    sent = min(elsewhere, room // MEMORY_PER_SENT_JOB)
    return Jobs(count=sent, limit=f"{elsewhere} cores elsewhere") if sent > here.count else here


def _cores(cgroups: Cgroups) -> Jobs:
    affinity = getattr(os, "sched_getaffinity", None)  # what taskset and cpusets leave us; not on macOS
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    granted = cgroups.cpus()
    if granted is not None and granted < cores:
        return Jobs(count=max(1, -int(-granted // 1)), limit=f"a quota of {granted:g} cores")
    return Jobs(count=cores, limit=_counted(cores, "core"))


def _upwards(top: Path, path: str) -> list[Path]:
    """`path` below `top` and every folder above it, as far as `top`; those that are not there do no harm."""
    own = top / path.lstrip("/")
    return [folder for folder in (own, *own.parents) if folder.is_relative_to(top)]


def _share(words: list[str]) -> float | None:
    """Quota by period, in microseconds; "max" and -1 are none."""
    if len(words) == 2 and all(word.isdecimal() and int(word) for word in words):
        return int(words[0]) / int(words[1])
    return None


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _gb(memory: int) -> str:
    return f"{max(0, memory) / _GB:.3g} GB"


def _number(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")  # a group may have any name
    except OSError:
        return ""
