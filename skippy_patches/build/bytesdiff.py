"""Where two libraries differ: the sections of ELF files (elf(5)) and the texts in them; else the first byte.

A machine that builds need not have readelf, whose output is for people anyway. A file of another format
(.dylib) counts as one section.
"""

from __future__ import annotations

import collections
import dataclasses
import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHOLE = ""  # the name of the one section of a file that has none
HEADERS = "(headers)"
SHORTEST = 4  # characters that make a text; strings(1) has the same
_ELF = b"\x7fELF"
_TEXT = re.compile(rb"[\x20-\x7e\t]{%d,}" % SHORTEST)
_EXECUTABLE = 0x4  # SHF_EXECINSTR
_NOTHING = (0, 8)  # SHT_NULL; SHT_NOBITS, .bss: nothing in the file
# By e_ident's class: e_shoff and where it is, where e_shentsize is, and of a section sh_name to sh_size.
_LAYOUTS = {1: ("I", 32, 46, "IIIIII"), 2: ("Q", 40, 58, "IIQQQQ")}
# Tables of numbers: what looks like a text in them is none.
_TABLES = (".rela", ".rel.", ".eh_frame", ".gcc_except_table", ".dynsym", ".symtab", ".dynamic", ".gnu.hash",
           ".gnu.version", ".got", ".plt", ".init_array", ".fini_array", ".debug_info", ".debug_abbrev",
           ".debug_aranges", ".debug_ranges", ".debug_rnglists", ".debug_loc", ".note.gnu.")  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class Section:
    """A section that differs. offset: of its first differing byte, in the first file.

    first, second: the texts that only that file has in it, in order; none for tables. is_code: what the
    processor runs; texts in it may be accidents.
    """

    name: str
    offset: int
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    is_code: bool = False

    @property
    def has_texts(self) -> bool:
        """Whether texts tell the two apart."""
        return bool(self.first or self.second)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Part:
    """A section as it lies in its file."""

    offset: int
    data: bytes
    is_code: bool
    is_table: bool


def differing(first: Path, second: Path) -> tuple[Section, ...]:
    """The sections of two libraries that differ: those with texts first, then in the first file's order.

    Empty when the files are equal.
    """
    one, other = first.read_bytes(), second.read_bytes()
    if one == other:
        return ()
    if not (one.startswith(_ELF) and other.startswith(_ELF)):
        texts = _only(one, other)
        return (Section(name=WHOLE, offset=_first_difference(one, other), first=texts[0], second=texts[1]),)
    parts, others = _parts(one), _parts(other)
    names = dict.fromkeys((*parts, *others))
    found = [_compared(name, parts.get(name), others.get(name)) for name in names]
    sections = [section for section in found if section is not None]
    if not sections:
        return (Section(name=HEADERS, offset=_first_difference(one, other)),)
    return tuple(sorted(sections, key=lambda section: (section.is_code, not section.has_texts)))


def _compared(name: str, one: _Part | None, other: _Part | None) -> Section | None:
    if one and other and one.data == other.data:
        return None
    present = one or other
    assert present is not None  # noqa: S101 - one of them has the name
    data, others = one.data if one else b"", other.data if other else b""
    texts = ((), ()) if present.is_table else _only(data, others)
    return Section(
        name=name,
        offset=present.offset + (_first_difference(data, others) if one else 0),
        first=texts[0],
        second=texts[1],
        is_code=present.is_code,
    )


def _parts(data: bytes) -> dict[str, _Part]:
    """By name; a second section of a name has #2 behind it. Nothing for a damaged file."""
    found: dict[str, _Part] = {}
    count = collections.Counter[str]()
    try:
        for name, part in _read(data):
            count[name] += 1
            found[name if count[name] == 1 else f"{name}#{count[name]}"] = part
    except (struct.error, ValueError, KeyError, IndexError):
        return {}
    return found


def _read(data: bytes) -> Iterator[tuple[str, _Part]]:
    """The sections of an ELF file. A damaged one raises struct.error, ValueError, KeyError or IndexError."""
    order = "<" if data[5] == 1 else ">"
    address, at, sizes, row = _LAYOUTS[data[4]]
    (start,) = struct.unpack_from(order + address, data, at)
    width, rows, names = struct.unpack_from(f"{order}HHH", data, sizes)
    table = [struct.unpack_from(order + row, data, start + width * index) for index in range(rows)]
    texts = table[names][4]
    for name_at, kind, flags, _, offset, size in table:
        if kind not in _NOTHING:
            name = data[texts + name_at : data.index(b"\0", texts + name_at)].decode()
            yield (
                name,
                _Part(
                    offset=offset,
                    data=data[offset : offset + size],
                    is_code=bool(flags & _EXECUTABLE),
                    is_table=name.startswith(_TABLES),
                ),
            )


def _only(one: bytes, other: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts that only the first has, and those that only the second has."""
    firsts, seconds = (dict.fromkeys(_TEXT.findall(data)) for data in (one, other))
    return (
        tuple(text.decode("ascii") for text in firsts if text not in seconds),
        tuple(text.decode("ascii") for text in seconds if text not in firsts),
    )


def _first_difference(one: bytes, other: bytes) -> int:
    """Where it is; the shorter one's end when it is the beginning of the longer one."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # the first `low` bytes are the same
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
