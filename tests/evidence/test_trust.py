"""A record that was edited, made up or put under another name: `verify` says so, and does not believe it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.build import result, stored
from skippy_patches.build.artifacts import sha256
from skippy_patches.build.layout import Layout
from skippy_patches.evidence import kept, trust
from tests.evidence.made import changed
from tests.renumber.branches import commit
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.evidence.checked import Checked
    from skippy_patches.evidence.record import Record
    from tests.world import World

LIBRARY = ".skippy/build/cpu/tree/libllama.so"


def _save(world: World, made_: Record, name: str = "") -> Path:
    file = world.root / "records" / f"{name or made_.slug}.json"
    stored.write(file, made_.content)
    return file


def _rows(world: World, made_: Record, file: Path) -> dict[str, Checked]:
    return {each.name: each for each in trust.Judge(project=world.project()).check(made_, file)}


def _edited(record: Record, **parts: Any) -> Record:
    first, *others = record.content["artifacts"]
    return changed(record, artifacts=[{**first, **parts}, *others])


def test_an_edited_hash_is_no_run_path(built: tuple[World, Record]) -> None:
    """Without a run path nothing can have been taken out."""
    world, record = built
    sha256 = record.libraries["libllama.so"]
    bare = _edited(record, run_path="", sha256_without_run_path=sha256, sha256="0" * 64)
    (world.root / ".skippy/build/cpu/record.json").unlink()
    _save(world, bare)
    done = world.run("verify", LIBRARY, "--any-queue")
    assert done.returncode == 1
    assert f"only named by {record.slug}, which cannot be trusted" in done.stdout
    assert "run path taken out" not in done.stdout
    assert "libllama.so has no run path, and not the same sha256 without it" in done.stdout


def test_a_record_under_another_name(built: tuple[World, Record], tmp_path: Path) -> None:
    world, record = built
    (tmp_path / "evil.so").write_bytes(b"evil")
    forged = _edited(record, name="evil.so", sha256=sha256(tmp_path / "evil.so"), size=4)
    _save(world, forged, "zz-forged")
    done = world.run("verify", str(tmp_path / "evil.so"), "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["is_match"], answer["record"]["name"]) == (1, False, "zz-forged")
    assert [each["is_trusted"] for each in answer["files"][0]["matches"]] == [False]
    (differing,) = [each for each in answer["checks"] if each["outcome"] == "differs"]
    assert differing["found"] == f"its file should be called {record.slug}.json, or {record.slug}-LABEL.json"
    said = world.run("verify", str(tmp_path / "evil.so")).stdout
    assert "This record cannot be trusted: its file should be called" in said


def test_a_believable_record_is_preferred_and_the_other_told(built: tuple[World, Record]) -> None:
    world, record = built
    _save(world, record, "zz-forged")
    done = world.run("verify", LIBRARY)
    assert done.returncode == 0
    assert "made by recipe:cpu (and 1 more record)" in done.stdout
    assert "zz-forged: This record cannot be trusted: its file should be called" in done.stderr


@pytest.mark.parametrize(
    ("behind", "is_good"), [("", True), ("-clang16", True), ("-", False), ("x", False), ("-a-b", False)]
)
def test_a_label_belongs_to_the_name(built: tuple[World, Record], behind: str, is_good: bool) -> None:
    world, record = built
    row = _rows(world, record, _save(world, record, f"{record.slug}{behind}"))["agrees with itself"]
    assert (row.outcome == "same") is is_good


def test_what_git_has_of_it(built: tuple[World, Record]) -> None:
    world, record = built
    file = _save(world, record)
    assert "in no git repository" in _rows(world, record, file)["git"].why
    commit(world, "the record")
    assert _rows(world, record, file)["git"].recorded == "as it was committed"
    assert "git       as it was committed" in world.run("verify", LIBRARY).stdout
    other = _save(world, record, f"{record.slug}-two")
    assert "it is not committed" in _rows(world, record, other)["git"].why
    file.write_bytes(file.read_bytes() + b"\n")
    assert _rows(world, record, file)["git"].why == f"See what: git diff HEAD -- records/{file.name}"
    answer = json.loads(world.run("verify", str(file), "--format", "json").stdout)
    assert not answer["is_match"]
    file.rename(world.root / "aside.json")
    file.symlink_to(world.root / "aside.json")
    assert "behind a link" in _rows(world, record, file)["git"].why


def test_what_git_has_where_names_and_folders_mislead(built: tuple[World, Record]) -> None:
    """The repository is around the project; a folder in records/ has the name; records/ is a link."""
    world, record = built
    git(world.root.parent, "init", "-q")
    file = _save(world, record)
    assert "it is not committed" in _rows(world, record, file)["git"].why  # no commit at all
    (file.parent / "old").mkdir()
    shutil.copy(file, file.parent / "old")
    git(world.root, "add", "records/old")
    git(world.root, "commit", "-q", "-m", "another")
    assert "it is not committed" in _rows(world, record, file)["git"].why
    git(world.root, "add", "records")
    assert "it is not committed" in _rows(world, record, file)["git"].why
    git(world.root, "commit", "-q", "-m", "the record")
    shutil.rmtree(file.parent / "old")
    assert _rows(world, record, file)["git"].outcome == "same"
    (world.root / "records").rename(world.root / "away")
    (world.root / "records").symlink_to("away")
    assert "behind a link" in _rows(world, record, file)["git"].why


def test_the_record_of_a_build_is_held_against_the_build(built: tuple[World, Record]) -> None:
    world, record = built
    (file,) = [each.file for each in kept.look(world.project()).records]
    assert _rows(world, record, file)["build beside it"].outcome == "same"
    forged = _edited(record, sha256="0" * 64)
    row = _rows(world, forged, file)["build beside it"]
    assert (row.outcome, row.found) == ("differs", "other artifacts")
    layout = Layout(folder=file.parent)
    result.save(dataclasses.replace(result.load(layout), method="mount"), layout)
    assert _rows(world, record, file)["build beside it"].found == "other reproducibility"
    (file.parent / "built.json").unlink()
    assert _rows(world, record, file)["build beside it"].outcome == "unknown"
    shutil.copy(file, world.root / "record.json")
    assert "build beside it" not in _rows(world, record, world.root / "record.json")
