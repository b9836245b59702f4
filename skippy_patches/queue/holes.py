"""Holes in the numbers of a queue: what is between two numbers in use, and kept open by nothing."""

from __future__ import annotations

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skippy_patches.numbers import Band, Pinned
    from skippy_patches.queue.findings import Finding


def check(
    files: dict[int, list[str]],
    make: Callable[..., Finding],
    bands: Sequence[Band],
    pinned: Sequence[Pinned],
) -> list[Finding]:
    """Holes between numbers in use; a queue may begin at any number, and so may every band.

    files: paths of the patches by number. make: error or warning. What this calls a hole `renumber
    --close-gaps` can close, unless a record keeps it open: records are read by renumber alone.
    """
    kept = _kept_by(files, pinned)
    findings = []
    for before, after in itertools.pairwise(sorted(files)):
        band = _band(before, bands)
        if after - before == 1 or after in kept or band != _band(after, bands):
            continue
        free = [
            number
            for number in range(before + 1, after)
            if number not in kept and _band(number, bands) == band
        ]
        if free:
            findings.append(_gap(make, files[after][0], before, after, free))
    return findings


def _gap(make: Callable[..., Finding], file: str, before: int, after: int, free: list[int]) -> Finding:
    return make(
        "gap",
        (file,),
        f"no patch has {_numbers(free)} between {before:04} and {after:04}",
        why="Usually a patch was dropped or renumbered elsewhere; a reader cannot tell from a lost file.",
        mend="Close it, unless a record or a pin keeps it open: skippy-patches renumber --close-gaps\n"
        "Or say in skippy-patches.yaml that holes are meant: gaps: allow",
    )


def _band(number: int, bands: Sequence[Band]) -> Band | None:
    return next((band for band in bands if number in band), None)


def _kept_by(files: dict[int, list[str]], pinned: Sequence[Pinned]) -> set[int]:
    """The numbers that pins keep: of patches that stay where they are, and of patches that are gone."""
    slugs = {_slug(path) for paths in files.values() for path in paths}
    kept = set()
    for pin in pinned:
        paths = files.get(pin.number, [])
        is_here = any(pin.names(path) for path in paths)
        if is_here or not (paths or _slug(pin.name) in slugs):  # else it got another number, and pins nothing
            kept.add(pin.number)
    return kept


def _slug(path: str) -> str:
    return path.rpartition("/")[2].partition("-")[2]


def _numbers(free: list[int]) -> str:
    """`number 0022`, or `the numbers 0022 to 0029, 0031`."""
    if len(free) == 1:
        return f"number {free[0]:04}"
    known = set(free)
    firsts = [number for number in free if number - 1 not in known]
    lasts = [number for number in free if number + 1 not in known]
    ends = zip(firsts, lasts, strict=True)
    spans = (f"{first:04} to {last:04}" if first < last else f"{first:04}" for first, last in ends)
    return f"the numbers {', '.join(spans)}"
