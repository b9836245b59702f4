from __future__ import annotations

import pytest

from skippy_patches.build.jobs import jobs

GB = 1 << 30


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [(8, 64 * GB, 8), (8, 10 * GB, 4), (64, 4 * GB, 1), (4, GB, 1), (1, 64 * GB, 1)],
)
def test_cores_and_memory_limit(cores: int, memory: int, expected: int) -> None:
    assert jobs(cores=cores, memory=memory) == expected


def test_this_machine_has_room_for_one() -> None:
    assert jobs() >= 1
