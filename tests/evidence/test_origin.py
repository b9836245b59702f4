"""Bytes and the records that name them; where none does, what comes nearest."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import stored
from skippy_patches.evidence import elf, kept, origin
from skippy_patches.evidence.errors import NotVerifiable
from tests.evidence import made
from tests.evidence.made import change_run_path

if TYPE_CHECKING:
    from skippy_patches.evidence.origin import Origin
    from skippy_patches.evidence.record import Record
    from tests.renumber.branches import Author
    from tests.world import World


def _trace(world: World, file: Path) -> Origin:
    project = world.project()
    return origin.trace(file, kept.look(project).records, project)


def _copy(built: tuple[World, Record], folder: Path, name: str = "libllama.so") -> Path:
    folder.mkdir(exist_ok=True)
    return Path(shutil.copy(built[0].root / ".skippy/build/cpu/tree/libllama.so", folder / name))


def test_bytes_count_not_names(built: tuple[World, Record], tmp_path: Path) -> None:
    for name in ("libllama.so", "libllama.so.0.0.1", "renamed.bin"):
        traced = _trace(built[0], _copy(built, tmp_path, name))
        assert [(each.kept.name, each.library) for each in traced.matches] == [("recipe:cpu", "libllama.so")]
        assert traced.nearest is None


def test_one_byte_changed(built: tuple[World, Record], tmp_path: Path) -> None:
    file = _copy(built, tmp_path)
    content = bytearray(file.read_bytes())
    content[10] ^= 1
    file.write_bytes(content)
    traced = _trace(built[0], file)
    assert not traced.matches
    assert traced.nearest is not None
    assert traced.nearest.library == "libllama.so"
    said = " ".join(traced.nearest.remarks)
    assert "it has the same size" in said
    assert f"1 of its {len(content)} bytes differs from " in said
    assert said.endswith("the first at 0xa")


def test_other_size_other_name_and_nothing_like_it(built: tuple[World, Record], tmp_path: Path) -> None:
    longer = _copy(built, tmp_path)
    longer.write_bytes(longer.read_bytes() + b"\0\0")
    nearest = _trace(built[0], longer).nearest
    assert nearest is not None
    assert "it is 2 bytes longer" in nearest.remarks
    other = tmp_path / "libother.so"
    other.write_bytes(b"x" * len(made.LIBRARIES["libggml.so"]))
    nearest = _trace(built[0], other).nearest
    assert nearest is not None
    assert nearest.library == "libggml.so"
    other.write_bytes(b"nothing like it")
    assert _trace(built[0], other).nearest is None


def test_an_installed_library(author: tuple[World, Author], library: Path, tmp_path: Path) -> None:
    """The run path is taken out, or another one put in its place: the first is recorded, the second told."""
    world, _ = author
    made.build(world, {library.name: library.read_bytes()})
    change_run_path(library, "$ORIGIN", "/opt")
    traced = _trace(world, library)
    assert not traced.matches
    assert traced.nearest is not None
    assert traced.nearest.remarks == ("all but its run path is the same: it was '$ORIGIN' and is '/opt'",)
    change_run_path(library, "", "")
    (match,) = _trace(world, library).matches
    assert (match.library, match.is_installed) == ("libllama.so", True)
    done = world.run("verify", str(library))
    assert done.returncode == 0
    assert "made by recipe:cpu, its run path taken out since" in done.stdout


def test_another_compiler(author: tuple[World, Author], library: Path) -> None:
    """A library says who compiled it, and the record who did then."""
    world, _ = author
    record = made.build(world, {library.name: library.read_bytes()})
    (signed,) = elf.compilers(library) or ()
    library.write_bytes(library.read_bytes() + b"!")
    nearest = _trace(world, library).nearest
    assert nearest is not None
    assert nearest.remarks[0] == f"another compiler made it: it says {signed}, and the record cxx 1.0"
    tools = record.content["toolchain"]
    version = signed.partition(": ")[2] or signed
    same = made.changed(record, toolchain=tools | {"cxx": tools["cxx"] | {"version": version}})
    stored.write(world.root / ".skippy/build/cpu/record.json", same.content)
    nearest = _trace(world, library).nearest
    assert nearest is not None
    assert nearest.remarks == ("it is 1 byte longer",)


def test_a_folder_has_each_file_once(tmp_path: Path) -> None:
    for name in ("lib/libllama.so.0.0.1", "bin/tool", "lib/notes.txt", ".hidden/libx.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "lib/libllama.so").symlink_to("libllama.so.0.0.1")
    (tmp_path / "lib/libgone.so").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "libpipe.so")
    assert origin.libraries_in(tmp_path) == (tmp_path / "lib/libllama.so",)
    with pytest.raises(NotVerifiable, match="no shared library"):
        origin.libraries_in(tmp_path / "bin")


def test_a_folder_that_cannot_be_read_is_not_passed_over(
    built: tuple[World, Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, who can read everything."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "closed"))

    _copy(built, tmp_path)
    (tmp_path / "closed").mkdir()
    walk = os.scandir
    monkeypatch.setattr(os, "scandir", lambda place: refuse() if "closed" in str(place) else walk(place))
    done = built[0].run("verify", str(tmp_path))
    assert (done.returncode, "closed: Permission denied" in done.stderr) == (2, True)
    monkeypatch.undo()
    (built[0].root / "records").mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    for arguments in (("record", "list"), ("record", "show", "recipe:cpu"), ("verify", str(tmp_path))):
        done = built[0].run(*arguments)
        assert (done.returncode, "closed: Permission denied" in done.stderr) == (2, True)


def test_a_broken_record_hides_no_other(built: tuple[World, Record], tmp_path: Path) -> None:
    world, _ = built
    (world.root / "records").mkdir()
    (world.root / "records/broken.json").write_text("{", encoding="utf-8")
    done = world.run("verify", str(_copy(built, tmp_path)))
    assert done.returncode == 0
    assert "broken.json is not a record" in done.stderr
    listed = world.run("record", "list", "--format", "json")
    assert listed.returncode == 1
    assert len(json.loads(listed.stdout)["broken"]) == 1
