"""Computes again what a claim says of its build: from what the build folder of the recipe still has."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches.build import report, reproduced, result
from skippy_patches.build.layout import Layout
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import compare, content, elf, trust
from skippy_patches.evidence.checked import DIFFERS, SAME, Checked, compared, unknown
from skippy_patches.evidence.difference import mappings
from skippy_patches.evidence.recompute import hashed
from skippy_patches.queue.findings import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skippy_patches.build.report import TestReport
    from skippy_patches.build.result import Built
    from skippy_patches.config import Project
    from skippy_patches.evidence.claim import Claim, ClaimedLibrary


def check(claim: Claim, project: Project) -> Iterator[Checked]:
    """What the build folder of the recipe still has: libraries, flags as they were resolved, test results."""
    is_own = claim.record is not None and trust.is_last_build(project, claim.source)
    last = _last_build(claim, project)
    if isinstance(last, str):
        for library in claim.libraries:
            yield _absent(library, last, is_own=is_own)
        return
    yield from _libraries(claim, last, is_own=is_own)
    if claim.record is None or last.patched.commit != claim.patched.commit:
        return
    yield from _flags(claim, last)
    yield from _reproducible(claim, project, last)
    yield from _tests(claim, project)


def _libraries(claim: Claim, last: Built, *, is_own: bool) -> Iterator[Checked]:
    other = ""
    if claim.patched.commit and last.patched.commit != claim.patched.commit:
        other = f"the build folder holds a build of commit {last.patched.commit}"
    places = {item.name: item.path for item in last.artifacts}
    for library in claim.libraries:
        place = places.get(library.name)
        if place is None or not place.is_file():
            yield _absent(library, other or "it is not in the build folder", is_own=is_own)
            continue
        row = hashed("libraries", library.name, library.sha256, place, f"Other bytes are in {place}.")
        if row.outcome == SAME and (wrong := _said_wrongly(claim, library, place)):
            row = dataclasses.replace(row, outcome=DIFFERS, found="", why=wrong)
        elif other and row.outcome == DIFFERS:
            row = unknown("libraries", library.name, library.sha256, other)
        yield row


def _said_wrongly(claim: Claim, library: ClaimedLibrary, place: Path) -> str:
    """What else a claim says of a library with the right hash, and is not so; or nothing."""
    size = place.stat().st_size
    if library.size not in (None, size):
        return f"It has {counted(size, 'byte')}, not {library.size}."
    recorded = claim.record.content["artifacts"] if claim.record else ()
    entry: Mapping[str, Any] = next((each for each in recorded if each["name"] == library.name), {})
    found = elf.run_path(place)
    known = {"run_path": found and found.text, "sha256_without_run_path": found and found.sha256_without}
    wrong = [key for key, value in known.items() if entry.get(key, value) != value]
    return f"Other: {', '.join(wrong)}." if wrong else ""


def _absent(library: ClaimedLibrary, why: str, *, is_own: bool) -> Checked:
    """A library that is gone; where the evidence is the record that was made beside it, that differs."""
    row = unknown("libraries", library.name, library.sha256, why)
    return dataclasses.replace(row, outcome=DIFFERS) if is_own else row


def _flags(claim: Claim, last: Built) -> Iterator[Checked]:
    """Generator, arguments, and options as CMakeCache.txt had them, in one row: there are hundreds."""
    assert claim.record is not None  # noqa: S101 - seen by the caller
    recorded, found = claim.record.content["cmake"], content.of_build(last)["cmake"]
    sides = compare.flags(recorded, found), compare.flags(found, recorded)
    shown, here = (counted(len(side["variables"]), "option") for side in (recorded, found))
    yield _row("flags", "resolved options", shown, f"{here} in the build folder", sides)


def _row(
    part: str, name: str, recorded: str, found: str, sides: tuple[Mapping[str, str], Mapping[str, str]]
) -> Checked:
    """Many things in one row, which names those that differ."""
    names = [each.name for each in mappings(part, *sides)]
    return Checked(
        part=part,
        name=name,
        outcome=DIFFERS if names else SAME,
        recorded=recorded,
        found=found,
        why=f"Others: {', '.join(names)}." if names else "",
    )


def _reproducible(claim: Claim, project: Project, last: Built) -> Iterator[Checked]:
    """That a second build gave the same, where the record says so, as the build folder has it."""
    assert claim.record is not None  # noqa: S101 - seen by the caller
    recorded = claim.record.content.get("reproducible")
    if recorded is None:
        return
    shown = compare.reproducible(claim.record.content)
    try:
        again = reproduced.load(Layout.of(project.state, claim.recipe))
    except SkippyError as error:
        yield unknown("reproducible", "second build", shown, error.what)
        return
    if again is None or not again.is_of(last.artifacts):
        why = "no second build of these libraries is known here"
        yield unknown("reproducible", "second build", shown, why)
    else:
        found = compare.reproducible({"reproducible": content.of_reproduced(again)})
        yield compared("reproducible", "second build", shown, found)


def _tests(claim: Claim, project: Project) -> Iterator[Checked]:
    """Results of the last whole run, and of the last of the required tests, where of these libraries."""
    assert claim.record is not None  # noqa: S101 - seen by the caller
    layout = Layout.of(project.state, claim.recipe)
    for key, file, results in (
        ("tests", layout.tests, content.of_tests),
        ("required_tests", layout.required, content.of_required_tests),
    ):
        recorded = claim.record.content.get(key)
        if recorded is not None:
            yield _results(key, recorded, file, results, claim.record.libraries)


def _results(
    key: str,
    recorded: Mapping[str, Any],
    file: Path,
    results: Callable[[TestReport], dict[str, Any]],
    libraries: Mapping[str, str],
) -> Checked:
    shown = compare.counts(recorded)
    try:
        tests = report.load(file)
    except SkippyError as error:
        return unknown(key, "results", shown, error.what)
    if tests is None or dict(tests.libraries) != libraries:
        return unknown(key, "results", shown, "no run of these libraries is in the build folder")
    found = results(tests)
    return _row(
        key, "results", shown, compare.counts(found), (compare.results(recorded), compare.results(found))
    )


def _last_build(claim: Claim, project: Project) -> Built | str:
    """The build of the recipe that is in its folder, or why there is none."""
    name = claim.recipe
    if not name or name != Path(name).name:
        return "no recipe is named whose build folder could be looked at"
    try:
        return result.load(Layout.of(project.state, name))
    except SkippyError as error:
        return error.what.rstrip(".")
