"""`record diff`: each thing by its name, and no noise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from typer.core import TyperGroup

from skippy_patches.cli.app import app
from skippy_patches.evidence import compare
from skippy_patches.evidence.difference import described
from tests.evidence.made import changed

if TYPE_CHECKING:
    from skippy_patches.evidence.record import Record
    from tests.world import World

COUNTS = {"run": 2, "passed": 1, "failed": 1, "skipped": 0}
TESTS = COUNTS | {
    "failures": [{"name": "test-a", "status": "failed", "reason": "wrong"}],
    "skips": [],
    "excluded": [{"name": "test-net", "reason": "network"}],
}


def _told(before: Record, after: Record) -> list[str]:
    return [described(each) for each in compare.records(before, after)]


def test_times_are_no_difference(known: Record) -> None:
    later = changed(known, started="2026-02-01T00:00:00Z", finished="2026-02-01T00:01:00Z")
    assert not compare.records(known, later)


def test_a_second_build_is_a_difference_and_its_time_is_none(known: Record) -> None:
    again = {"checked": "2026-02-01T00:00:00Z", "method": "mount"}
    checked = changed(known, reproducible=again)
    later = changed(known, reproducible=again | {"checked": "2026-03-01T00:00:00Z"})
    assert not compare.records(checked, later)
    (told,) = compare.records(known, checked)
    assert (told.part, told.before, told.after) == ("reproducible", "not checked", "the same bytes (mount)")


def _clang(content: dict[str, Any]) -> dict[str, Any]:
    return {"toolchain": content["toolchain"] | {"cxx": {"name": "clang++", "version": "16", "sha256": ""}}}


def _launcher(content: dict[str, Any]) -> dict[str, Any]:
    ccache = {"name": "ccache", "version": "4.10", "sha256": "", "remote": "redis"}
    return {"toolchain": content["toolchain"] | {"launcher": ccache}}


def _flag(content: dict[str, Any]) -> dict[str, Any]:
    cmake = content["cmake"]
    arguments = [*cmake["arguments"], "-DGGML_NATIVE=ON", "-DCMAKE_C_FLAGS=-O1"]
    return {"cmake": {"generator": "Ninja", "arguments": arguments, "variables": {"GGML_NATIVE": "ON"}}}


def _library(content: dict[str, Any]) -> dict[str, Any]:
    return {"artifacts": [content["artifacts"][0] | {"sha256": "0" * 64, "size": 7}]}


def _pin(content: dict[str, Any]) -> dict[str, Any]:
    return {"upstream": content["upstream"] | {"tag": "b2"}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_clang, ["toolchain: cxx changed: cxx 1.0, sha256 eeeeeeeeeeee -> clang++ 16"]),
        (_launcher, ["toolchain: launcher changed: none -> ccache 4.10, remote redis"]),
        (_flag, ["flags: GGML_NATIVE changed: OFF -> ON", "flags: CMAKE_C_FLAGS added: -O1"]),
        (_pin, ["pin: tag changed: b1 -> b2"]),
        (
            lambda _: {"tests": TESTS},
            ["tests: results changed: none recorded -> 2 run, 1 passed, 1 failed, 0 skipped"],
        ),
        (lambda content: {"platform": content["platform"] | {"libc": "musl"}}, ["platform: libc changed"]),
        (
            lambda _: {"recipe_files": [{"name": "cpu.yaml", "sha256": "0" * 64}]},
            ["recipe: cpu.yaml changed"],
        ),
        (lambda _: {"queue_digest": "0" * 64}, ["patches: queue_digest changed"]),
    ],
)  # fmt: skip
def test_one_change_is_one_line(known: Record, change: Any, told: list[str]) -> None:
    made = known
    found = _told(made, changed(made, **change(made.content)))
    assert len(found) == len(told)
    assert all(line.startswith(text) for line, text in zip(found, told, strict=True)), found


def test_libraries(known: Record) -> None:
    made = known
    found = _told(made, changed(made, **_library(made.content)))
    assert [line.split(":")[1].split(" ")[1:3] for line in found] == [
        ["libllama.so", "changed"],
        ["libggml.so", "removed"],
    ]


def test_tests_one_by_one(known: Record) -> None:
    before = changed(known, tests=TESTS)
    failures = [{"name": "test-b", "status": "timeout", "reason": ""}]
    after = changed(known, tests=TESTS | {"failures": failures})
    assert _told(before, after) == ["tests: test-a removed: failed wrong", "tests: test-b added: timeout"]


def test_what_an_older_version_did_not_know_is_no_difference(known: Record) -> None:
    made = known
    later = ("recipe_files", "queue_content_digest", "required_tests", "reproducibility")
    older = {key: value for key, value in made.content.items() if key not in later}
    newer = changed(made, reproducibility={"method": "prefix-map"})
    assert not compare.records(type(made)(content=older), newer)
    other = changed(made, reproducibility={"method": "mount"})
    assert _told(newer, other) == ["reproducibility: method changed: prefix-map -> mount"]


def test_list_show_and_diff(built: tuple[World, Record]) -> None:
    world, made = built
    saved = world.run("record", "--save")
    assert saved.returncode == 0, saved.stderr
    listed = json.loads(world.run("record", "list", "--format", "json").stdout)
    assert [(each["name"], each["is_saved"]) for each in listed["records"]] == [
        (made.slug, True),
        ("recipe:cpu", False),
    ]
    assert made.slug in world.run("record", "list").stdout
    shown = world.run("record", "show", made.slug[:4], "--format", "json")
    assert json.loads(shown.stdout) == made.as_json()
    assert "libggml.so" in world.run("record", "show", f"records/{made.slug}.json").stdout
    same = world.run("record", "diff", "recipe:cpu", made.slug)
    assert (same.returncode, same.stdout) == (0, "They differ in nothing but times.\n")
    file = world.root / "other.json"
    file.write_text(json.dumps(changed(made, **_clang(made.content)).as_json()), encoding="utf-8")
    differing = world.run("record", "diff", "recipe:cpu", "other.json")
    assert differing.returncode == 1
    assert differing.stdout == "toolchain  changed  cxx  cxx 1.0, sha256 eeeeeeeeeeee -> clang++ 16\n"
    answer = json.loads(world.run("record", "diff", "recipe:cpu", "other.json", "--format", "json").stdout)
    assert (answer["is_same"], answer["differences"][0]["name"]) == (False, "cxx")


def test_record_tells_that_the_queue_moved_on_and_keeps_what_was_built(built: tuple[World, Record]) -> None:
    """Renumbered since: the record names the patches as they were built, from the build folder alone."""
    world, made = built
    (world.patches / "0003-apart.patch").rename(world.patches / "0007-apart.patch")
    (world.checkout / "src/a.c").write_text("somebody is at work here\n", encoding="utf-8")
    done = world.run("record", "--save")
    assert done.returncode == 0, done.stderr
    assert "The queue is no longer the one that was built (1 change)" in done.stderr
    (saved,) = (world.root / "records").iterdir()
    assert json.loads(saved.read_text(encoding="utf-8")) == made.as_json()
    assert "0003-apart.patch" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("record", "--label", "x"), "--label goes with --save"),
        (("record", "--save", "list"), "Options of record go behind the word 'list'"),
        (("record", "show", "nothing"), "There is no record 'nothing'"),
        (("record", "show", "recipe:cpuu"), "Did you mean recipe:cpu?"),
        (("record", "--recipe", "cpuu"), "cpuu"),
    ],
)
def test_usage(built: tuple[World, Record], arguments: tuple[str, ...], says: str) -> None:
    done = built[0].run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_beginning_that_two_records_have(built: tuple[World, Record]) -> None:
    world = built[0]
    world.run("record", "--save")
    world.run("record", "--save", "--label", "again")
    done = world.run("record", "show", "b1")
    assert done.returncode == 2
    assert "2 records begin with 'b1'" in done.stderr


def test_the_examples_in_the_help(built: tuple[World, Record]) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    record = group.commands["record"]
    assert isinstance(record, TyperGroup)
    for name, command in record.commands.items():
        epilog = command.epilog or ""
        example, _, told = epilog.removeprefix("Example: skippy-patches ").partition("  # ")
        assert example.startswith(f"record {name}"), epilog
        assert told, epilog
        assert built[0].run(*example.split()).returncode == 0, example
