"""`verify`: libraries against the records, and evidence against everything that can be computed again."""

from __future__ import annotations

import dataclasses
import os
import stat
from typing import TYPE_CHECKING

from skippy_patches.evidence import (
    buildfolder,
    evidencefile,
    kept,
    machine,
    origin,
    reapply,
    recompute,
    trust,
)
from skippy_patches.evidence.checked import DIFFERS, UNKNOWN
from skippy_patches.evidence.errors import NothingToVerify, NotVerifiable, UnknownRecord
from skippy_patches.evidence.since import Now, since
from skippy_patches.queue import reader
from skippy_patches.queue.snapshot import ordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from skippy_patches.config import Project
    from skippy_patches.evidence.checked import Checked
    from skippy_patches.evidence.claim import Claim
    from skippy_patches.evidence.errors import RecordBroken
    from skippy_patches.evidence.kept import Kept
    from skippy_patches.evidence.origin import Origin
    from skippy_patches.evidence.since import Since
    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.cache import Cache


@dataclasses.dataclass(frozen=True, kw_only=True)
class Libraries:
    """Where libraries come from.

    record: one that names all of them, one that can be believed and of today's queue if there is such a one;
    None where no single record names them all. checks: of each record that names one of them, by its name,
    whether it can be believed. since: what changed since that build. missing: its libraries that are not in
    the folder. known: how many records were looked at. broken: files among them that are no records.
    """

    origins: tuple[Origin, ...]
    record: Kept | None
    checks: Mapping[str, tuple[Checked, ...]]
    since: Since | None
    missing: tuple[str, ...]
    known: int
    broken: tuple[RecordBroken, ...]

    @property
    def is_match(self) -> bool:
        """Whether one record made these bytes."""
        return self.record is not None and not self.doubts(self.record.name)

    @property
    def is_mixed(self) -> bool:
        """Whether each of them has a record, and they have none in common."""
        return self.record is None and all(each.matches for each in self.origins)

    def is_good(self, *, any_queue: bool, strict: bool = False) -> bool:
        """Whether a record made them, and of the queue as it is, unless any will do.

        strict: and nothing that could speak against the record, git's history for one, was out of sight.
        """
        if self.record is None or self.since is None or not self.is_match:
            return False
        is_seen = all(each.outcome != UNKNOWN for each in self.checks[self.record.name])
        return (any_queue or not self.since.differences) and (is_seen or not strict)

    def doubts(self, name: str) -> tuple[Checked, ...]:
        """What speaks against the record of that name: no build wrote it as it stands there."""
        return tuple(each for each in self.checks[name] if each.outcome == DIFFERS)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence:
    """What became of everything that a file claims. since: what changed from it to the project as it is."""

    claim: Claim
    checks: tuple[Checked, ...]
    since: Since

    @property
    def is_match(self) -> bool:
        """Whether nothing differs. What cannot be computed here is no difference."""
        return self.is_good(any_queue=False)

    def is_good(self, *, any_queue: bool, strict: bool = False) -> bool:
        """The same; with any queue, also where these are others by now. strict: nothing is unknown."""
        moved = ("pin", "queue") if any_queue else ()
        bad = (DIFFERS, UNKNOWN) if strict else (DIFFERS,)
        return not any(each.outcome in bad and each.part not in moved for each in self.checks)


def target(project: Project, word: str, base: Path) -> Path | Claim:
    """What `word` means: a path from `base` to libraries, or evidence, by path or by a record's name.

    Raises NotVerifiable, NothingToVerify, AmbiguousRecord, RecordBroken and EvidenceBroken.
    """
    path = base / word
    if not word:
        return _named(project, word, base)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        if os.path.islink(path):  # noqa: PTH114 - answers also for a name that is too long
            raise NotVerifiable(path, "this link leads nowhere") from error
        if "/" in word:
            raise NotVerifiable(path, getattr(error, "strerror", None) or str(error)) from error
        return _named(project, word, base)
    if stat.S_ISDIR(mode):
        return path
    if not stat.S_ISREG(mode):
        raise NotVerifiable(path, "it is neither a file nor a folder")
    return evidencefile.load(path) if evidencefile.is_json(path) else path


def _named(project: Project, word: str, base: Path) -> Claim:
    """The record of that name."""
    try:
        found = kept.find(project, word, base)
    except UnknownRecord as error:
        raise NothingToVerify(word, error.known, error.nearest) from error
    return dataclasses.replace(evidencefile.of_record(found.record), source=found.file)


def libraries(project: Project, place: Path) -> Libraries:
    """Trace a library, or all in a folder. Reads records and patches, and nothing else of the project."""
    is_folder = place.is_dir()
    files = origin.libraries_in(place) if is_folder else (place,)
    shelf = kept.look(project)
    origins = tuple(origin.trace(file, shelf.records, project) for file in files)
    judge = trust.Judge(project=project)
    naming = {match.kept.name: match.kept for each in origins for match in each.matches}
    checks = {name: judge.check(each.record, each.file) for name, each in naming.items()}
    chosen, changes = _chosen(origins, shelf.records, checks, now(project))
    names = {match.library for each in origins for match in each.matches if match.kept is chosen}
    missing = [name for name in chosen.record.libraries if name not in names] if chosen and is_folder else []
    return Libraries(
        origins=origins,
        record=chosen,
        checks=checks,
        since=changes,
        missing=tuple(missing),
        known=len(shelf.records),
        broken=shelf.broken,
    )


def evidence(project: Project, claim: Claim, cache: Cache, reporter: Reporter) -> Evidence:
    """Compute everything again that the claim says and that can be computed here."""
    here = now(project)
    checks = tuple(_checks(project, claim, here, cache, reporter))
    return Evidence(claim=claim, checks=checks, since=since(claim, here))


def now(project: Project) -> Now:
    """Pin and queue as they lie there, also a queue that the check would refuse."""
    return Now(pin=project.upstream.commit, patches=ordered(reader.read_folder(project)))


def _checks(project: Project, claim: Claim, here: Now, cache: Cache, reporter: Reporter) -> Iterator[Checked]:
    if claim.record:
        yield from trust.Judge(project=project).check(claim.record, claim.source)
    yield from recompute.pin(claim, project)
    yield from recompute.queue(claim, here)
    yield from reapply.check(claim, project, here.patches, cache, reporter)
    yield from recompute.recipe(claim, project)
    yield from machine.tools(claim)
    yield from machine.platform(claim)
    yield from buildfolder.check(claim, project)


def _chosen(
    origins: Sequence[Origin],
    records: Sequence[Kept],
    checks: Mapping[str, Sequence[Checked]],
    here: Now,
) -> tuple[Kept | None, Since | None]:
    """Of the records that name all of them, a believable one, then the nearest to the project."""
    candidates = [
        each for each in records if all(any(match.kept is each for match in file.matches) for file in origins)
    ]
    candidates.sort(key=lambda each: str(each.record.content["finished"]), reverse=True)
    judged = [(each, since(evidencefile.of_record(each.record), here)) for each in candidates]
    outcomes = {name: {row.outcome for row in rows} for name, rows in checks.items()}
    return min(
        judged,
        key=lambda pair: (
            DIFFERS in outcomes[pair[0].name],
            not pair[1].is_same_content,
            bool(pair[1].differences),
            UNKNOWN in outcomes[pair[0].name],
            not pair[0].is_saved,
        ),
        default=(None, None),
    )
