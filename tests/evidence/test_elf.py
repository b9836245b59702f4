"""ELF files, really compiled, and what cmake and strip really do to them."""

from __future__ import annotations

import subprocess
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build.artifacts import sha256
from skippy_patches.evidence import elf
from tests.evidence.made import change_run_path

if TYPE_CHECKING:
    from pathlib import Path


def test_the_bytes_without_a_run_path_are_those_that_cmake_installs(library: Path) -> None:
    built = elf.run_path(library)
    assert built is not None
    assert built.text == "$ORIGIN"
    assert built.sha256_without != sha256(library)
    change_run_path(library, "$ORIGIN", "/a")
    assert elf.run_path(library) == elf.RunPath(text="/a", sha256_without=built.sha256_without)
    change_run_path(library, "", "")
    assert sha256(library) == built.sha256_without
    assert elf.run_path(library) == elf.RunPath(text="", sha256_without=built.sha256_without)


def test_a_stripped_copy(library: Path) -> None:
    assert elf.is_stripped(library) is False
    subprocess.run(["strip", library], check=True)
    assert elf.is_stripped(library) is True


def test_who_compiled_it(library: Path) -> None:
    version = subprocess.run(["cc", "--version"], check=True, capture_output=True, text=True).stdout
    (signed,) = elf.compilers(library) or ()
    assert signed.rpartition(" ")[2] in version
    subprocess.run(["objcopy", "--remove-section=.comment", library], check=True)
    assert elf.compilers(library) == ()


HEAD = b"\x7fELF\x02\x01"


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + b"\xff" * 60, HEAD + b"\xff" * 90, b"MZ"])
def test_what_is_no_whole_elf_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "libbad.so"
    file.write_bytes(content)
    assert (elf.is_stripped(file), elf.run_path(file), elf.compilers(file)) == (None, None, None)


def test_a_library_cut_anywhere(library: Path) -> None:
    """Never a traceback."""
    content = library.read_bytes()
    for end in range(0, len(content), 501):
        library.write_bytes(content[:end])
        elf.run_path(library), elf.is_stripped(library), elf.compilers(library)


def test_a_large_library_is_not_held_in_memory(library: Path) -> None:
    """One for GPUs has a gigabyte."""
    size = 32 << 20
    with library.open("ab") as stream:
        stream.truncate(size)
    tracemalloc.start()
    try:
        assert (elf.is_stripped(library), elf.run_path(library) is None) == (False, False)
        assert elf.compilers(library)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < size // 8
