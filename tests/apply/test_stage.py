"""The stage as a whole: what it makes, what it keeps, what it refuses."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.errors import (
    EmptyQueue,
    NoSuchPatch,
    PatchDoesNotApply,
    PatchHasNoEffect,
)
from skippy_patches.apply.stage import Request
from tests.apply.scenario import apply_queue, author_queue
from tests.world import Recorder, World, block, git

if TYPE_CHECKING:
    from pathlib import Path


def _mtimes(world: World) -> dict[str, int]:
    files = (path for path in world.checkout.rglob("*") if ".git" not in path.parts and path.is_file())
    return {str(path.relative_to(world.checkout)): path.stat().st_mtime_ns for path in files}


@pytest.mark.case(30)
def test_a_commit_a_patch_and_every_one_of_them_there(world: World) -> None:
    author_queue(world)
    applied = world.apply().applied
    files = sorted(path.name for path in world.patches.iterdir())
    assert [patch.file for patch in applied.patches] == files
    assert world.inside("rev-list", "--count", f"{world.pin}..HEAD") == str(len(files))
    assert applied.patches[-1].commit == applied.patched.commit
    assert applied.upstream.commit == world.pin
    numbers = [(patch.files, patch.insertions, patch.deletions) for patch in applied.patches[:2]]
    assert numbers == [(1, 7, 0), (1, 1, 1)]


@pytest.mark.case(30)
def test_an_empty_queue_is_not_a_success(world: World) -> None:
    with pytest.raises(EmptyQueue):
        world.apply()
    assert world.apply(Request(to=0)).applied.patched.commit == world.pin


@pytest.mark.case(30)
def test_a_patch_without_effect_is_named(world: World) -> None:
    world.add(1, "one", {"src/new.cpp": "int one;\n"})
    patch = world.add(2, "two", {"src/new.cpp": "int two;\n"})
    patch.write_bytes(patch.read_bytes().replace(b"-int one;\n+int two;", b"-int one;\n+int one;"))
    with pytest.raises(PatchHasNoEffect, match=r"0002 changes nothing in src/new\.cpp"):
        world.apply()


@pytest.mark.case(25)
def test_a_second_apply_changes_nothing(world: World) -> None:
    author_queue(world)
    first = world.apply()
    before = _mtimes(world)
    second = world.apply()
    assert (first.moved, second.moved) == (True, False)
    assert second.applied.patched == first.applied.patched
    assert second.applied.reused == len(second.applied.patches)
    assert _mtimes(world) == before


@pytest.mark.case(26)
def test_only_files_whose_content_changed_get_a_new_mtime(world: World) -> None:
    apply_queue(world)
    before = _mtimes(world)
    last = world.patches / "0009-last.patch"
    last.write_bytes(last.read_bytes().replace(b"\n+new\n", b"\n+newer\n"))
    time.sleep(0.02)
    outcome = world.apply()
    after = _mtimes(world)
    assert outcome.applied.reused == 6
    assert {name for name in after if after[name] != before.get(name)} == {"docs/new/deep.md"}
    assert set(before) == set(after)


@pytest.mark.case(26)
def test_mtimes_never_go_back(world: World) -> None:
    world.add(1, "one", {"src/new.cpp": "int one;\n"})
    world.apply()
    moment = time.time_ns()
    (world.patches / "0001-one.patch").unlink()
    world.commit({"src/new.cpp": None}, "Away")
    world.add(1, "other", {"src/new.cpp": "int other;\n"})
    world.apply()
    assert (world.checkout / "src/new.cpp").stat().st_mtime_ns >= moment - 20_000_000


def test_to_stops_early_and_goes_on(world: World) -> None:
    whole = apply_queue(world)
    part = world.apply(Request(to=3))
    assert part.applied.patched.commit == whole.patches[2].commit
    assert part.applied.reused == 3
    assert world.inside("rev-parse", "HEAD") == whole.patches[2].commit
    assert world.apply().applied.patched == whole.patched
    with pytest.raises(NoSuchPatch, match="There is no patch 0004") as caught:
        world.apply(Request(to=4))
    assert "0001, 0002, 0003, 0005" in caught.value.why


def test_a_renumber_reuses_every_prefix(world: World) -> None:
    before = apply_queue(world)
    (world.patches / "0009-last.patch").rename(world.patches / "0012-the-last.patch")
    after = world.apply()
    assert (after.moved, after.applied.reused) == (False, len(before.patches))
    assert after.applied.queue_digest != before.queue_digest


def test_order_is_by_number_and_the_bytes_of_the_name(world: World) -> None:
    world.add(10, "b", {"f": "1\n"})
    world.add(2, "a", {"g": "2\n"})
    assert [patch.number for patch in world.apply().applied.patches] == [2, 10]


def test_git_am_agrees(world: World) -> None:
    author_queue(world)
    outcome = world.apply(Request(verify_with_git=True))
    assert outcome.applied.patched.commit == world.inside("rev-parse", "HEAD")
    assert world.inside("worktree", "list").count("\n") == 0


@pytest.mark.parametrize("choice", ["keep", "strip"])
def test_subject_prefix_is_a_choice(world: World, choice: str) -> None:
    author_queue(world)
    world.configure(f"subject_prefix: {choice}\n")
    subject = world.apply(Request(verify_with_git=True)).applied.patches[0].subject
    assert subject == ("[skippy] a tag of its own." if choice == "keep" else "a tag of its own.")


@pytest.mark.case(27)
def test_time_and_identity_do_not_enter(world: World, tmp_path: Path, upstream: Path) -> None:
    first = apply_queue(world).patched.commit
    other = World.create(tmp_path / "other/project", upstream)
    for file in world.patches.iterdir():
        (other.patches / file.name).write_bytes(file.read_bytes())
    time.sleep(1.1)
    assert other.apply().applied.patched.commit == first


@pytest.mark.case(9)
def test_crlf_and_mixed_endings_survive(world: World) -> None:
    windows = world.source("src/windows.txt").replace("three\r\n", "three!\r\n")
    world.add(1, "crlf", {"src/windows.txt": windows})
    world.apply()
    assert (world.checkout / "src/windows.txt").read_bytes() == b"one\r\ntwo\r\nthree!\r\nfour\nfive\r\n"


@pytest.mark.case(18)
def test_binary_content_as_literal_and_as_delta(world: World) -> None:
    content = bytes(range(256)) * 8
    world.add(1, "literal", {"new.bin": b"\0\1\2\3"})
    world.add(2, "delta", {"logo.bin": content[:-3] + b"\0\0\0"})
    assert b"\ndelta " in (world.patches / "0002-delta.patch").read_bytes()
    world.apply(Request(verify_with_git=True))
    assert (world.checkout / "logo.bin").read_bytes() == content[:-3] + b"\0\0\0"


@pytest.mark.case(21, 22)
def test_abbreviated_ids_need_no_blob(world: World) -> None:
    """Text patches carry their preimage; a shallow checkout lacks every blob that an index line names."""
    text = world.source("src/llama.cpp").replace(block(5), "")
    world.commit({"src/llama.cpp": text}, "Abbreviated")
    patch = world.export(1, "abbreviated")
    full = next(line for line in patch.read_bytes().splitlines() if line.startswith(b"index "))
    patch.write_bytes(patch.read_bytes().replace(full, b"index 123456789..abcdef012 100644"))
    world.apply()
    assert block(5) not in (world.checkout / "src/llama.cpp").read_text(encoding="utf-8")


@pytest.mark.case(16)
def test_offsets_are_reported_and_fuzz_is_refused(world: World) -> None:
    """The last context line of the hunk is wrong: patch(1) would place it with fuzz."""
    text = world.source("src/llama.cpp")
    world.commit(
        {"src/llama.cpp": text.replace("void step_20() {\n", "void step_20() { // here\n")}, "Twenty"
    )
    patch = world.export(2, "twenty")
    world.commit({"src/llama.cpp": text}, "Back")
    world.commit({"src/llama.cpp": "// first\n// second\n" + text}, "Two lines above")
    world.export(1, "above")
    reporter = Recorder()
    world.apply(reporter=reporter)
    assert any("0002-twenty.patch: 1 of its hunks stand at an offset" in step for step in reporter.steps)
    assert any("(offset 2 lines)" in detail for detail in reporter.details)
    patch.write_bytes(patch.read_bytes().replace(b"\n     begin();\n", b"\n     begins();\n"))
    with pytest.raises(PatchDoesNotApply):
        world.apply()


def test_a_patch_that_does_not_apply_says_where_and_keeps_everything(world: World) -> None:
    text = world.source("src/llama.cpp")
    world.add(1, "fits", {"docs/readme.md": "# Fits\n"})
    world.add(7, "stale", {"src/llama.cpp": text.replace(block(12), block(12).replace("work();", "play();"))})
    world.apply(Request(to=1))
    stale = world.patches / "0007-stale.patch"
    stale.write_bytes(stale.read_bytes().replace(b"     begin();", b"     start();"))
    with pytest.raises(PatchDoesNotApply) as caught:
        world.apply()
    said = str(caught.value)
    assert "Patch 0007 does not apply: patches/0007-stale.patch" in said
    assert "src/llama.cpp: the hunk at patches/0007-stale.patch:" in said
    assert "most like it are lines" in said
    assert "-     start();" in said
    assert "+     begin();" in said
    assert "apply --to 1" in said
    assert "The patch before it applies and is kept" in said
    assert world.inside("rev-parse", "HEAD") == world.apply(Request(to=1)).applied.patched.commit
    assert world.inside("status", "--porcelain") == ""


def test_missing_and_existing_files_are_told_in_words(world: World) -> None:
    world.add(1, "adds", {"docs/added.md": "new\n"})
    world.add(2, "changes", {"docs/added.md": "newer\n"})
    (world.patches / "0001-adds.patch").rename(world.patches / "0003-adds.patch")
    with pytest.raises(PatchDoesNotApply, match=r"docs/added\.md: the patch changes it, and it is not there"):
        world.apply()


@pytest.mark.case(25)
@pytest.mark.parametrize("damage", ["{", "[]", '{"format": "skippy-patches ledger 1", "rows": {"x": 1}}'])
def test_a_damaged_ledger_costs_time_only(world: World, damage: str) -> None:
    expected = apply_queue(world).patched
    (world.checkout / ".git/skippy/ledger.json").write_text(damage, encoding="utf-8")
    again = world.apply()
    assert (again.applied.patched, again.applied.reused) == (expected, 0)


@pytest.mark.case(25)
def test_objects_that_git_collected_are_made_again(world: World) -> None:
    expected = apply_queue(world).patched
    world.apply(Request(to=0))
    world.inside("reflog", "expire", "--expire=now", "--all")
    world.inside("gc", "-q", "--prune=now")
    again = world.apply()
    assert (again.applied.patched, again.applied.reused) == (expected, 0)


def test_the_state_folder_hides_itself(world: World) -> None:
    author_queue(world)
    git(world.root, "init", "-q")
    world.apply()
    assert ".skippy" not in git(world.root, "status", "--porcelain", "--untracked-files=all")


def test_json_has_the_fields_of_the_contract(world: World) -> None:
    author_queue(world)
    done = world.run("apply", "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer) >= {
        "schema_version", "upstream", "patched", "queue_digest", "checkout", "applied", "reused", "patches"
    }  # fmt: skip
    assert set(answer["patches"][0]) == {
        "number", "file", "sha256", "subject", "commit", "tree", "files", "insertions", "deletions"
    }  # fmt: skip
    assert (answer["applied"], answer["reused"]) == (7, 0)
    command = f"cd {world.root} && sha256sum patches/*.patch | sha256sum"
    digest = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout.split()[
        0
    ]
    assert answer["queue_digest"] == digest


def test_exit_status_of_a_stale_patch(world: World) -> None:
    world.add(1, "adds", {"docs/added.md": "new\n"})
    world.add(2, "changes", {"docs/added.md": "newer\n"})
    (world.patches / "0001-adds.patch").unlink()
    done = world.run("apply")
    assert done.returncode == 4
    assert done.stdout == ""
    assert "error: Patch 0002 does not apply: patches/0002-changes.patch" in done.stderr
    assert world.checkout.is_dir()
