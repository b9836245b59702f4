"""`sbom`, and `record --format in-toto`: of a record at hand, and of a real build, which verify accepts."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from skippy_patches.evidence import kept
from tests import inprocess
from tests.cli.test_road import make_road
from tests.evidence import specimen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.world import World


def test_of_a_record_by_path_and_by_name(world: World) -> None:
    saved = kept.save(specimen.record(), world.root / "records")
    by_path = inprocess.run(world.root, "sbom", str(saved))
    by_name = inprocess.run(world.root, "sbom", "b10361")

    assert by_path.returncode == 0, by_path.stderr
    assert by_path.stdout == by_name.stdout
    assert json.loads(by_path.stdout)["bomFormat"] == "CycloneDX"
    assert by_path.stdout.isascii()


def test_into_a_file(world: World, tmp_path: Path) -> None:
    kept.save(specimen.record(), world.root / "records")
    printed = inprocess.run(world.root, "sbom", "b10361")
    done = inprocess.run(tmp_path, "-C", "project", "sbom", "b10361", "--output", "llama.cdx.json")

    assert done.returncode == 0, done.stderr
    assert (world.root / "llama.cdx.json").read_text(encoding="utf-8") == printed.stdout
    assert done.stdout == "Written to project/llama.cdx.json\n"


def test_no_folder_is_made_on_the_way(world: World, tmp_path: Path) -> None:
    kept.save(specimen.record(), world.root / "records")
    done = inprocess.run(tmp_path, "-C", "project", "sbom", "b10361", "-o", "out/llama.cdx.json")

    assert done.returncode == 2
    assert "Nothing is written to project/out/llama.cdx.json: there is no folder project/out." in done.stderr
    assert "hint: Make it: mkdir -p project/out" in done.stderr
    assert not (world.root / "out").exists()


def test_records_stay_what_they_are(world: World) -> None:
    """A bill of materials in records/ keeps `renumber` from working; over the record it loses the record."""
    saved = kept.save(specimen.record(), world.root / "records")
    elsewhere = saved.rename(world.root / "elsewhere.json")
    before = elsewhere.read_bytes()
    for place in ("records/llama.cdx.json", "elsewhere.json"):
        done = inprocess.run(world.root, "sbom", "elsewhere.json", "--output", place)
        assert done.returncode == 2
        assert f"Nothing is written to {place}: records are kept there" in done.stderr
    assert elsewhere.read_bytes() == before
    assert not list((world.root / "records").iterdir())


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("record", "show", "b10361", "--format", "in-toto"), "an in-toto statement"),
        (("sbom", "b10361"), "a bill of materials (CycloneDX)"),
    ],
)
def test_of_what_was_made_of_a_record(world: World, command: tuple[str, ...], kind: str) -> None:
    kept.save(specimen.record(), world.root / "records")
    (world.root / "made.json").write_text(inprocess.run(world.root, *command).stdout, encoding="utf-8")
    done = inprocess.run(world.root, "sbom", "made.json")

    assert done.returncode == 2
    assert f"error: made.json is not a record: it is {kind}." in done.stderr
    assert "hint: Name the record that it was made of: skippy-patches record list" in done.stderr
    assert "skippy-patches verify made.json" in done.stderr


def test_of_nothing(world: World) -> None:
    (world.root / "recipes").mkdir()
    (world.root / "recipes/cpu.yaml").write_text("description: A library.\n", encoding="utf-8")
    none = inprocess.run(world.root, "sbom")
    unknown = inprocess.run(world.root, "sbom", "b1")

    assert none.returncode == 6
    assert "skippy-patches build" in none.stderr
    assert unknown.returncode == 2
    assert "There is no record 'b1'" in unknown.stderr


def test_without_the_extra_nothing_is_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.save(specimen.record(), world.root / "records")
    monkeypatch.setitem(sys.modules, "cyclonedx.schema", None)
    done = inprocess.run(world.root, "sbom", "b10361", "--output", "llama.cdx.json")
    statement = inprocess.run(world.root, "record", "show", "b10361", "--format", "in-toto")

    assert done.returncode == 2
    assert "-m pip install 'skippy-patches[sbom]'" in done.stderr
    assert not (world.root / "llama.cdx.json").exists()
    assert statement.returncode == 0, "a statement needs no extra"


def test_a_statement_of_a_saved_record(world: World) -> None:
    kept.save(specimen.record(), world.root / "records")
    done = inprocess.run(world.root, "record", "show", "b10361", "--format", "in-toto")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["_type"] == "https://in-toto.io/Statement/v1"


@pytest.mark.thorough
def test_verify_accepts_both_until_a_library_changes(tmp_path: Path) -> None:
    world = make_road(tmp_path)
    tested = world.run("test")
    assert tested.returncode == 0, tested.stderr
    statement = world.run("record", "--format", "in-toto")
    (world.root / "llama.intoto.json").write_text(statement.stdout, encoding="utf-8")
    written = world.run("sbom", "--output", "llama.cdx.json")
    assert (statement.returncode, written.returncode) == (0, 0), statement.stderr + written.stderr
    refused = world.run("sbom", "--output", ".skippy/build/cpu/record.json")
    assert "records are kept there" in refused.stderr

    for file, kind in (("llama.intoto.json", "statement"), ("llama.cdx.json", "sbom")):
        text = (world.root / file).read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        done = world.run("verify", file, "--format", "json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["kind"] == kind

    library = next((world.root / ".skippy/build/cpu/tree").rglob("libllama.so"))
    with library.open("ab") as stream:
        stream.write(b"!")
    for file in ("llama.intoto.json", "llama.cdx.json"):
        done = world.run("verify", file)
        assert done.returncode == 1
        assert "libllama.so" in done.stdout
