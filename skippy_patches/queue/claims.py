"""Numbers that branches have taken: the next free one lies above them all.

Two branches that each take the next number merge cleanly, and then one number names two patches (CASES 10).
So a number counts as taken when any local or remote branch that is known here uses it.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
from typing import TYPE_CHECKING

from skippy_patches.errors import SkippyError, UsageError
from skippy_patches.project_git import ProjectGit
from skippy_patches.queue.commits import read_objects
from skippy_patches.queue.patch import HIGHEST_NUMBER, join, number_of
from skippy_patches.queue.reader import lane_path
from skippy_patches.yamlfile import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.config import Project
    from skippy_patches.numbers import Band
    from skippy_patches.queue.snapshot import Snapshot

BRANCHES = ("refs/heads", "refs/remotes")


@dataclasses.dataclass(frozen=True, kw_only=True, order=True)
class Claim:
    """A number in use on branches. file: of the patch, relative to the project; blob: the id of its bytes.

    refs: full names of the branches that hold this very file, sorted.
    """

    number: int
    file: str
    blob: str
    refs: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """As commands print it."""
        return {"number": self.number, "file": self.file, "refs": list(self.refs)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Free:
    """The next free number, and the claims at or above the one that the project's own folder would give."""

    number: int
    claimed_by: tuple[Claim, ...]


class NoSuchBand(UsageError):
    """--band names none of the configuration's bands."""

    def __init__(self, name: str, bands: Sequence[Band]) -> None:
        super().__init__(
            f"There is no band '{name}' in skippy-patches.yaml.",
            mend=suggest(name, [band.name for band in bands])
            if bands
            else f"Name it there, for example: bands: {{{name}: 100-199}}",
        )


class NumbersUsedUp(SkippyError):
    """The highest number that four digits can hold is taken."""

    exit_status = 1

    def __init__(self) -> None:
        super().__init__(
            f"There is no next number: a patch has number {HIGHEST_NUMBER}, the highest of four digits.",
            why="Holes below it are not filled: their numbers may be known as those of other patches.",
            mend="Give the last patches lower numbers, or renumber the queue in a commit of its own.",
        )


class NumbersKept(UsageError):
    """Every number that is left lies in a band."""

    def __init__(self, bands: Sequence[Band], highest: int) -> None:
        kept = ", ".join(f"{band.name}: {band.first}-{band.last}" for band in bands)
        super().__init__(
            f"There is no number behind {highest:04d} that lies outside of the bands.",
            why=f"skippy-patches.yaml keeps them: {kept}.",
            mend=f"Name the band, for example: next-number --band {bands[0].name}. Or narrow one.",
        )


class BandFull(SkippyError):
    """The last number of a band is taken."""

    exit_status = 1

    def __init__(self, band: Band) -> None:
        super().__init__(
            f"The band '{band.name}' has no free number: {band.last:04d}, its last one, is taken.",
            why="Holes in it are not filled: their numbers may be known as those of other patches.",
            mend="Widen the band in skippy-patches.yaml, or renumber the patches in it.",
        )


class NumbersClaimed(SkippyError):
    """The folder leaves numbers free, and a branch claims the last of them."""

    exit_status = 1

    def __init__(self, claim: Claim, band: Band | None) -> None:
        where = f" in band '{band.name}'" if band else ""
        super().__init__(
            f"There is no next number{where}: {claim.number:04d} is claimed by {claim.file}"
            f" on {shown(claim.refs)}.",
            why="Nothing above it is free in the band."
            if band
            else "Nothing above it, of four digits, is free.",
            mend="Renumber that branch or delete it. To count this folder alone: next-number --local",
        )


def claims(project: Project, repository: ProjectGit | None = None) -> tuple[Claim, ...]:
    """The numbers that all local and remote branches use in the project's lanes, by number and file.

    Three processes, however many branches there are. Without a git repository there are no claims.
    repository: the project's, where it is open already.
    """
    git = repository or ProjectGit.open(project.root)
    if git is None:
        return ()
    lanes = [lane_path(project, lane) for lane in project.queue]
    places = {lane: posixpath.normpath(git.prefix + lane) for lane in lanes}
    inside = {
        lane: place for lane, place in places.items() if not place.startswith("..") and "\n" not in place
    }
    trees = _lane_trees(git, _branches(git), inside)
    contents = read_objects(git, sorted({tree for tree, _ in trees}))
    holders: dict[tuple[int, str, str], set[str]] = {}
    for (tree, lane), refs in trees.items():
        for name, blob in _files(contents.get(tree, b""), len(tree) // 2):
            number = number_of(name)
            if number is not None:
                holders.setdefault((number, join(lane, name), blob), set()).update(refs)
    return tuple(
        Claim(number=number, file=file, blob=blob, refs=tuple(sorted(refs)))
        for (number, file, blob), refs in sorted(holders.items())
    )


def next_free(project: Project, snapshot: Snapshot, claimed: Sequence[Claim], band: str = "") -> Free:
    """The next free number of the project, or of its band called `band`.

    One more than the highest number in `snapshot` and among `claimed`, passing over bands. Where bands take
    all numbers above that, one more than the highest outside of bands. In a band: one more than the highest
    there, else its first. Raises NumbersUsedUp, NumbersClaimed, BandFull, NoSuchBand.
    """
    own = sorted(_numbers(snapshot))
    everything = sorted([*own, *(claim.number for claim in claimed)])
    number, alone = (_next(project.bands, numbers, band) for numbers in (everything, own))
    above = tuple(claim for claim in claimed if alone is not None and claim.number >= alone)
    if number is None:
        raise _used_up(project.bands, band, claimed if alone is not None else (), everything)
    pushed = (claim for claim in above if claim.number < number)
    return Free(number=number, claimed_by=tuple(pushed) if number != alone else ())


def shown(refs: Sequence[str]) -> str:
    """Branches as people call them, at most three of them: `main, origin/other`."""
    names = [ref.removeprefix("refs/heads/").removeprefix("refs/remotes/") for ref in refs]
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


def _numbers(snapshot: Snapshot) -> Iterator[int]:
    for lane in snapshot.lanes:
        for entry in lane.entries:
            number = number_of(entry.name)
            if number is not None:
                yield number


def _next(bands: Sequence[Band], numbers: Sequence[int], name: str) -> int | None:
    """The next number behind `numbers`, or None when there is none."""
    if name:
        band = _band(bands, name)
        highest = max((number for number in numbers if number in band), default=band.first - 1)
        return highest + 1 if highest < band.last else None
    outside = [number for number in numbers if _is_in(number, None, bands)]
    candidates = (_outside(bands, max(known, default=0) + 1) for known in (numbers, outside))
    return next((number for number in candidates if number <= HIGHEST_NUMBER), None)


def _outside(bands: Sequence[Band], number: int) -> int:
    """The first number from `number` on that lies in no band."""
    for band in bands:  # lowest first
        if number in band:
            number = band.last + 1
    return number


def _band(bands: Sequence[Band], name: str) -> Band:
    for band in bands:
        if band.name == name:
            return band
    raise NoSuchBand(name, bands)


def _used_up(
    bands: Sequence[Band], name: str, claimed: Sequence[Claim], numbers: Sequence[int]
) -> SkippyError:
    """claimed: in ascending order; empty when the folder alone leaves no number. numbers: all of them."""
    band = _band(bands, name) if name else None
    guilty = [claim for claim in claimed if _is_in(claim.number, band, bands)]
    if guilty:
        return NumbersClaimed(guilty[-1], band)
    if band:
        return BandFull(band)
    is_used_up = HIGHEST_NUMBER in numbers and _is_in(HIGHEST_NUMBER, None, bands)
    return NumbersUsedUp() if is_used_up else NumbersKept(bands, max(numbers, default=0))


def _is_in(number: int, band: Band | None, bands: Sequence[Band]) -> bool:
    """Whether a number lies in the band, or for None in no band."""
    return number in band if band else not any(number in each for each in bands)


def _branches(git: ProjectGit) -> dict[str, list[str]]:
    """Commit -> the branches that are there. A symbolic ref, origin/HEAD, is another name of a branch."""
    listed = git.run("for-each-ref", "--format=%(objectname) %(symref) %(refname)", *BRANCHES)
    commits: dict[str, list[str]] = {}
    for line in listed.text.splitlines():
        commit, symbolic, ref = line.split(" ", 2)
        if not symbolic:
            commits.setdefault(commit, []).append(ref)
    return commits


def _lane_trees(
    git: ProjectGit, branches: dict[str, list[str]], places: dict[str, str]
) -> dict[tuple[str, str], list[str]]:
    """(tree, lane) -> the branches whose lane is that tree."""
    asked = [(commit, lane, place) for commit in branches for lane, place in places.items()]
    if not asked:
        return {}
    names = "".join(f"{commit}:{'' if place == '.' else place}\n" for commit, _, place in asked)
    form = "--batch-check=%(objecttype) %(objectname)"
    answers = git.run("cat-file", form, stdin=os.fsencode(names)).text.split("\n")
    trees: dict[tuple[str, str], list[str]] = {}
    for (commit, lane, _), answer in zip(asked, answers, strict=False):
        kind, _, tree = answer.partition(" ")
        if kind == "tree":
            trees.setdefault((tree, lane), []).extend(branches[commit])
    return trees


def _files(tree: bytes, id_size: int) -> Iterator[tuple[str, str]]:
    """Name and id of every entry of a tree: `MODE NAME NUL ID`, one after the other, ids as raw bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        name = tree[tree.index(b" ", at) + 1 : end]
        at = end + 1 + id_size
        yield os.fsdecode(name), tree[end + 1 : at].hex()
