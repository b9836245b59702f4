"""What evidence and configuration pin, and what they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.evidence.errors import RecordBroken
from skippy_patches.queue import reader
from skippy_patches.queue.snapshot import ordered
from skippy_patches.renumber import pins
from skippy_patches.renumber.errors import AmbiguousPin, PinsCollide
from tests.renumber.branches import Author, record, without_desk

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.renumber.pins import Pins
    from tests.world import World


@pytest.fixture
def world(tmp_path: Path, upstream: Path) -> World:
    return without_desk(tmp_path / "project", upstream)


@pytest.fixture
def queue(world: World) -> dict[str, Path]:
    """Three patches, two of them with one number."""
    author = Author(lane=world.patches)
    words = ((20, "base"), (21, "coalesce"), (21, "other"))
    return {slug: author.add(number, slug, f"src/{slug}.c") for number, slug in words}


def _find(world: World) -> Pins:
    project = world.project()
    return pins.find(project, ordered(reader.read_folder(project)))


def test_nothing_pins_nothing(world: World, queue: dict[str, Path]) -> None:
    assert _find(world) == pins.Pins(pinned={}, reserved={}, notes=())


@pytest.mark.case(12)
def test_every_patch_that_a_record_lists(world: World, queue: dict[str, Path]) -> None:
    for name in ("a", "b"):
        record(world, name, [queue["base"], queue["coalesce"]])
    found = _find(world)
    assert found.pinned == {
        "patches/0020-base.patch": ("records/a.json", "records/b.json"),
        "patches/0021-coalesce.patch": ("records/a.json", "records/b.json"),
    }
    assert not found.reserved
    assert pins.shown(found.pinned["patches/0020-base.patch"]) == "records/a.json and 1 more"


def test_a_patch_is_known_by_its_bytes_else_by_its_name(world: World, queue: dict[str, Path]) -> None:
    record(world, "a", [queue["coalesce"]])
    queue["coalesce"].rename(world.patches / "0021-zebra.patch")
    assert list(_find(world).pinned) == ["patches/0021-zebra.patch"]
    (world.patches / "0021-zebra.patch").rename(queue["coalesce"])
    queue["coalesce"].write_bytes(queue["coalesce"].read_bytes() + b"\n")
    assert list(_find(world).pinned) == ["patches/0021-coalesce.patch"]


def test_bytes_beat_names(world: World, queue: dict[str, Path]) -> None:
    """Two files were exchanged: the record means the bytes."""
    record(world, "a", [queue["coalesce"]])
    queue["coalesce"].rename(world.patches / "0021-was.patch")
    queue["other"].rename(queue["coalesce"])
    assert list(_find(world).pinned) == ["patches/0021-was.patch"]


def test_the_number_of_a_patch_that_is_gone_is_reserved(world: World, queue: dict[str, Path]) -> None:
    gone = Author(lane=world.patches).add(22, "gone", "src/gone.c")
    record(world, "a", [gone])
    gone.unlink()
    found = _find(world)
    assert (found.pinned, found.reserved) == ({}, {22: ("records/a.json",)})


def test_a_patch_that_moved_already_pins_nothing(world: World, queue: dict[str, Path]) -> None:
    record(world, "a", [queue["coalesce"], queue["other"]])
    queue["coalesce"].rename(world.patches / "0030-fold.patch")
    queue["other"].rename(world.patches / "0031-other.patch")
    world.configure("pinned: [0019-other.patch]\n")
    found = _find(world)
    assert not found.pinned
    assert not found.reserved
    assert found.notes == (
        "records/a.json names 0021-coalesce.patch, which is patches/0030-fold.patch here: it pins nothing, "
        "as that patch has another number already.",
        "records/a.json names 0021-other.patch, which is patches/0031-other.patch here: it pins nothing, "
        "as that patch has another number already.",
        "skippy-patches.yaml names 0019-other.patch, which is patches/0031-other.patch here: it pins "
        "nothing, as that patch has another number already.",
    )


def test_another_patch_of_the_same_slug_is_not_the_one_that_is_gone(
    world: World, queue: dict[str, Path]
) -> None:
    record(world, "a", [queue["other"]])
    queue["other"].unlink()
    Author(lane=world.patches).add(5, "other", "src/unlike.c")
    assert _find(world).reserved == {21: ("records/a.json",)}


def test_records_that_contradict_each_other(world: World, queue: dict[str, Path]) -> None:
    record(world, "a", [queue["coalesce"]])
    record(world, "b", [queue["other"]])
    with pytest.raises(PinsCollide, match="0021 must stay with 2 patches") as caught:
        _find(world)
    assert "patches/0021-other.patch is pinned by records/b.json" in caught.value.why
    assert caught.value.exit_status == 1


def test_a_file_that_is_no_record(world: World, queue: dict[str, Path]) -> None:
    file = record(world, "a", [])
    text = file.read_text(encoding="utf-8")
    assert '"patches": []' in text
    lists = ("7", "null", "[{}]", '[{"number": "x", "file": "", "sha256": ""}]')
    broken = [text.replace('"patches": []', f'"patches": {each}') for each in lists]
    for content in ("{", "[]", '{"schema_version": 7}', '{"schema_version": 1}', *broken):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(RecordBroken, match=r"records/a\.json is not a record"):
            _find(world)


def test_the_configuration_pins_by_number_and_by_name(world: World, queue: dict[str, Path]) -> None:
    world.configure("pinned: [20, 0021-other.patch, 25, 0026-none.patch]\n")
    found = _find(world)
    assert list(found.pinned) == ["patches/0020-base.patch", "patches/0021-other.patch"]
    assert found.reserved == {25: ("skippy-patches.yaml",), 26: ("skippy-patches.yaml",)}


def test_a_bare_number_that_two_patches_carry(world: World, queue: dict[str, Path]) -> None:
    world.configure("pinned: [21]\n")
    with pytest.raises(AmbiguousPin, match="'pinned' has 0021, which 2 patches have: ") as caught:
        _find(world)
    assert caught.value.mend == "Name it there as 0021-coalesce.patch or 0021-other.patch"
    assert caught.value.exit_status == 2


def test_a_name_that_two_lanes_have(world: World, queue: dict[str, Path]) -> None:
    (world.root / "more").mkdir()
    queue["other"].rename(world.root / "more/0021-coalesce.patch")
    lanes = "queue: [patches, more]\n"
    world.configure(f"{lanes}pinned: [0021-coalesce.patch]\n")
    with pytest.raises(AmbiguousPin, match=r"has 0021-coalesce\.patch, which 2 patches have") as caught:
        _find(world)
    assert caught.value.mend == "Name it there as patches/0021-coalesce.patch or more/0021-coalesce.patch"
    world.configure(f"{lanes}pinned: [more/0021-coalesce.patch]\n")
    assert list(_find(world).pinned) == ["more/0021-coalesce.patch"]
