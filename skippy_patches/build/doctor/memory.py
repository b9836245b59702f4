"""Memory for compilers that run at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build import jobs
from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_GB = 1 << 30
_ANY_NUMBER = 1 << 20  # of cores, where memory is asked for
# One compiler at its largest file, where that is more than jobs.py reckons with: seen with b10361.
_LARGEST = {"vulkan": (int(3.6 * _GB), "mul_mm.comp.cpp of the Vulkan backend")}


def check(case: Case) -> Iterator[Finding]:
    """Of the machine, or of the container that we are in."""
    carried = jobs.decide(cores=_ANY_NUMBER, memory=case.host.memory)
    cores = jobs.decide(cores=case.host.cores, memory=_ANY_NUMBER * _GB).count
    memory = jobs.available() if case.host.memory is None else case.host.memory
    yield from _one_compiler(case, memory, carried.limit)
    if case.asked.jobs is not None and case.asked.jobs > carried.count:
        yield finding.warning(
            "jobs-exceed-memory",
            f"--jobs {case.asked.jobs} is more than {carried.limit} carries: {carried.count}.",
            why="A large file of llama.cpp takes 2 GB; when memory runs out, the kernel kills a compiler.",
            mend=f"Compile fewer at once: --jobs {carried.count}",
        )
    elif carried.count < cores:
        yield finding.info(
            "memory-limits-jobs",
            f"{carried.count} of {cores} cores will compile at once: more is not safe with {carried.limit}.",
            why="A large file of llama.cpp takes 2 GB to compile, and 2 GB are left for everything else.",
            mend=f"If you know better: --jobs {cores}",
        )


def _one_compiler(case: Case, memory: int, told: str) -> Iterator[Finding]:
    needs = [(jobs.MEMORY_PER_JOB, "a large file of llama.cpp")]
    needs += [_LARGEST[name] for name in case.recipe.requires if name in _LARGEST]
    size, what = max(needs)
    if memory < size:
        yield finding.warning(
            "memory-short",
            f"There is less memory than one compiler may take: {told}, and {what} takes {size / _GB:.1f} GB.",
            why="The kernel kills the compiler, and the build stops there.",
            mend="Add memory or swap, or raise the limit of the container.",
        )
