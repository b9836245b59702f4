"""Why a patch does not apply: the hunk, the file, and the lines there that look most like it."""

from __future__ import annotations

import collections
import difflib
import re
from typing import TYPE_CHECKING

from skippy_patches.queue import diffscan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.diff import Hunk
    from skippy_patches.queue.patch import Patch

_MOST_FILES = 3
_MOST_LINES = 16
_FAILED = re.compile(r"error: patch failed: (?P<path>.*):(?P<line>\d+)$")
# Said about a file again, after its failed hunk was named.
_REPEATED = re.compile(r"error: .*: patch does not apply$")
_IN_WORDS = (
    (re.compile(r"error: (.*): does not exist in index$"), "{}: the patch changes it, and it is not there"),
    (re.compile(r"error: (.*): already exists in index$"), "{}: the patch adds it, and it is there already"),
)


# What is about git or the machine, not about the patch: said of a disk that is full, a folder that is closed.
_TROUBLE = re.compile(
    r"unable to (?!find filename)|write error|read error|No space left|[Qq]uota exceeded|[Pp]ermission"
    r"|Input/output error|Read-only file system|[Oo]ut of memory|annot allocate memory|Too many open files"
    r"|^fatal: (?!.*(?:patch|header|input))"
)
_ABOUT_THE_PATCH = (_FAILED, _REPEATED, *(pattern for pattern, _ in _IN_WORDS))


def is_trouble(said: str) -> bool:
    """Whether `git apply` ended for a reason that says nothing of the patch; said: its stderr."""
    lines = said.splitlines()
    return not lines or any(
        _TROUBLE.search(line) for line in lines if not any(each.match(line) for each in _ABOUT_THE_PATCH)
    )


def failure(repository: Repository, parent: ObjectId, patch: Patch, said: str) -> str:
    """What `git apply` said on stderr in `said`, with what it does not say: a few lines of text."""
    paragraphs = list(_paragraphs(repository, parent, patch, said.splitlines()))
    more = len(paragraphs) - _MOST_FILES
    return "\n".join([*paragraphs[:_MOST_FILES], *([f"and {more} more files"] if more > 0 else [])])


def _paragraphs(repository: Repository, parent: ObjectId, patch: Patch, said: Sequence[str]) -> Iterator[str]:
    for line in said:
        failed = _FAILED.match(line)
        if failed:
            yield _about_hunk(repository, parent, patch, failed["path"], int(failed["line"]))
        elif not _REPEATED.match(line):
            yield _in_words(line)


def _in_words(line: str) -> str:
    for pattern, words in _IN_WORDS:
        match = pattern.match(line)
        if match:
            return words.format(match[1])
    return line.removeprefix("error: ")


def _about_hunk(repository: Repository, parent: ObjectId, patch: Patch, path: str, start: int) -> str:
    hunk = _hunk(patch, path, start)
    found = _lines(repository, parent, path)
    if hunk is None or found is None:
        return f"{path}: a hunk for line {start} does not fit"
    header = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    title = f"{path}: the hunk at {patch.path}:{hunk.line} ({header}) does not fit"
    if _lacks_context(hunk):
        return f"{title}\nit has no lines of context to place it by: export it again with -U3"
    present = _whole(hunk.postimage, found)
    if present is not None and len(hunk.postimage) > len(hunk.preimage):
        return f"{title}\nits change is there already, from line {present + 1}"
    return "\n".join([title, *_nearest(hunk.preimage, found, start - 1)])


def _hunk(patch: Patch, path: str, start: int) -> Hunk | None:
    """The hunk of `patch` for `path` that git names by its first line in the old file."""
    for file in diffscan.parse(patch.content).files:
        if path in (file.old_path, file.new_path):
            for hunk in file.hunks:
                if hunk.old_start == start:
                    return hunk
    return None


def _lacks_context(hunk: Hunk) -> bool:
    """Git apply then wants it at the very end of the file (git-apply(1), --unidiff-zero)."""
    return not any(line[:1] in (b" ", b"") for line in hunk.lines)


def _lines(repository: Repository, parent: ObjectId, path: str) -> list[bytes] | None:
    """The file's lines in the tree of `parent`; None when there is no such file."""
    try:
        with repository.objects() as objects:
            found = objects.commit(parent).tree / path
            if found.type != "blob":  # a submodule: its content is another repository's
                return None
            content: bytes = found.data_stream.read()
    except KeyError:
        return None
    return content.removesuffix(b"\n").split(b"\n")


def _whole(wanted: Sequence[bytes], lines: Sequence[bytes]) -> int | None:
    """Where all of `wanted` stands in `lines`."""
    last = len(lines) - len(wanted)
    places = (at for at in range(last + 1) if lines[at] == wanted[0])
    return next((at for at in places if list(lines[at : at + len(wanted)]) == list(wanted)), None)


def _nearest(wanted: Sequence[bytes], lines: Sequence[bytes], expected: int) -> list[str]:
    """The place where most lines of `wanted` stand in their order, as a comparison."""
    place = _best_place(wanted, lines, expected)
    if place is None:
        return [f"none of its {len(wanted)} lines is in the file"]
    there = lines[max(place, 0) : place + len(wanted)]
    compared = difflib.ndiff(_texts(wanted), _texts(there))
    shown = [line for line in compared if not line.startswith("?")]
    first = max(place, 0) + 1
    return [
        f"most like it are lines {first}-{first + len(there) - 1} (- the patch expects, + the file has):",
        *shown[:_MOST_LINES],
        *(["..."] if len(shown) > _MOST_LINES else []),
    ]


def _best_place(wanted: Sequence[bytes], lines: Sequence[bytes], expected: int) -> int | None:
    """Every line that both have votes for the place that it implies; ties go to the one nearest `expected`.

    Blank lines and lone braces are everywhere and vote for nothing.
    """
    standing: dict[bytes, list[int]] = collections.defaultdict(list)
    for number, line in enumerate(lines):
        standing[line.strip()].append(number)
    votes = collections.Counter(
        at - offset
        for offset, line in enumerate(wanted)
        if len(line.strip()) > 1
        for at in standing.get(line.strip(), ())
    )
    return max(votes, key=lambda place: (votes[place], -abs(place - expected)), default=None)


def _texts(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace").replace("\r", "\\r") for line in lines]
