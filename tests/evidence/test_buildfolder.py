"""What a record says of its build, held against what the build folder has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from skippy_patches.build import artifacts, report, stored, toolchain
from skippy_patches.build.layout import Layout
from skippy_patches.evidence import buildfolder, content, evidencefile, recompute, verify
from skippy_patches.evidence import kept as saving
from skippy_patches.objectid import ObjectId
from tests.evidence import made
from tests.evidence.made import changed

if TYPE_CHECKING:
    import pytest

    from skippy_patches.evidence.record import Record
    from tests.renumber.branches import Author
    from tests.world import World

LIBRARY = ".skippy/build/cpu/tree/libllama.so"


def test_a_library_that_is_gone_from_the_build_folder(built: tuple[World, Record]) -> None:
    """Its own record says that it is there; a saved copy of the record does not."""
    world, record = built
    project = world.project()
    (world.root / LIBRARY).unlink()
    for word, outcome in (
        ("recipe:cpu", "differs"),
        (str(saving.save(record, world.root / "records")), "unknown"),
    ):
        claim = verify.target(project, word, world.root)
        assert not isinstance(claim, Path)
        rows = {each.name: each for each in buildfolder.check(claim, project)}
        assert (rows["libllama.so"].outcome, rows["libggml.so"].outcome) == (outcome, "same")
        assert rows["libllama.so"].why == "it is not in the build folder"
    (world.root / ".skippy/build/cpu/built.json").unlink()
    claim = verify.target(project, "recipe:cpu", world.root)
    assert not isinstance(claim, Path)
    assert {each.outcome for each in buildfolder.check(claim, project)} == {"differs"}


def test_a_library_that_cannot_be_read_is_unknown(
    built: tuple[World, Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, record = built
    monkeypatch.setattr(artifacts, "sha256", mock.Mock(side_effect=PermissionError(13, "Refused")))
    claim = evidencefile.of_record(record)
    rows = [*recompute.recipe(claim, world.project()), *buildfolder.check(claim, world.project())]
    assert {(each.outcome, each.why.rpartition(": ")[2]) for each in rows[:3]} == {("unknown", "Refused")}


def test_a_second_build_is_held_against_what_it_left(built: tuple[World, Record]) -> None:
    world, record = built
    again = {"checked": "2026-02-01T00:00:00Z", "method": "mount"}
    claim = evidencefile.of_record(changed(record, reproducible=again))
    layout = Layout.of(world.root / ".skippy", "cpu")

    def outcome() -> str:
        (row,) = [each for each in buildfolder.check(claim, world.project()) if each.part == "reproducible"]
        return row.outcome

    assert outcome() == "unknown"
    stored.write(layout.reproduced, again | {"libraries": record.libraries})
    assert outcome() == "same"
    stored.write(layout.reproduced, again | {"libraries": record.libraries, "method": "prefix-map"})
    assert outcome() == "differs"
    layout.reproduced.write_text("{", encoding="utf-8")
    assert outcome() == "unknown"


def test_what_a_record_says_wrongly_beside_right_hashes(author: tuple[World, Author], library: Path) -> None:
    """Sizes, run paths, the tag, arguments of cmake and single results count, too."""
    world, _ = author
    record = made.build(world, {library.name: library.read_bytes()}, toolchain=toolchain.find("none"))
    said, project = record.content, world.project()
    (entry,) = said["artifacts"]
    for parts, name, why in (
        ({"artifacts": [entry | {"size": 10**30}]}, "libllama.so", f"not {10**30}."),
        ({"artifacts": [entry | {"run_path": "/opt"}]}, "libllama.so", "Other: run_path."),
        ({"cmake": said["cmake"] | {"arguments": ["-DX=1"]}}, "resolved options", "Others: X, -S"),
        ({"cmake": said["cmake"] | {"generator": "Make"}}, "resolved options", "Others: generator."),
        ({"upstream": said["upstream"] | {"tag": "b9"}}, "tag", "One commit, and two names for it."),
    ):
        claim = evidencefile.of_record(changed(record, **parts))
        rows = [*buildfolder.check(claim, project), *recompute.pin(claim, project)]
        (row,) = [each for each in rows if each.outcome == "differs"]
        assert (row.name, why in row.why) == (name, True), row


def test_results_of_single_tests_are_held_against_the_last_run(built: tuple[World, Record]) -> None:
    world, record = built
    layout = Layout.of(world.root / ".skippy", "cpu")
    row = report.TestRow(name="one", status="failed", seconds=1, reason="x", output="", is_required=True)
    run = report.TestReport(
        recipe="cpu", commit=ObjectId("a" * 40), libraries=tuple(record.libraries.items()), pattern=None,
        rows=(row,), excluded=(), unknown=(), started="", finished="",
    )  # fmt: skip
    report.save(run, layout.tests)
    report.save(run, layout.required)
    said = {"tests": content.of_tests(run), "required_tests": content.of_required_tests(run)}
    other = json.loads(json.dumps(said).replace('"one"', '"two"'))
    for parts, outcome in ((said, "same"), (other, "differs")):
        claim = evidencefile.of_record(changed(record, **parts))
        rows = [each for each in buildfolder.check(claim, world.project()) if each.name == "results"]
        assert [(each.part, each.outcome) for each in rows] == [
            ("tests", outcome),
            ("required_tests", outcome),
        ]


def test_names_that_no_file_can_have(built: tuple[World, Record]) -> None:
    world, record = built
    files = [{"name": name, "sha256": "0" * 64} for name in ("x" * 300, "a\0b", "", "..")]
    claim = evidencefile.of_record(changed(record, recipe_files=files, recipe="x" * 300))
    assert {each.outcome for each in recompute.recipe(claim, world.project())} == {"differs"}
    assert {each.outcome for each in buildfolder.check(claim, world.project())} == {"unknown"}
