"""Checks of names, numbers, order and of what kind of files the patches are; no patch is opened."""

from __future__ import annotations

import os

from skippy_patches.queue import holes, series
from skippy_patches.queue.findings import Finding, error, warning
from skippy_patches.queue.patch import HIGHEST_NUMBER, SUFFIX, join, number_of
from skippy_patches.queue.snapshot import (
    FILE,
    OTHER,
    SYMLINK,
    UNMERGED,
    Entry,
    Lane,
    Snapshot,
    entry_path,
    next_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.numbers import Band, Pinned


def check(
    snapshot: Snapshot, gaps: str, *, bands: Sequence[Band] = (), pinned: Sequence[Pinned] = ()
) -> list[Finding]:
    """Findings about the whole queue (numbers count across lanes), then lane by lane.

    bands, pinned: what keeps numbers free, so that they are no holes; see config.Project.
    """
    free = next_number(snapshot)
    findings = _duplicates(snapshot, free)
    if gaps != "allow":
        make = error if gaps == "forbid" else warning
        findings += holes.check(_files_by_number(snapshot), make, bands, pinned)
    for lane in snapshot.lanes:
        if lane.link:
            findings.append(_linked(lane, snapshot.source))
        elif not lane.exists:
            findings.append(_missing(lane, snapshot.source))
        for entry in lane.entries:
            findings += _kind(lane, entry)
            if number_of(entry.name) is None:
                findings.append(_malformed(lane, entry.name, free))
        findings += _case_collisions(lane)
        if lane.series is not None:
            findings += _kind(lane, lane.series) or _series(lane, lane.series)
    return findings


def _files_by_number(snapshot: Snapshot) -> dict[int, list[str]]:
    files: dict[int, list[str]] = {}
    for lane in snapshot.lanes:
        for entry in sorted(lane.entries, key=lambda entry: os.fsencode(entry.name)):
            number = number_of(entry.name)
            if number is not None:
                files.setdefault(number, []).append(entry_path(lane, entry))
    return files


def _duplicates(snapshot: Snapshot, free: int) -> list[Finding]:
    hint = f"{free:04}" if free <= HIGHEST_NUMBER else f"none: {HIGHEST_NUMBER} is taken"
    return [
        error(
            "duplicate-number",
            tuple(files),
            f"number {number:04} is used {len(files)} times: {', '.join(files)}",
            why="The order between them is left to chance, and 'patch NNNN' no longer names one patch.",
            mend="Let it be mended, so that the order stays and evidence keeps its numbers: "
            f"skippy-patches renumber\nOr rename all but one yourself. Next free number: {hint}.",
        )
        for number, files in _files_by_number(snapshot).items()
        if len(files) > 1
    ]


def _missing(lane: Lane, source: str) -> Finding:
    if source == "folder":
        mend = "Correct 'queue' in skippy-patches.yaml, or make the folder."
        return error("missing-lane", (lane.path,), "the queue's folder does not exist", mend=mend)
    mend = "Correct 'queue' in skippy-patches.yaml, or git add the patches."
    holder = "the index" if source == "index" else source
    return warning("missing-lane", (lane.path,), f"{holder} holds no file of the queue's folder", mend=mend)


def _linked(lane: Lane, source: str) -> Finding:
    holder = "the index" if source == "index" else source
    place = "its place" if lane.link == lane.path else f"the place of {lane.link}, on the way to it"
    return error(
        "linked-lane",
        (lane.path,),
        f"the queue's folder cannot be read: in {holder} a symbolic link is in {place}",
        why="git keeps the link and nothing that lies behind it, so no check would see a patch there.",
        mend="Replace the link by the folder, or let 'queue' in skippy-patches.yaml name where it leads to.",
    )


def _kind(lane: Lane, entry: Entry) -> list[Finding]:
    """Findings about a name that is not a regular file."""
    path = entry_path(lane, entry)
    if entry.kind == SYMLINK:
        target = os.fsdecode(entry.content)
        what = f"is a symbolic link to {target}, not a file"
        why = "What it points to can change, or be missing, without a change to the queue."
        return [error("not-a-file", (path,), what, why=why, mend="Replace the link by the patch itself.")]
    if entry.kind == UNMERGED:
        mend = "Resolve it, then git add the file."
        return [error("unmerged", (path,), "has a merge conflict in the index", mend=mend)]
    if entry.kind == OTHER:
        mend = "Replace it by a patch file, or rename it if it is none."
        return [error("not-a-file", (path,), "is not a regular file that can be read", mend=mend)]
    return []


def _malformed(lane: Lane, name: str, free: int) -> Finding:
    rule, suggestion = _diagnose(name, free)
    return error(
        "malformed-name",
        (join(lane.path, name),),
        f"the name {rule}",
        why="A patch is called NNNN-subject.patch, four digits; any other name has no place in the order.",
        mend=f"Rename it to {suggestion}." if suggestion else "Rename it.",
    )


def _diagnose(name: str, free: int) -> tuple[str, str]:
    """The rule that `name` breaks, and the right name when it can be told."""
    if any(char < " " or char == "\x7f" for char in name):
        return "has a control character in it", ""
    stem, _, suffix = name.rpartition(".")
    digits = stem[: len(stem) - len(stem.lstrip("0123456789"))]
    subject = stem[len(digits) :].lstrip("-_. ")
    number = int(digits[:9]) if digits else free
    suggestion = f"{number:04}-{subject}{SUFFIX}" if subject and number <= HIGHEST_NUMBER else ""
    rules = (
        (not digits, "does not begin with a number"),
        (number > HIGHEST_NUMBER, f"has a number above {HIGHEST_NUMBER}"),
        (len(digits) != 4, f"has a number of {len(digits)} digits instead of 4"),
        (not subject, "has no subject behind the number"),
        (f".{suffix}" != SUFFIX, f"ends in .{suffix} instead of {SUFFIX}, so the patch is not applied"),
    )
    broken = (rule for is_broken, rule in rules if is_broken)
    return next(broken, "has no '-' between number and subject"), suggestion


def _case_collisions(lane: Lane) -> list[Finding]:
    names: dict[str, list[str]] = {}
    for entry in lane.entries:
        names.setdefault(_folded(entry.name), []).append(entry_path(lane, entry))
    return [
        error(
            "case-collision",
            tuple(paths),
            f"the names differ only in upper and lower case: {', '.join(paths)}",
            why="On macOS and Windows a checkout keeps one of them, and the other patch is lost.",
            mend="Rename all but one.",
        )
        for paths in names.values()
        if len(paths) > 1
    ]


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    import unicodedata  # noqa: PLC0415 - macOS also folds composed and decomposed characters

    return unicodedata.normalize("NFC", name).casefold()


def _series(lane: Lane, listing: Entry) -> list[Finding]:
    path = entry_path(lane, listing)
    lines = series.parse(listing.content)
    files = {entry.name for entry in lane.entries if entry.kind == FILE}
    findings: list[Finding] = []
    seen: dict[str, int] = {}
    for line in lines:
        findings += _series_line(path, line, seen, files)
        seen.setdefault(line.name, line.number)
    for name in sorted(files - seen.keys(), key=os.fsencode):
        what = f"is not listed in {path}, so it is never applied"
        mend = f"List it in {path} at its place, or delete it."
        findings.append(error("series-extra", (join(lane.path, name), path), what, mend=mend))
    return findings


def _series_line(path: str, line: series.SeriesLine, seen: dict[str, int], files: set[str]) -> list[Finding]:
    def found(code: str, what: str, mend: str) -> Finding:
        return error(code, (path,), what, line=line.number, mend=mend)

    findings = []
    if line.is_padded:
        what = f"blanks or a CR behind '{line.name}'"
        findings.append(
            found("series-blanks", what, "Delete them: other tools take them for part of the name.")
        )
    if line.rest:
        what = f"'{line.rest}' behind '{line.name}' has no meaning here"
        findings.append(found("series-option", what, "Delete it; every patch is applied with -p1."))
    if "/" in line.name or "\\" in line.name:
        what = f"'{line.name}' lies outside the lane"
        findings.append(
            found("series-outside", what, "Move the patch into the lane and list its name alone.")
        )
    elif line.name in seen:
        what = f"'{line.name}' is listed twice, first at line {seen[line.name]}"
        findings.append(found("series-twice", what, "Delete one of the two lines."))
    elif line.name not in files:
        what = f"'{line.name}' is listed, but there is no such patch"
        findings.append(found("series-missing", what, "Add the patch, or delete the line."))
    return findings
