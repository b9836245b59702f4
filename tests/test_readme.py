"""README tells the truth: its commands exist, its error text is what a person gets."""

from __future__ import annotations

import re
from pathlib import Path

from skippy_patches import config
from tests.world import World, block

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_every_command_is_one(world: World) -> None:
    named = set(re.findall(r"^    skippy-patches ([a-z-]+)", README, re.MULTILINE))
    helped = world.run("--help").stdout
    assert named == set(re.findall(r"^│ ([a-z][a-z-]*) {2,}[A-Z]", helped, re.MULTILINE))


def test_every_option_of_an_example_is_known(world: World) -> None:
    helps: dict[str, str] = {}
    for line in re.findall(r"^    skippy-patches ([a-z-]+ [^#\n]*)#", README, re.MULTILINE):
        command, *words = line.split()
        helped = helps.get(command) or helps.setdefault(command, world.run(command, "--help").stdout)
        for option in (word for word in words if word.startswith("-")):
            assert option in helped


def test_the_error_text_is_what_a_person_gets(world: World) -> None:
    text = world.source("src/llama.cpp")
    world.add(1, "fits", {"docs/readme.md": "# Fits\n"})
    world.add(7, "stale", {"src/llama.cpp": text.replace(block(12), block(12).replace("end();", "stop();"))})
    stale = world.patches / "0007-stale.patch"
    stale.write_bytes(stale.read_bytes().replace(b"     begin();", b"     start();"))
    world.run("apply", "--to", "1")
    shown = re.search(r"^(    error: Patch 0007(?:.*\n)+?)\n", README, re.MULTILINE)
    assert shown is not None
    expected = "".join(line[4:] + "\n" for line in shown[1].splitlines())
    said = world.run("apply").stderr.replace(str(world.checkout), ".skippy/llama.cpp")
    told = [line for line in said[said.index("error: ") :].splitlines(keepends=True) if line.strip()]
    assert "".join(told) == expected


def test_two_commands_and_no_more_to_begin_with() -> None:
    setup = re.findall(r"^    (sh scripts/setup\.sh.*)$", README, re.MULTILINE)
    assert len(setup) == 2


def test_the_documented_file_is_read(world: World) -> None:
    page = (Path(__file__).parents[1] / "docs/configuration.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    file = world.root / "skippy-patches.yaml"
    project = config.load(file, content=example[1].encode(), variables={})
    assert project.upstream.tag == "b10361"
    keys = {*project._fields, *project.upstream._fields} - {"root", "file", "upstream"}
    for key in keys:
        assert key in page
