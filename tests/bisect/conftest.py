"""One project and one upstream with many histories from the pin on, to be read only."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from tests.bisect.past import Step, line, make, source
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.objectid import ObjectId
    from tests.inprocess import Done

LOGO = bytes(range(256)) * 8
TAKEN = source(b2="mine")  # what patch 0001 makes of src/a.cpp
_A, _B = "src/a.cpp", "src/b.cpp"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ground:
    """world: the project, whose `repository` is the upstream. commits: of the tags."""

    world: World
    commits: dict[str, ObjectId]

    def run(self, number: int, *words: str) -> Done:
        return self.world.run("bisect", str(number), *words)


def steps() -> list[Step]:
    """From the pin b1, a branch for each kind of history."""
    files: dict[str, str | bytes | None] = {
        _A: source(),
        _B: source(),
        "src/c.cpp": source(),
        "logo.bin": LOGO,
        "docs/log.md": "b1\n",
    }
    broken = {_B: source(b5="theirs")}
    return [
        Step(name="b0", files={**files, _A: "nothing yet\n", "docs/log.md": "b0\n"}, parents=[]),
        Step(name="b1", files=files, parents=["b0"]),
        *line("l1 l2 l3 l4 l5 l6 l7 l8", "b1", {"l5": broken}),
        # broken, mended, broken again
        *line("n1 n2 n3 n4 n5 n6 n7", "b1", {"n2": broken, "n4": {_B: source()}, "n6": broken}),
        # what grew on a broken one is merged when it is mended
        *line("t1", "n3", {}),
        Step(name="t2", files=broken, parents=["n5", "t1"]),
        # a branch that breaks it, merged
        *line("m1 m2", "b1", {}),
        *line("s1 s2 s3", "m1", {name: {"docs/side.md": name} for name in ("s1", "s3")} | {"s2": broken}),
        Step(name="m3", files={**broken, "docs/side.md": "s3"}, parents=["m2", "s3"]),
        *line("m4", "m3", {}),
        # 0001 breaks at k2 and is mended at k5; in between block 9 and block 6 change for good
        *line(
            "k1 k2 k3 k4 k5 k6",
            "b1",
            {
                "k2": {_A: source(b2="theirs")},
                "k3": {_A: source(b2="theirs", b9="theirs")},
                "k4": {_A: source(b2="theirs", b9="theirs", b6="theirs")},
                "k5": {_A: source(b9="theirs", b6="theirs")},
            },
        ),
        # upstream takes 0001
        *line("u1 u2 u3 u4 u5", "b1", {"u2": {_A: TAKEN}, "u4": {_A: source(b2="mine", b9="theirs")}}),
        *line("r1 r2 r3", "b1", {"r2": {"src/c.cpp": None, "src/d.cpp": source()}}),
        *line("x1 x2 x3", "b1", {"x2": {"logo.bin": LOGO[::-1]}}),
    ]


def add_queue(world: World) -> None:
    """0003 needs 0001 in block 2; 0002 shares nothing but the file with them."""
    world.add(1, "first", {_A: TAKEN})
    world.add(2, "beside", {_A: source(b2="mine", b6="mine")})
    world.add(3, "needs-first", {_A: source(b2="mine2", b6="mine", b9="mine")})
    world.add(4, "elsewhere", {_B: source(b5="mine")})
    world.add(5, "binary", {"logo.bin": LOGO + b"\0more"})
    world.add(6, "moved", {"src/c.cpp": source(b4="mine")})


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """Made once: a search changes nothing."""
    folder = tmp_path_factory.mktemp("bisect")
    commits = make(folder / "upstream", steps(), head="b1")
    world = World.create(folder / "project", folder / "upstream")
    add_queue(world)
    return Ground(world=world, commits=commits)


@pytest.fixture
def shallow(ground: Ground, tmp_path: Path) -> Path:
    """A clone that ends at l6."""
    clone = tmp_path / "shallow"
    where = ground.world.upstream.as_uri()
    git(tmp_path, "clone", "-q", "--depth=3", "--branch=l8", where, str(clone))
    return clone
