"""docs/bisect.md tells the truth: its example is what a person gets, its options exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bisect.past import Step, line, make, source
from tests.world import World

if TYPE_CHECKING:
    from tests.bisect.conftest import Ground

PAGE = (Path(__file__).parents[2] / "docs/bisect.md").read_text(encoding="utf-8")


def test_the_example_is_what_a_person_gets(tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    changes = {"b10366": {"src/kv.cpp": source(b5="finish")}}
    tags = " ".join(f"b{number}" for number in range(10362, 10401))
    pin = Step(name="b10361", files={"src/kv.cpp": source()}, parents=[])
    make(upstream, [pin, *line(tags, "b10361", changes)], head="b10361")
    world = World.create(tmp_path / "project", upstream)
    world.add(21, "count-pages", {"src/kv.cpp": source(b5="count")})

    shown = re.search(r"^(    patches/0021-(?:.*\n)+?)\n?Nothing", PAGE, re.MULTILINE)
    assert shown is not None
    expected = re.sub(r"^    ", "", shown[1].rstrip() + "\n", flags=re.MULTILINE)
    said = world.run("bisect", "21", "--bad", "b10400").stdout.replace(str(upstream), "~/src/llama.cpp")
    assert re.sub(r" +$", "", said, flags=re.MULTILINE) == expected


def test_its_options_are_options(ground: Ground) -> None:
    helped = ground.world.run("bisect", "--help").stdout
    commands = re.findall(r"skippy-patches (?:-C \S+ )?bisect ([^#\n]*)", PAGE)
    assert commands
    for option in {word for command in commands for word in command.split() if word.startswith("--")}:
        assert option in helped
