from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import bytesdiff

if TYPE_CHECKING:
    from pathlib import Path


def library(file: Path, text: str, *, function: str = "here", options: tuple[str, ...] = ()) -> Path:
    source = file.with_name("source.c")
    source.write_text(f'const char * {function}(void) {{ return "{text}"; }}\n', encoding="utf-8")
    command = ["cc", "-shared", "-fPIC", "-Wl,-soname,lib.so", *options, "-o", str(file), str(source)]
    subprocess.run(command, check=True)
    return file


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two libraries that hold texts of different length."""
    folder = tmp_path_factory.mktemp("pair")
    return library(folder / "one.so", "/a/file.cpp"), library(folder / "other.so", "/longer/file.cpp")


def test_the_section_and_the_texts_are_named(pair: tuple[Path, Path]) -> None:
    first, *others = bytesdiff.differing(*pair)
    assert (first.name, first.first, first.second) == (".rodata", ("/a/file.cpp",), ("/longer/file.cpp",))
    assert pair[0].read_bytes()[first.offset :].startswith(b"a/file.cpp")
    assert ".note.gnu.build-id" in {section.name for section in others}
    assert not any(section.has_texts for section in others if section.name in {".symtab", ".dynsym"})


def test_a_build_id_holds_no_text(tmp_path: Path) -> None:
    """Its random bytes may look like one, and would then be told first."""
    identities = (b"\xffaccident", b"\xffanything")
    files = [tmp_path / f"{number}.so" for number in range(len(identities))]
    for file, identity in zip(files, identities, strict=True):
        library(file, "/a/file.cpp", options=(f"-Wl,--build-id=0x{identity.hex()}",))
    (section,) = bytesdiff.differing(*files)
    assert (section.name, section.has_texts) == (".note.gnu.build-id", False)


def test_equal_files_differ_nowhere(pair: tuple[Path, Path]) -> None:
    assert bytesdiff.differing(pair[0], pair[0]) == ()


@pytest.mark.parametrize("length", [5, 40, 70, 2000])
def test_a_damaged_file_is_no_crash(pair: tuple[Path, Path], tmp_path: Path, length: int) -> None:
    cut = tmp_path / "cut.so"
    cut.write_bytes(pair[0].read_bytes()[:length])
    assert bytesdiff.differing(cut, pair[1])


def test_bytes_outside_of_all_sections_are_the_headers(pair: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.so"
    content = bytearray(pair[0].read_bytes())
    content[9] ^= 1  # padding of e_ident
    other.write_bytes(content)
    (section,) = bytesdiff.differing(pair[0], other)
    assert (section.name, section.offset) == (bytesdiff.HEADERS, 9)


def test_another_format_is_one_section(tmp_path: Path) -> None:
    one, other = tmp_path / "one.dylib", tmp_path / "other.dylib"
    one.write_bytes(b"\xcf\xfa\xed\xfe /a/file.cpp\0")
    other.write_bytes(b"\xcf\xfa\xed\xfe /b/file.cpp\0")
    (section,) = bytesdiff.differing(one, other)
    assert (section.name, section.offset) == (bytesdiff.WHOLE, 6)
    assert (section.first, section.second) == ((" /a/file.cpp",), (" /b/file.cpp",))
