"""Just enough of the ELF format (elf(5)) to tell what was done to a library after it was built.

Each function answers None for what is no whole ELF file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import mmap
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_MAGIC = b"\x7fELF"
_SYMBOLS = 2  # SHT_SYMTAB, what strip(1) takes away; the dynamic symbols stay
_DYNAMIC = 6  # SHT_DYNAMIC
_END = 0  # DT_NULL
_RUN_PATHS = (15, 29)  # DT_RPATH, DT_RUNPATH
_MOST = 1 << 20  # bytes of a section that is read; these have a few hundred
_COMMENT = b".comment"  # the compilers sign here, unless they are told not to


class _Section(NamedTuple):
    name: int
    kind: int
    offset: int
    size: int
    link: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Elf:
    """The bytes of a file, and where its sections are. word: the format of an address.

    content: mapped, since a library for GPUs can be larger than the memory that is free.
    """

    content: mmap.mmap
    word: struct.Struct
    sections: tuple[_Section, ...]
    names: _Section

    def text(self, table: _Section, at: int) -> tuple[int, bytes]:
        """Where a string of a string table begins, and the string."""
        start = table.offset + at
        end = self.content.find(b"\0", start, start + _MOST)
        if end < 0:
            raise ValueError("a text without an end")
        return start, self.content[start:end]

    def raw(self, section: _Section) -> bytes:
        """The bytes of a small section. Raises ValueError for a large one."""
        if section.size > _MOST:
            raise ValueError("a section of an unlikely size")
        return self.content[section.offset : section.offset + section.size]

    @property
    def dynamic(self) -> tuple[_Section, tuple[tuple[int, int], ...]] | None:
        """The dynamic section, and its entries up to their end: tag and value."""
        section = next((each for each in self.sections if each.kind == _DYNAMIC), None)
        if section is None:
            return None
        words = [word for (word,) in self.word.iter_unpack(self.raw(section))]
        entries = tuple(zip(words[::2], words[1::2], strict=True))
        end = next((at for at, (tag, _) in enumerate(entries) if tag == _END), len(entries))
        return section, entries[:end]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunPath:
    """Where a library looks for others, "" for nowhere; the SHA-256 of the file once that is taken out."""

    text: str
    sha256_without: str


def run_path(file: Path) -> RunPath | None:
    """The run path, and what `cmake --install` makes of the file: the entry is gone, its text is zeros."""
    with _open(file) as elf:
        try:
            return None if elf is None else _run_path(elf)
        except (ValueError, IndexError, OverflowError, struct.error):
            return None


def is_stripped(file: Path) -> bool | None:
    """Whether it has no symbol table."""
    with _open(file) as elf:
        return None if elf is None else all(each.kind != _SYMBOLS for each in elf.sections)


def compilers(file: Path) -> tuple[str, ...] | None:
    """What signed its objects, as "GCC: (Debian 12.2.0-14) 12.2.0"; those of the C library are among them."""
    with _open(file) as elf:
        try:
            if elf is None:
                return None
            named = (each for each in elf.sections if elf.text(elf.names, each.name)[1] == _COMMENT)
            found = next(named, None)
            texts = elf.raw(found).split(b"\0") if found else []
        except (ValueError, IndexError, OverflowError):
            return None
    return tuple(dict.fromkeys(text.decode("utf-8", "replace") for text in texts if text))


def _run_path(elf: _Elf) -> RunPath:
    if elf.dynamic is None:
        return RunPath(text="", sha256_without=_hash(elf.content, {}))
    section, entries = elf.dynamic
    found = [elf.text(elf.sections[section.link], value) for tag, value in entries if tag in _RUN_PATHS]
    left = [word for entry in entries if entry[0] not in _RUN_PATHS for word in entry]
    raw = b"".join(map(elf.word.pack, left))
    places = {section.offset: raw + bytes(len(entries) * 2 * elf.word.size - len(raw))}
    places |= {start: bytes(len(text)) for start, text in found}
    text = ":".join(text.decode("utf-8", "replace") for _, text in found)
    return RunPath(text=text, sha256_without=_hash(elf.content, places))


def _hash(content: mmap.mmap, places: Mapping[int, bytes]) -> str:
    """The SHA-256 of the content with other bytes at some places."""
    changed = hashlib.sha256()
    at = 0
    with memoryview(content) as view:
        for start, other in sorted(places.items()):
            _update(changed, view, at, start)
            changed.update(other)
            at = start + len(other)
        _update(changed, view, at, len(view))
    return changed.hexdigest()


def _update(changed: hashlib._Hash, view: memoryview, start: int, end: int) -> None:
    with view[start:end] as part:
        changed.update(part)


@contextlib.contextmanager
def _open(file: Path) -> Iterator[_Elf | None]:
    try:
        with file.open("rb") as stream:
            is_elf = stream.read(len(_MAGIC)) == _MAGIC
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if is_elf else None
    except (OSError, ValueError):
        content = None
    if content is None:
        yield None
        return
    with content:
        try:
            elf = _parse(content)
        except (IndexError, OverflowError, struct.error):
            elf = None
        yield elf


def _parse(content: mmap.mmap) -> _Elf:
    is_64 = content[4] == 2  # EI_CLASS
    order = "<" if content[5] == 1 else ">"  # EI_DATA
    word = struct.Struct(f"{order}{'Q' if is_64 else 'I'}")
    (start,) = word.unpack_from(content, 40 if is_64 else 32)  # e_shoff
    size, count, names = struct.unpack_from(f"{order}HHH", content, 58 if is_64 else 46)
    row = struct.Struct(f"{order}II{word.format[1:] * 4}I")  # an Elf32_Shdr or Elf64_Shdr, up to sh_link
    sections = []
    for at in range(count):
        name, kind, _, _, offset, length, link = row.unpack_from(content, start + at * size)
        sections.append(_Section(name, kind, offset, length, link))
    return _Elf(content=content, word=word, sections=tuple(sections), names=sections[names])
