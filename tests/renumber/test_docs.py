"""docs/renumber.md shows what a person gets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.renumber.branches import Author, record

if TYPE_CHECKING:
    from tests.world import World

PAGE = (Path(__file__).parents[2] / "docs/renumber.md").read_text(encoding="utf-8")


def test_the_example_is_what_a_person_gets(world: World) -> None:
    author = Author(lane=world.patches)
    base = author.add(20, "base", "src/base.c")
    other = author.elsewhere()
    other.add(21, "other", "src/other.c")
    other.add(22, "needs-other", "src/other.c")
    record(world, "published", [base, author.add(21, "coalesce", "src/coalesce.c")])
    shown = re.search(r"^    old {2,}new(?:.*\n)+?(?=##)", PAGE, re.MULTILINE)
    assert shown is not None
    expected = [line.removeprefix("    ") for line in shown[0].rstrip().splitlines()]
    done = world.run("renumber")
    assert done.returncode == 1
    told = re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b", r"\1...", done.stdout)
    assert told.splitlines() == expected
