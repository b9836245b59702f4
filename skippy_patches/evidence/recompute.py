"""Computes again what a claim says of pin, queue, recipe and libraries; tools are machine.py's."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import artifacts, report, reproduced, result
from skippy_patches.build.layout import Layout
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import compare, content, queuediff, trust
from skippy_patches.evidence.checked import DIFFERS, SAME, Checked, compared, unknown
from skippy_patches.evidence.difference import mappings
from skippy_patches.queue.findings import counted
from skippy_patches.queue.patch import content_digest
from skippy_patches.upstream import pin as pins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.result import Built
    from skippy_patches.config import Project
    from skippy_patches.evidence.claim import Claim, ClaimedLibrary
    from skippy_patches.evidence.since import Now

_RENAMED = "numbers or names are others."
_MOVED = "the folder of the queue was another one, or somebody edited this digest."


def pin(claim: Claim, project: Project) -> Iterator[Checked]:
    """The pin's commit, and its tree as the commit object names it."""
    upstream = project.upstream
    moved = "The pin of the project has moved since."
    yield compared("pin", "commit", claim.upstream.commit, upstream.commit, moved)
    if not claim.upstream.tree:
        return
    if claim.upstream.commit != upstream.commit:
        yield unknown("pin", "tree", claim.upstream.tree, "the project has another pin")
        return
    try:
        tree = pins.read(upstream).tree
    except SkippyError as error:
        yield unknown("pin", "tree", claim.upstream.tree, error.what)
        return
    if tree is None:
        yield unknown("pin", "tree", claim.upstream.tree, "upstream.commit_object is not configured")
    else:
        yield compared("pin", "tree", claim.upstream.tree, tree)


def queue(claim: Claim, now: Now) -> Iterator[Checked]:
    """The digests of the queue, without names and with them."""
    recorded = content_digest(patch.sha256 for patch in claim.patches)
    is_same = recorded == now.content_digest
    why = "The patches are others, or in another order."
    yield compared("queue", "bytes and order", recorded, now.content_digest, why)
    if not claim.queue_digest:
        yield unknown("queue", "names, too", "", "their digest is not in it")
        return
    if is_same:
        is_renamed = claim.patches != queuediff.claimed(now.patches)
        why = f"Bytes and order are the same: {_RENAMED if is_renamed else _MOVED}"
    yield compared("queue", "names, too", claim.queue_digest, now.digest, why)


def recipe(claim: Claim, project: Project) -> Iterator[Checked]:
    """The bytes of every file that the recipe was made of."""
    if not claim.recipe_files:
        yield unknown("recipe", "files", claim.recipe, "their hashes are not in it")
    for name, recorded in claim.recipe_files:
        file = _inside(project.recipes, name)
        if file is None:
            yield Checked(
                part="recipe", name=name, outcome=DIFFERS, recorded=recorded,
                why=f"There is no such file in {project.recipes}.",
            )  # fmt: skip
        else:
            yield _hashed("recipe", name, recorded, file)


def built(claim: Claim, project: Project) -> Iterator[Checked]:
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
        row = _hashed("libraries", library.name, library.sha256, place, f"Other bytes are in {place}.")
        if other and row.outcome == DIFFERS:
            row = unknown("libraries", library.name, library.sha256, other)
        yield row


def _absent(library: ClaimedLibrary, why: str, *, is_own: bool) -> Checked:
    """A library that is gone; where the evidence is the record that was made beside it, that differs."""
    row = unknown("libraries", library.name, library.sha256, why)
    return dataclasses.replace(row, outcome=DIFFERS) if is_own else row


def _hashed(part: str, name: str, recorded: str, file: Path, why: str = "") -> Checked:
    """A file's SHA-256 against the recorded one; unknown where it cannot be read."""
    try:
        return compared(part, name, recorded, artifacts.sha256(file), why)
    except OSError as error:
        return unknown(part, name, recorded, f"{file}: {error.strerror or error}")


def _flags(claim: Claim, last: Built) -> Iterator[Checked]:
    """CMake's options as CMakeCache.txt had them, all in one row: there are hundreds."""
    assert claim.record is not None  # noqa: S101 - seen by the caller
    recorded = claim.record.content["cmake"]["variables"]
    different = [each.name for each in mappings("flags", recorded, dict(last.variables))]
    yield Checked(
        part="flags",
        name="resolved options",
        outcome=DIFFERS if different else SAME,
        recorded=counted(len(recorded), "option"),
        found=f"{counted(len(last.variables), 'option')} in the build folder",
        why=f"Others: {', '.join(different)}." if different else "",
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
    """Counts of the last whole run, when it was of the recorded libraries."""
    assert claim.record is not None  # noqa: S101 - seen by the caller
    recorded = claim.record.content["tests"]
    if recorded is None:
        return
    shown = compare.counts(recorded)
    try:
        tests = report.load(Layout.of(project.state, claim.recipe).tests)
    except SkippyError as error:
        yield unknown("tests", "counts", shown, error.what)
        return
    if tests is None or dict(tests.libraries) != claim.record.libraries:
        yield unknown("tests", "counts", shown, "no run of these libraries is in the build folder")
    else:
        yield compared("tests", "counts", shown, compare.counts(content.of_tests(tests)))


def _last_build(claim: Claim, project: Project) -> Built | str:
    """The build of the recipe that is in its folder, or why there is none."""
    name = claim.recipe
    if not name or name != Path(name).name:
        return "no recipe is named whose build folder could be looked at"
    try:
        return result.load(Layout.of(project.state, name))
    except SkippyError as error:
        return error.what.rstrip(".")


def _inside(folder: Path, name: str) -> Path | None:
    """The file `name` of `folder`; none where the name leads out of it."""
    file = folder / name
    is_below = not Path(name).is_absolute() and ".." not in Path(name).parts
    return file if is_below and file.is_file() else None
