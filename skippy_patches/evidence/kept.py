"""The records that there are: those saved in records/, and that of the last build of each recipe."""

from __future__ import annotations

import dataclasses
import difflib
import re
from typing import TYPE_CHECKING

from skippy_patches.build import stored
from skippy_patches.build.layout import Layout
from skippy_patches.evidence import compare, record
from skippy_patches.evidence.difference import described
from skippy_patches.evidence.errors import (
    AmbiguousRecord,
    BadLabel,
    NoRecord,
    RecordBroken,
    RecordDiffers,
    UnknownRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skippy_patches.config import Project
    from skippy_patches.evidence.record import Record

RECORDS_FOLDER = "records"
SUFFIX = ".json"
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._]{0,39}")
LAST_BUILD = "recipe:"  # in front of a recipe's name: the record of its last build


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kept:
    """A record and where it is. name: what `find` finds it by, the file's without suffix, or recipe:NAME."""

    name: str
    file: Path
    record: Record

    @property
    def is_saved(self) -> bool:
        """Whether it is in records/, so that it outlives the build folder."""
        return not self.name.startswith(LAST_BUILD)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shelf:
    """All of them, the saved ones first. broken: files in a record's place that are none, and why."""

    records: tuple[Kept, ...]
    broken: tuple[RecordBroken, ...]


def folder(project: Project) -> Path:
    """Where saved records are."""
    return project.root / RECORDS_FOLDER


def look(project: Project) -> Shelf:
    """Read them all. A file that is no record keeps nobody from the others."""
    found: list[Kept] = []
    broken: list[RecordBroken] = []
    for name, file in _files(project):
        try:
            found.append(Kept(name=name, file=file, record=record.load(file)))
        except RecordBroken as error:
            broken.append(error)
        except NoRecord:  # gone since it was listed
            continue
    return Shelf(records=tuple(found), broken=tuple(broken))


def find(project: Project, word: str, base: Path) -> Kept:
    """The record that `word` means: recipe:NAME, a path from the folder `base`, a slug, or how one begins.

    Raises UnknownRecord, AmbiguousRecord, RecordBroken.
    """
    places = dict(_files(project))
    file = places.get(word.removesuffix(SUFFIX))
    name = word.removesuffix(SUFFIX)
    if file is None and not word.startswith(LAST_BUILD):
        name, file = word, base / word
        if not _is_file(file):
            name, file = _beginning(word, places)
    if file is None:
        raise UnknownRecord(word, tuple(places), _nearest(word, places))
    return Kept(name=name, file=file, record=record.load(file))


def save(made: Record, records: Path, label: str = "") -> Path:
    """Keep it in the folder `records`, to be committed. label: ends the file's name.

    A record that is there and differs in nothing but times is left as it is.
    Raises RecordDiffers (1), BadLabel.
    """
    if label and not _LABEL.fullmatch(label):
        raise BadLabel(label)
    file = records / f"{made.slug}{f'-{label}' if label else ''}.json"
    try:
        old = record.load(file)
    except NoRecord:
        stored.write(file, made.content)
        return file
    if differences := compare.records(old, made):
        raise RecordDiffers(file, [described(each) for each in differences])
    return file


def is_name(stem: str, made: Record) -> bool:
    """Whether `save` would give the record a file of this name, with a label or without."""
    return re.fullmatch(f"{re.escape(made.slug)}(-{_LABEL.pattern})?", stem) is not None


def _files(project: Project) -> Iterable[tuple[str, Path]]:
    """Name and place of each. Raises OSError for a folder that cannot be read: it may hold the one wanted."""
    for name in _listed(folder(project)):
        if name.endswith(SUFFIX):
            yield name.removesuffix(SUFFIX), folder(project) / name
    for recipe in _listed(project.state / "build"):
        file = Layout.of(project.state, recipe).record
        if file.exists():
            yield LAST_BUILD + recipe, file


def _listed(place: Path) -> list[str]:
    try:
        return sorted(each.name for each in place.iterdir())  # glob would take what it may not read for empty
    except FileNotFoundError:
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # longer than a name can be
        return False


def _beginning(word: str, places: dict[str, Path]) -> tuple[str, Path | None]:
    names = [name for name in places if name.startswith(word) and not name.startswith(LAST_BUILD)]
    if len(names) > 1 and word:
        raise AmbiguousRecord(word, names)
    return (names[0], places[names[0]]) if names and word else (word, None)


def _nearest(word: str, places: Iterable[str]) -> str:
    """By spelling; else one that has the word in it, as recipe:cpu has cpu."""
    names = list(places)
    within = [name for name in reversed(names) if len(word) > 2 and word in name]  # recipe:NAME stands last
    close = difflib.get_close_matches(word, names, n=1) or within
    return f"Did you mean {close[0]}?" if close else ""
