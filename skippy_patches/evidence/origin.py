"""Where the bytes of a library come from: the records that name them, or the one that comes nearest.

All it needs is the file and the records; no network, no checkout, no sources.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches.build import artifacts, result
from skippy_patches.build.layout import Layout
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import elf
from skippy_patches.evidence.errors import NotVerifiable
from skippy_patches.queue.findings import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skippy_patches.config import Project
    from skippy_patches.evidence.kept import Kept

_CHUNK = 1 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Match:
    """A record that names these bytes, as `library`.

    is_installed: they are the recorded ones once their run path was taken out, as `cmake --install` does.
    """

    kept: Kept
    library: str
    is_installed: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Nearest:
    """A record that names a library like this one, with other bytes. remarks: how they differ, in words."""

    kept: Kept
    library: str
    sha256: str
    size: int
    remarks: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Origin:
    """One library. name: without its version. matches: every record that made it; else nearest, if any."""

    file: Path
    name: str
    sha256: str
    size: int
    matches: tuple[Match, ...]
    nearest: Nearest | None


def libraries_in(folder: Path) -> tuple[Path, ...]:
    """The shared libraries below `folder`, by name, each file once however many links lead to it.

    Hidden folders and links to folders are not entered. Raises NotVerifiable when there are none, and OSError
    for a folder that cannot be read: nobody shall take its libraries for verified.
    """

    def stop(error: OSError) -> None:
        raise error

    found: dict[Path, Path] = {}
    for place, folders, files in os.walk(folder, onerror=stop):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(files):
            file = Path(place, name)
            if artifacts.unversioned(name) and file.is_file():
                found.setdefault(file.resolve(), file)
    if not found:
        raise NotVerifiable(folder, "there is no shared library in this folder, or in one below it")
    return tuple(found.values())


def trace(file: Path, records: Sequence[Kept], project: Project) -> Origin:
    """Hash the file and look for it in the records, the saved ones first."""
    sha256, size = artifacts.sha256(file), file.stat().st_size
    name = artifacts.unversioned(file.name) or artifacts.unversioned(file.resolve().name) or file.name
    matches = tuple(
        Match(kept=kept, library=library, is_installed=is_installed)
        for kept in records
        for library, is_installed in _naming(kept, name, sha256)
    )
    return Origin(
        file=file,
        name=name,
        sha256=sha256,
        size=size,
        matches=matches,
        nearest=None if matches else _nearest(file, name, size, records, project),
    )


def _naming(kept: Kept, name: str, sha256: str) -> Iterator[tuple[str, bool]]:
    """The libraries of a record that have this hash, that of the file's name first; whether installed."""
    made = kept.record
    found = {each: False for each, known in made.libraries.items() if known == sha256}
    found |= {each: True for each, known in made.installed.items() if known == sha256 and each not in found}
    yield from sorted(found.items(), key=lambda pair: pair[0] != name)


def _nearest(file: Path, name: str, size: int, records: Sequence[Kept], project: Project) -> Nearest | None:
    """Of those of this name one that differs in its run path, or in size the least; else one of this size."""
    known = [(kept, each) for kept in records for each in kept.record.content["artifacts"]]
    run_path = elf.run_path(file)
    without = run_path.sha256_without if run_path else ""
    alike = [(kept, each) for kept, each in known if each["name"] == name]
    chosen = min(
        alike,
        key=lambda pair: (pair[1].get("sha256_without_run_path") != without, abs(pair[1]["size"] - size)),
        default=None,
    )
    if chosen is None:
        chosen = next(((kept, each) for kept, each in known if each["size"] == size), None)
    if chosen is None:
        return None
    kept, library = chosen
    return Nearest(
        kept=kept,
        library=library["name"],
        sha256=library["sha256"],
        size=library["size"],
        remarks=tuple(_remarks(file, size, kept, library, _original(kept, library["sha256"], project))),
    )


def _remarks(
    file: Path, size: int, kept: Kept, library: Mapping[str, Any], original: Path | None
) -> Iterator[str]:
    recorded = library["size"]
    run_path = elf.run_path(file)
    is_stripped = elf.is_stripped(file)
    if run_path is None and file.suffix != ".dylib":
        yield "it is not a whole ELF file"
    if run_path and run_path.sha256_without == library.get("sha256_without_run_path"):
        yield f"all but its run path is the same: it was '{library['run_path']}' and is '{run_path.text}'"
        return
    yield from _other_compiler(file, kept)
    if is_stripped and size < recorded:
        yield "it has no symbol table: a stripped copy is another file, verify the one that was built"
    if size == recorded:
        yield "it has the same size: bytes were changed in place, or other tools or sources gave as many"
    else:
        yield f"it is {counted(abs(size - recorded), 'byte')} {'longer' if size > recorded else 'shorter'}"
    if original and size == recorded:
        count, first = _differing(file, original)
        verb = "differs" if count == 1 else "differ"
        yield f"{count} of its {counted(size, 'byte')} {verb} from {original}, the first at {first:#x}"


def _other_compiler(file: Path, kept: Kept) -> Iterator[str]:
    """Told when a library is signed, and by none with the version of the recorded C++ compiler."""
    recorded = kept.record.content["toolchain"].get("cxx")
    signed = elf.compilers(file)
    if signed and recorded and not any(recorded["version"] in each for each in signed):
        here = f"{recorded['name']} {recorded['version']}"
        yield f"another compiler made it: it says {', '.join(signed)}, and the record {here}"


def _original(kept: Kept, sha256: str, project: Project) -> Path | None:
    """The recorded file itself, where the build folder still has it."""
    recipe = kept.record.recipe
    if recipe != Path(recipe).name:
        return None
    try:
        built = result.load(Layout.of(project.state, recipe))
    except SkippyError:
        return None
    places = [item.path for item in built.artifacts if item.sha256 == sha256 and item.path.is_file()]
    return next((place for place in places if artifacts.sha256(place) == sha256), None)


def _differing(one: Path, other: Path) -> tuple[int, int]:
    """How many bytes of two files of one size differ, and where the first one is."""
    count, first, start = 0, -1, 0
    with one.open("rb") as left, other.open("rb") as right:
        while chunk := left.read(_CHUNK):
            size = len(chunk)
            both = int.from_bytes(chunk) ^ int.from_bytes(right.read(size))
            if both:
                difference = both.to_bytes(size)
                first = start + size - len(difference.lstrip(b"\0")) if first < 0 else first
                count += size - difference.count(0)
            start += size
    return count, first
