"""Which numbers are not to be given anew: those that evidence names, and those that the project pins.

Evidence is every record in the project's folder `records`, committed or not: a record that is not committed
yet is about to be. A record names the number of each patch of its build. `pinned:` in skippy-patches.yaml
names more of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from skippy_patches.evidence import record
from skippy_patches.renumber.errors import AmbiguousPin, PinsCollide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skippy_patches.config import Project
    from skippy_patches.numbers import Pinned
    from skippy_patches.queue.patch import Patch

RECORDS_FOLDER = "records"  # where `record --save` puts them
_BEHIND_NUMBER = len("0000-")
_Key = TypeVar("_Key", str, int)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pins:
    """What has to stay. A source is `records/FILE.json` or `skippy-patches.yaml`.

    pinned: path of a patch -> the sources that name its number. reserved: number of a patch that is gone ->
    sources. notes: sentences about names that pin nothing.
    """

    pinned: Mapping[str, tuple[str, ...]]
    reserved: Mapping[int, tuple[str, ...]]
    notes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Named:
    """A number that a source names for a patch. file, sha256: of that patch, empty where not given."""

    number: int
    file: str
    sha256: str
    source: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Queue:
    """The patches by what a source can name. A slug is the name behind the number."""

    by_number: Mapping[int, Sequence[Patch]]
    by_sha256: Mapping[str, Sequence[Patch]]
    by_slug: Mapping[str, Sequence[Patch]]

    @classmethod
    def of(cls, patches: Sequence[Patch]) -> _Queue:
        """Every patch, hashed once."""
        by_number: dict[int, list[Patch]] = {}
        by_sha256: dict[str, list[Patch]] = {}
        by_slug: dict[str, list[Patch]] = {}
        for patch in patches:
            by_number.setdefault(patch.number, []).append(patch)
            by_sha256.setdefault(patch.sha256, []).append(patch)
            by_slug.setdefault(patch.name[_BEHIND_NUMBER:], []).append(patch)
        return cls(by_number=by_number, by_sha256=by_sha256, by_slug=by_slug)

    def carrier(self, name: _Named) -> Patch | None:
        """The patch that has the named number, by its bytes, else by its name."""
        same = [patch for patch in self.by_sha256.get(name.sha256, ()) if patch.number == name.number]
        alike = [
            patch for patch in self.by_number.get(name.number, ()) if name.file in (patch.name, patch.path)
        ]
        return next(iter(same or alike), None)

    def elsewhere(self, name: _Named) -> Patch | None:
        """The named patch under another number: by its bytes, or by its slug where those are not known.

        Patches of like slug are often two, so bytes that are known and nowhere here are those of a patch that
        is gone, or was changed when it got the other number: nobody else may have its number then.
        """
        slug = name.file.rpartition("/")[2][_BEHIND_NUMBER:]
        found = self.by_sha256.get(name.sha256, ()) if name.sha256 else self.by_slug.get(slug, ())
        return next((patch for patch in found if patch.number != name.number), None)


def find(project: Project, patches: Sequence[Patch]) -> Pins:
    """The pins of a queue.

    Raises RecordBroken for a file in records/ that is no record, AmbiguousPin for a number or a name that two
    patches have, PinsCollide when sources name one number for two patches that are both here.
    """
    queue = _Queue.of(patches)
    pinned: dict[str, list[str]] = {}
    reserved: dict[int, list[str]] = {}
    moved: dict[str, list[str]] = {}
    for name in (*_in_records(project), *_in_configuration(project, queue)):
        carrier = queue.carrier(name)
        if carrier is not None:
            _add(pinned, carrier.path, name.source)
        elif (elsewhere := queue.elsewhere(name)) is not None:
            what = f"names {name.file or f'{name.number:04d}'}, which is {elsewhere.path} here"
            _add(moved, what, name.source)
        else:
            _add(reserved, name.number, name.source)
    _refuse_collisions(pinned, patches)
    return Pins(
        pinned={path: tuple(sources) for path, sources in pinned.items()},
        reserved={number: tuple(sources) for number, sources in reserved.items()},
        notes=tuple(
            f"{shown(sources)} {what}: it pins nothing, as that patch has another number already."
            for what, sources in moved.items()
        ),
    )


def shown(sources: Sequence[str]) -> str:
    """The sources in a sentence: the first, and how many more."""
    more = len(sources) - 1
    return sources[0] + (f" and {more} more" if more else "")


def _in_records(project: Project) -> Iterable[_Named]:
    for file in sorted((project.root / RECORDS_FOLDER).glob("*.json")):
        source = f"{RECORDS_FOLDER}/{file.name}"
        for patch in record.load(file).content["patches"]:
            yield _Named(
                number=int(patch["number"]),
                file=str(patch["file"]),
                sha256=str(patch["sha256"]),
                source=source,
            )


def _in_configuration(project: Project, queue: _Queue) -> Iterable[_Named]:
    for pin in project.pinned:
        name = _only_carrier(project, pin, queue) or pin.name
        yield _Named(number=pin.number, file=name, sha256="", source=project.file.name)


def _only_carrier(project: Project, pin: Pinned, queue: _Queue) -> str:
    """The path of the patch that the pin means, empty when it is not there. Raises AmbiguousPin."""
    carriers = [patch.path for patch in queue.by_number.get(pin.number, []) if pin.names(patch.path)]
    if len(carriers) > 1:
        raise AmbiguousPin(project.file, pin.name or f"{pin.number:04d}", carriers)
    return carriers[0] if carriers else ""


def _refuse_collisions(pinned: Mapping[str, Sequence[str]], patches: Sequence[Patch]) -> None:
    holders: dict[int, Patch] = {}
    for patch in patches:
        if patch.path not in pinned:
            continue
        other = holders.setdefault(patch.number, patch)
        if other is not patch:
            claims = [(each.path, shown(pinned[each.path])) for each in (other, patch)]
            raise PinsCollide(patch.number, claims)


def _add(found: dict[_Key, list[str]], key: _Key, source: str) -> None:
    sources = found.setdefault(key, [])
    if source not in sources:
        sources.append(source)
