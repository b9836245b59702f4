"""How many compilers at once: as many as the cores, and as the memory carries."""

from __future__ import annotations

import os
from pathlib import Path

MEMORY_PER_JOB = 2 << 30  # bytes; the largest translation units of llama.cpp
MEMORY_FOR_OTHERS = 2 << 30
_CGROUP = Path("/sys/fs/cgroup")


def jobs(*, cores: int | None = None, memory: int | None = None) -> int:
    """At least one, at most one a core, and 2 GB of memory for each above 2 GB for everything else."""
    by_core = _cores() if cores is None else cores
    by_memory = ((_memory() if memory is None else memory) - MEMORY_FOR_OTHERS) // MEMORY_PER_JOB
    return max(1, min(by_core, by_memory))


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # what taskset and containers leave us; not on macOS
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, _quota(cores)))


def _memory() -> int:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_number(folder / "memory.max") for folder in _own_cgroups()]
    return min([physical, *(limit for limit in limits if limit)])


def _quota(cores: int) -> int:
    """CPUs that the cgroup grants (cgroup v2, cpu.max: "QUOTA PERIOD", microseconds or max)."""
    granted = cores
    for folder in _own_cgroups():
        words = _text(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdecimal() and int(words[1]):
            granted = min(granted, -(-int(words[0]) // int(words[1])))
    return granted


def _own_cgroups() -> list[Path]:
    """The cgroup v2 folder of this process and those above it; a limit may be set on any."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::"):
            own = _CGROUP / line[3:].lstrip("/")
            return [folder for folder in (own, *own.parents) if folder.is_relative_to(_CGROUP)]
    return []


def _number(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
