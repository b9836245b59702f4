from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build.jobs import Cgroups, decide

if TYPE_CHECKING:
    from pathlib import Path

GB = 1 << 30


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [(8, 64 * GB, 8), (8, 10 * GB, 4), (64, 4 * GB, 1), (4, GB, 1), (1, 64 * GB, 1)],
)
def test_cores_and_memory_limit(cores: int, memory: int, expected: int) -> None:
    assert decide(cores=cores, memory=memory).count == expected


def test_this_machine_has_room_for_one() -> None:
    assert decide().count >= 1


def test_what_allows_no_more_is_told() -> None:
    assert decide(cores=8, memory=64 * GB).limit == "8 cores"
    assert decide(cores=1, memory=64 * GB).limit == "1 core"
    assert decide(cores=8, memory=10 * GB).limit == "10 GB of memory"


def test_compilers_elsewhere_want_little_memory_here() -> None:
    far = decide(cores=2, memory=64 * GB, elsewhere=56)
    assert (far.count, far.limit) == (56, "56 cores elsewhere")
    assert decide(cores=2, memory=4 * GB, elsewhere=56).count == 8
    assert decide(cores=8, memory=64 * GB, elsewhere=4).limit == "8 cores"


def cgroups(folder: Path, membership: str, files: dict[str, str]) -> Cgroups:
    (folder / "cgroup").write_bytes(os.fsencode(membership))
    for name, text in files.items():
        file = folder / "fs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    return Cgroups(membership=folder / "cgroup", root=folder / "fs")


@pytest.mark.parametrize(
    ("membership", "files", "memory", "cpus"),
    [
        # Version 2: a container with a namespace of its own, its group at the top.
        ("0::/\n", {"memory.max": str(6 * GB), "cpu.max": "150000 100000"}, 6 * GB, 1.5),
        # Version 2: the limit is the one of a group above.
        (
            "0::/a/b\n",
            {"a/memory.max": str(4 * GB), "a/b/memory.max": "max", "a/b/cpu.max": "max 100000"},
            4 * GB,
            None,
        ),
        # Version 2: the path is the host's, which this container does not see.
        ("0::/docker/0123\n", {"memory.max": str(8 * GB)}, 8 * GB, None),
        # Version 1, in a container.
        (
            "5:memory:/docker/0123\n3:cpu,cpuacct:/docker/0123\n0::/\n",
            {
                "memory/memory.limit_in_bytes": str(3 * GB),
                "cpu/cpu.cfs_quota_us": "50000",
                "cpu/cpu.cfs_period_us": "100000",
            },
            3 * GB,
            0.5,
        ),
        # Version 1 without limits, as it says that.
        (
            "4:memory:/x\n1:cpu:/\n0::/\n",
            {
                "memory/x/memory.limit_in_bytes": str((1 << 63) - 4096),
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
            },
            (1 << 63) - 4096,
            None,
        ),
        # A group whose name is not UTF-8.
        ("0::/caf\udce9\n", {"memory.max": str(8 * GB)}, 8 * GB, None),
        ("", {}, None, None),
    ],
)
def test_what_a_container_grants(
    tmp_path: Path, membership: str, files: dict[str, str], memory: int | None, cpus: float | None
) -> None:
    granted = cgroups(tmp_path, membership, files)

    assert (granted.memory(), granted.cpus()) == (memory, cpus)


def test_a_container_s_limits_count(tmp_path: Path) -> None:
    granted = cgroups(tmp_path, "0::/\n", {"memory.max": str(4 * GB), "cpu.max": "50000 100000"})

    assert decide(memory=64 * GB, cgroups=granted).limit == "a quota of 0.5 cores"
    assert decide(cores=8, cgroups=granted).limit == "4 GB of memory"
    assert decide(cgroups=granted).count == 1
