"""The record of a build: which bytes were made from which commit, patches, tools and flags, how tested.

Schema (docs/records.md): one JSON object, `schema_version` 1, written to `.skippy/build/<recipe>/record.json`
while the build is at hand, and copied to records/ (kept.py) to be committed. It holds no path of the machine:
<source>, <build> and their kind stand for them.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from skippy_patches.apply import checkout as checkouts
from skippy_patches.build import artifacts, result, stored
from skippy_patches.evidence import content, jsonfile, shape
from skippy_patches.evidence.errors import (
    LibrariesChanged,
    NoRecord,
    NotTheBuildsRecord,
    OtherCommitBuilt,
    OtherEvidence,
    RecordBroken,
    SourceChanged,
)
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skippy_patches.apply.result import Applied
    from skippy_patches.build.layout import Layout
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.reproduced import Reproduced
    from skippy_patches.build.result import Built
    from skippy_patches.progress import Reporter

_LIBRARIES = "artifacts"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# A key that shows what a JSON object is instead.
_OTHER_KINDS = {
    "_type": "an in-toto statement",
    "bomFormat": "a bill of materials (CycloneDX)",
    "payloadType": "an envelope around something (DSSE)",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """A checked record. `content` is the JSON object, without `schema_version`."""

    content: dict[str, Any]

    @property
    def recipe(self) -> str:
        """The recipe's name."""
        return str(self.content["recipe"])

    @property
    def slug(self) -> str:
        """The name of the file in records/: pin, patched commit, recipe and platform."""
        tag = self.content["upstream"]["tag"] or self.content["upstream"]["commit"][:12]
        place = self.content["platform"]
        commit = self.content["patched"]["commit"][:12]
        words = (tag, commit, self.recipe, place["system"], place["machine"])
        return "-".join(_UNSAFE.sub("_", word) for word in words)

    def as_json(self) -> dict[str, Any]:
        """The object as the file holds it."""
        return {"schema_version": stored.SCHEMA_VERSION, **self.content}

    @property
    def libraries(self) -> dict[str, str]:
        """Name -> sha256."""
        return {artifact["name"]: artifact["sha256"] for artifact in self.content["artifacts"]}

    @property
    def installed(self) -> dict[str, str]:
        """Name -> sha256 of the library once its run path was taken out; where that is recorded."""
        key = "sha256_without_run_path"
        return {each["name"]: each[key] for each in self.content["artifacts"] if each.get(key)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Results:
    """What was found out about libraries once they were built.

    whole, required: the last whole test run, and the last that had every test which the recipe requires.
    reproduced: that a second build gave the same.
    """

    whole: TestReport | None
    required: TestReport | None
    reproduced: Reproduced | None = None


def make(
    applied: Applied,
    built: Built,
    results: Results,
    *,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> Record:
    """Put together what the stages found, after looking at the libraries once more.

    Results of other bytes are left out, and of tests that is said. Raises OtherCommitBuilt, LibrariesChanged.
    """
    if built.patched != applied.patched:
        old, new = built.patched.commit.short, applied.patched.commit.short
        raise OtherCommitBuilt(built.recipe, old, new)
    if names := artifacts.changed(built.artifacts):
        raise LibrariesChanged(built.recipe, names)
    tests = results.whole if _belongs(results.whole, built) else None
    required = results.required if _belongs(results.required, built) else None
    if (tests, required) != (results.whole, results.required):
        left = "those of the tests that the recipe requires" if required else "no test results"
        reporter.step(f"The last test run was of other libraries: the record holds {left}. Test again.")
    last = tests or required
    again = results.reproduced
    of_build = content.of_build(built)
    parts = {
        "recipe": of_build["recipe"],  # for whoever reads the file: what it is about comes first
        "recipe_files": of_build["recipe_files"],
        **content.of_queue(applied),
        "platform": content.of_machine(),
        **of_build,
        "reproducible": content.of_reproduced(again) if again and again.is_of(built.artifacts) else None,
        "tests": None if tests is None else content.of_tests(tests),
        "required_tests": None if required is None else content.of_required_tests(required),
        "started": built.started,
        "finished": built.finished if last is None else max(built.finished, last.finished),
    }
    return Record(content=parts)


def check_source(applied: Applied, recipe: str) -> None:
    """See that the checkout still is what was applied, once it has been compiled. Raises SourceChanged."""
    checkout = checkouts.open_existing(applied.checkout)
    standing = checkouts.standing(checkout) if checkout else None
    if standing is None or standing.head != applied.patched.commit:
        raise SourceChanged(recipe, [f"commit {standing.head if standing else 'none'} is checked out"])
    if standing.changes:
        raise SourceChanged(recipe, standing.changes)


def write(record: Record, layout: Layout) -> Path:
    """Keep it as the build folder's `record.json`."""
    stored.write(layout.record, record.content)
    return layout.record


def of_last_build(layout: Layout) -> Record:
    """The record that the last build and its tests left, seen to be of the libraries in the folder.

    Raises NotBuilt, NoRecord, RecordBroken, NotTheBuildsRecord and LibrariesChanged.
    """
    built = result.load(layout)
    made = load(layout.record)
    if names := artifacts.changed(built.artifacts):
        raise LibrariesChanged(built.recipe, names)
    if differing := unlike(made, built):
        raise NotTheBuildsRecord(layout.record, built.recipe, differing)
    return made


def unlike(made: Record, built: Built) -> list[str]:
    """The keys under which the record says something else than the build; what it lacks is no difference.

    Nothing but name, sha256 and size is compared of a library whose file is no longer what was built.
    """
    wanted = {**content.of_build(built), "patched": dataclasses.asdict(built.patched)}
    libraries = wanted.pop(_LIBRARIES)
    differing = [key for key, value in wanted.items() if made.content.get(key, value) != value]
    recorded = made.content[_LIBRARIES]
    gone = artifacts.changed(built.artifacts)
    if len(recorded) != len(libraries) or not all(
        _is_same_library(old, new, is_gone=new["name"] in gone)
        for old, new in zip(recorded, libraries, strict=True)
    ):
        differing.append(_LIBRARIES)
    return differing


def _is_same_library(old: Mapping[str, Any], new: Mapping[str, Any], *, is_gone: bool) -> bool:
    keys = ("name", "sha256", "size") if is_gone else tuple(new)
    return all(old[key] == new[key] for key in keys if key in old)


def load(file: Path) -> Record:
    """Read a record back. Raises NoRecord (6) and RecordBroken (2)."""
    try:
        return of_json(jsonfile.read(file), file)
    except FileNotFoundError:
        raise NoRecord(file) from None
    except jsonfile.Unreadable as error:
        raise RecordBroken(file, str(error)) from error


def of_json(value: dict[str, Any], file: Path) -> Record:
    """The record that the object in `file` is. Raises RecordBroken, and OtherEvidence, which is one."""
    for key, kind in _OTHER_KINDS.items():
        if key in value:
            raise OtherEvidence(file, kind)
    version = value.get("schema_version")
    if version != stored.SCHEMA_VERSION or type(version) is not int:
        is_later = isinstance(version, int) and version > stored.SCHEMA_VERSION
        what = f"its schema_version is {version!r}, not {stored.SCHEMA_VERSION}"
        raise RecordBroken(file, what, is_later=is_later)
    parts = {key: part for key, part in value.items() if key != "schema_version"}
    if problem := shape.problem(parts):
        raise RecordBroken(file, problem)
    return Record(content=parts)


def existing(state: Path) -> tuple[Record, ...]:
    """The records of every recipe that was built below `state`, by name. Raises RecordBroken."""
    return tuple(load(file) for file in sorted(state.glob("build/*/record.json")))


def _belongs(tests: TestReport | None, built: Built) -> bool:
    if tests is None:
        return False
    libraries = tuple((artifact.name, artifact.sha256) for artifact in built.artifacts)
    return tests.commit == built.patched.commit and tests.libraries == libraries
