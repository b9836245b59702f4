"""`verify` as it is typed: which record, what changed since, and how it ends."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.build import toolchain
from skippy_patches.evidence import evidencefile, recompute, sbom, statement, verify
from skippy_patches.evidence import kept as saving
from tests.evidence import made
from tests.evidence.made import changed
from tests.renumber.branches import commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from skippy_patches.evidence.record import Record
    from tests.renumber.branches import Author
    from tests.world import World

TREE = ".skippy/build/cpu/tree"
LIBRARY = f"{TREE}/libllama.so"


def _json(world: World, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = world.run("verify", *arguments, "--format", "json")
    answer = json.loads(done.stdout)
    assert answer["schema_version"] == 1
    return done.returncode, answer


def test_a_library_of_the_queue_that_is_there(built: tuple[World, Record]) -> None:
    world, record = built
    done = world.run("verify", LIBRARY)
    assert done.returncode == 0, done.stderr
    assert "made by recipe:cpu" in done.stdout
    assert record.content["patched"]["commit"] in done.stdout
    assert "still the same 3 patches on this pin" in done.stdout
    status, answer = _json(world, LIBRARY)
    assert (status, answer["kind"], answer["is_match"], answer["queue"]["is_same"]) == (
        0,
        "libraries",
        True,
        True,
    )


def test_nothing_but_records_and_patches_is_needed(built: tuple[World, Record], tmp_path: Path) -> None:
    """Saved; then checkout, build folder, recipes and every way to the pin are taken away."""
    world, record = built
    assert world.run("record", "--save").returncode == 0
    library = shutil.copy(world.root / LIBRARY, tmp_path)
    shutil.rmtree(world.root / ".skippy")
    shutil.rmtree(world.root / "recipes")
    world.configure(upstream="  repository: https://nowhere.invalid/llama.cpp.git\n")
    done = world.run(
        "verify", str(library), env={"PATH": str(tmp_path), "SKIPPY_PATCHES_CACHE_DIR": "/nowhere"}
    )
    assert done.returncode == 0, done.stderr
    assert f"made by {record.slug}" in done.stdout
    assert not (world.root / ".skippy").exists()


@pytest.mark.parametrize("format_", ["in-toto", "json"])
def test_where_it_was_saved_is_told_beside_the_document(built: tuple[World, Record], format_: str) -> None:
    world, record = built
    done = world.run("record", "--save", "--format", format_)
    assert json.loads(done.stdout)
    assert f"Saved as {world.root}/records/{record.slug}.json" in done.stderr


def _edit(world: World) -> None:
    file = world.patches / "0003-apart.patch"
    file.write_bytes(file.read_bytes().replace(b"+apart", b"+other"))


def _renumber(world: World) -> None:
    (world.patches / "0003-apart.patch").rename(world.patches / "0004-apart.patch")


def _add(world: World) -> None:
    file = world.patches / "0003-apart.patch"
    shutil.copy(file, world.patches / "0008-more.patch")


def _remove(world: World) -> None:
    (world.patches / "0003-apart.patch").unlink()


def _move_pin(world: World) -> None:
    file = world.root / "skippy-patches.yaml"
    lines = file.read_text(encoding="utf-8").replace(world.pin, "7" * 40)
    file.write_text(lines.replace("  commit_object: upstream.commit\n", ""), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "what", "name", "is_same_content"),
    [
        (_edit, "edited", "0003-apart.patch", False),
        (_renumber, "renumbered", "0004-apart.patch", True),
        (_add, "added", "0008-more.patch", False),
        (_remove, "removed", "0003-apart.patch", False),
        (_move_pin, "changed", "commit", False),
    ],
)
def test_what_changed_since(
    built: tuple[World, Record], change: Callable[[World], None], what: str, name: str, is_same_content: bool
) -> None:
    world, _ = built
    change(world)
    status, answer = _json(world, LIBRARY)
    assert (status, answer["is_match"], answer["queue"]["is_same"]) == (1, True, False)
    (told,) = answer["queue"]["differences"]
    assert (told["what"], told["name"]) == (what, name)
    assert answer["queue"]["is_same_content"] is is_same_content
    text = world.run("verify", "--any-queue", LIBRARY)
    assert text.returncode == 0
    assert what in text.stdout
    assert name in text.stdout


def test_no_record_made_these_bytes(built: tuple[World, Record]) -> None:
    world, _ = built
    library = world.root / LIBRARY
    content = library.read_bytes()
    library.write_bytes(content[:-1] + b"!")
    done = world.run("verify", LIBRARY)
    assert done.returncode == 1
    assert "no record made these bytes" in done.stdout
    assert "nearest: libllama.so of recipe:cpu" in done.stdout
    status, answer = _json(world, TREE)
    assert (status, answer["is_match"], answer["record"]) == (1, False, None)
    assert [bool(each["matches"]) for each in answer["files"]] == [True, False]


def test_without_any_record(author: tuple[World, Author], tmp_path: Path) -> None:
    world, _ = author
    (tmp_path / "libllama.so").write_bytes(b"x")
    done = world.run("verify", str(tmp_path / "libllama.so"))
    assert done.returncode == 1
    assert "There are no records here" in done.stdout


def test_libraries_of_two_builds_together(built: tuple[World, Record], tmp_path: Path) -> None:
    """Each is known, and no build made both."""
    world, _ = built
    made.build(world, {"libllama.so": b"\x7fELF rpc"}, recipe="rpc")
    shutil.copy(world.root / ".skippy/build/rpc/tree/libllama.so", tmp_path)
    shutil.copy(world.root / TREE / "libggml.so", tmp_path)
    status, answer = _json(world, str(tmp_path))
    assert (status, answer["is_match"], answer["is_mixed"]) == (1, False, True)
    assert "no single record made them all" in world.run("verify", str(tmp_path)).stdout


def test_a_folder_lacks_libraries_of_its_record(built: tuple[World, Record], tmp_path: Path) -> None:
    world, _ = built
    shutil.copy(world.root / LIBRARY, tmp_path)
    status, answer = _json(world, str(tmp_path))
    assert (status, answer["missing"]) == (0, ["libggml.so"])


def test_of_several_records_that_of_this_queue_is_shown(built: tuple[World, Record]) -> None:
    """libggml-base is the same in many builds."""
    world, record = built
    assert world.run("record", "--save").returncode == 0
    (world.patches / "0003-apart.patch").unlink()
    made.build(world, recipe="rpc")
    _, answer = _json(world, LIBRARY)
    assert answer["record"]["name"] == "recipe:rpc"
    assert {each["record"] for each in answer["files"][0]["matches"]} == {
        record.slug,
        "recipe:cpu",
        "recipe:rpc",
    }


def _paths(world: World, folder: Path) -> dict[str, str]:
    os.mkfifo(folder / "pipe")
    (folder / "empty").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "bad.json").write_text("{", encoding="utf-8")
    return {
        str(folder / "pipe"): "neither a file nor a folder",
        str(folder / "empty"): "no shared library in this folder",
        str(folder / "dangling"): "this link leads nowhere",
        str(folder / "bad.json"): "is no evidence: it is not JSON",
        str(folder / "nothing.so"): "No such file",
        "nothing": "- a library, or a folder of them",
        "recipe:gpu": "Did you mean recipe:cpu?",
        "cpu": "Did you mean recipe:cpu?",
        "": "There is neither a file nor a record called ''",
        "x" * 300: "There is neither a file nor a record called",
        "a\0b": "There is neither a file nor a record called",
    }


def test_careless_arguments_are_usage(built: tuple[World, Record], tmp_path: Path) -> None:
    world, _ = built
    folder = tmp_path / "places"
    folder.mkdir()
    for path, says in _paths(world, folder).items():
        done = world.run("verify", path)
        assert done.returncode == 2, (path, done.stderr, done.stdout)
        assert says in done.stderr, path


def test_an_empty_file_is_a_library_of_nobody(built: tuple[World, Record], tmp_path: Path) -> None:
    (tmp_path / "libllama.so").touch()
    done = built[0].run("verify", str(tmp_path / "libllama.so"))
    assert done.returncode == 1
    assert "it is not a whole ELF file" in done.stdout


def test_a_link_to_a_library(built: tuple[World, Record], tmp_path: Path) -> None:
    world, _ = built
    (tmp_path / "libllama.so.0").symlink_to(world.root / LIBRARY)
    assert world.run("verify", str(tmp_path / "libllama.so.0")).returncode == 0


def test_a_record_that_was_edited_by_hand(built: tuple[World, Record]) -> None:
    """The hash of a library in the record, as somebody would who wants other bytes to pass."""
    world, record = built
    assert world.run("record", "--save").returncode == 0
    (file,) = (world.root / "records").iterdir()
    rows = [{**record.content["artifacts"][0], "sha256": "0" * 64}, *record.content["artifacts"][1:]]
    patches = [{**record.content["patches"][0], "sha256": "1" * 64}, *record.content["patches"][1:]]
    edited = changed(record, artifacts=rows, patches=patches)
    file.write_text(json.dumps(edited.as_json()), encoding="utf-8")
    status, answer = _json(world, file.stem)
    assert (status, answer["kind"]) == (1, "record")
    differing = {(each["part"], each["name"]) for each in answer["checks"] if each["outcome"] == "differs"}
    assert {
        ("record", "agrees with itself"),
        ("libraries", "libllama.so"),
        ("queue", "bytes and order"),
    } <= differing
    text = world.run("verify", file.stem)
    assert "`queue_content_digest` is not that of `patches`" in text.stdout


def test_every_part_of_a_record_is_looked_at(built: tuple[World, Record]) -> None:
    """The tools of this record are made up, so they differ; all else is as it was."""
    world, _ = built
    status, answer = _json(world, "recipe:cpu")
    outcomes = {(each["part"], each["name"]): each["outcome"] for each in answer["checks"]}
    tools = {key: value for key, value in outcomes.items() if key[0] == "toolchain"}
    assert set(tools.values()) <= {"differs", "unknown"}
    assert {value for key, value in outcomes.items() if key not in tools} == {"same"}
    assert {part for part, _ in outcomes} == {
        "record", "pin", "queue", "patched", "recipe", "toolchain", "platform", "flags", "libraries",
    }  # fmt: skip
    assert status == 1
    assert Path(answer["file"]).name == "record.json"


_MORE = [pytest.param(kind, marks=pytest.mark.thorough) for kind in ("statement", "sbom")]


@pytest.fixture(params=["record", *_MORE])
def evidence(author: tuple[World, Author], request: pytest.FixtureRequest) -> tuple[World, str]:
    """Evidence in each of its formats, of a build with the tools of this machine."""
    world, _ = author
    record = made.build(world, toolchain=toolchain.find("none"))
    texts = {"record": record.as_json(), "statement": statement.make(record), "sbom": sbom.make(record)}
    (world.root / "evidence.json").write_text(json.dumps(texts[request.param]), encoding="utf-8")
    return world, request.param


def _differing(world: World, *options: str, **environment: str) -> tuple[int, set[tuple[str, str]]]:
    done = world.run("verify", "evidence.json", "--format", "json", *options, env=environment)
    assert done.stdout, done.stderr
    checks = json.loads(done.stdout)["checks"]
    return done.returncode, {(row["part"], row["name"]) for row in checks if row["outcome"] == "differs"}


def test_evidence_of_any_format_and_what_it_no_longer_says_the_truth_of(
    evidence: tuple[World, str], tmp_path: Path
) -> None:
    """A byte changed, a patch renumbered, a patch edited, another compiler: each by its name."""
    world, kind = evidence
    assert _json(world, "evidence.json")[1]["kind"] == kind
    assert _differing(world) == (0, set())

    library = world.root / LIBRARY
    content = library.read_bytes()
    library.write_bytes(content[:-1] + b"!")
    assert _differing(world) == (1, {("libraries", "libllama.so")})
    library.write_bytes(content)

    compiler = tmp_path / "g++-99"
    compiler.write_text("#!/bin/sh\necho 'g++-99 (Other) 99.0'\n", encoding="utf-8")
    compiler.chmod(0o755)
    assert _differing(world, CXX=str(compiler)) == (1, {("toolchain", "cxx")})

    recipe = world.root / "recipes/cpu.yaml"
    recipe.write_text("description: Another.\n", encoding="utf-8")
    assert _differing(world) == (1, {("recipe", "cpu.yaml")})
    recipe.write_text(made.RECIPE, encoding="utf-8")

    _renumber(world)
    assert _differing(world) == (1, {("queue", "names, too")})
    assert _differing(world, "--any-queue") == (0, set() | {("queue", "names, too")})
    text = world.run("verify", "evidence.json").stdout
    assert "renumbered  0004-apart.patch  0003-apart.patch -> 0004-apart.patch" in text
    (world.patches / "0004-apart.patch").rename(world.patches / "0003-apart.patch")

    _edit(world)
    assert _differing(world) == (1, {("queue", "bytes and order"), ("queue", "names, too")})
    assert "edited  0003-apart.patch" in " ".join(world.run("verify", "evidence.json").stdout.split(" "))


@pytest.mark.parametrize("make", [statement.make, sbom.make])
def test_a_document_is_held_against_recipe_and_queue(
    built: tuple[World, Record], make: Callable[[Record], dict[str, Any]]
) -> None:
    """As a record is: hashes of the recipe's files, and the digest that holds the names."""
    world, record = built
    project = world.project()
    (world.root / "evidence.json").write_text(json.dumps(make(record)), encoding="utf-8")
    claim = evidencefile.load(world.root / "evidence.json")
    (row,) = recompute.recipe(claim, project)
    assert (row.name, row.outcome) == ("cpu.yaml", "same")
    assert [each.outcome for each in recompute.queue(claim, verify.now(project))] == ["same", "same"]
    forged = dataclasses.replace(claim, queue_digest="0" * 64)
    row = list(recompute.queue(forged, verify.now(project)))[1]
    assert (row.outcome, row.recorded) == ("differs", "0" * 64)
    assert "or somebody edited this digest" in row.why

    first, *others = claim.patches
    forged = dataclasses.replace(claim, patches=(first._replace(file="0001-other.patch"), *others))
    row = list(recompute.queue(forged, verify.now(project)))[1]
    assert (row.outcome, "the patches beside it are others" in row.why) == ("differs", True)

    (world.root / "recipes/cpu.yaml").write_text("description: Another.\n", encoding="utf-8")
    _edit(world)
    (row,) = recompute.recipe(claim, project)
    assert row.outcome == "differs"
    assert [each.outcome for each in recompute.queue(claim, verify.now(project))] == ["differs", "differs"]


def test_what_a_document_does_not_say_is_unknown(built: tuple[World, Record]) -> None:
    world, record = built
    claim = dataclasses.replace(evidencefile.of_record(record), recipe_files=(), queue_digest="")
    rows = [
        *recompute.recipe(claim, world.project()),
        *recompute.queue(claim, verify.now(world.project())),
    ]
    assert [(each.name, each.outcome) for each in rows] == [
        ("files", "unknown"),
        ("bytes and order", "same"),
        ("names, too", "unknown"),
    ]


def test_strict_fails_for_what_cannot_be_checked(author: tuple[World, Author]) -> None:
    world, _ = author
    record = made.build(world, toolchain=toolchain.find("none"))
    assert world.run("verify", "--strict", "recipe:cpu").returncode == 0
    nowhere = {"CXX": "/nowhere/c++"}
    done = world.run("verify", "recipe:cpu", env=nowhere)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.endswith("the same, 0 differ, 1 cannot be checked here (with --strict that fails, too)")
    assert world.run("verify", "--strict", "recipe:cpu", env=nowhere).returncode == 1
    saving.save(record, world.root / "records")
    done = world.run("verify", "--strict", LIBRARY)  # by the record that lies beside the build
    assert (done.returncode, "made by recipe:cpu" in done.stdout) == (0, True)
    (world.root / ".skippy/build/cpu/record.json").unlink()
    assert world.run("verify", LIBRARY).returncode == 0
    assert world.run("verify", "--strict", LIBRARY).returncode == 1
    commit(world, "the record")
    assert world.run("verify", "--strict", LIBRARY).returncode == 0


def test_rows_stand_in_columns(built: tuple[World, Record]) -> None:
    done = built[0].run("verify", "recipe:cpu").stdout
    assert "\nsame     queue      bytes and order     " in done
    assert "\ndiffers  toolchain  ninja               " in done
    assert ", 4 differ, 0 cannot be checked here\n" in done


def test_a_tool_that_is_not_here(built: tuple[World, Record], tmp_path: Path) -> None:
    """Unknown, not different: nothing can be said of it."""
    world, record = built
    tools = record.content["toolchain"] | {"launcher": {"name": "icecc", "version": "1", "sha256": ""}}
    (tmp_path / "other.json").write_text(json.dumps(changed(record, toolchain=tools).as_json()))
    _, answer = _json(world, str(tmp_path / "other.json"))
    (row,) = [each for each in answer["checks"] if each["name"] == "launcher"]
    why = "nothing here knows where a launcher called icecc would be"
    assert (row["outcome"], row["why"]) == ("unknown", why)


def test_another_recipe_and_other_flags(built: tuple[World, Record]) -> None:
    world, record = built
    recipe = world.root / "recipes/cpu.yaml"
    recipe.write_text(f"{made.RECIPE}targets: [llama]\n", encoding="utf-8")
    cmake = record.content["cmake"] | {"variables": {"GGML_NATIVE": "ON"}}
    (world.root / "evidence.json").write_text(json.dumps(changed(record, cmake=cmake).as_json()))
    _, answer = _json(world, "evidence.json")
    whys = {(each["part"], each["name"]): each for each in answer["checks"]}
    assert whys["recipe", "cpu.yaml"]["outcome"] == "differs"
    assert whys["flags", "resolved options"]["why"] == "Others: GGML_NATIVE."
    recipe.unlink()
    assert "There is no such file" in world.run("verify", "evidence.json").stdout
