"""Checks of what the patches change: whole diffs, something in them, and each change once."""

from __future__ import annotations

from skippy_patches.lighttuple import NamedTuple
from skippy_patches.queue.findings import Finding, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from skippy_patches.queue.diff import BinaryBlock, Diff, FileDiff, Problem
    from skippy_patches.queue.mail import Mail
    from skippy_patches.queue.patch import Patch

_BLANKS = b" \t\r\v\f"
_EXPORT = "Export the patch again from its commit"
_COUNTS = (
    "A diff was edited by hand or cut; git goes by the counts of the @@ line, not by what lines look like."
)
# code -> (why, mend) of the scanner's problems.
_EXPLANATIONS = {
    "stripped-blanks": (
        "An editor or a mail program took blank lines off the end; a blank context line is a single space.",
        f"Put the lines back, a space in each, or: {_EXPORT}.",
    ),
    "corrupt-hunk": (_COUNTS, f"{_EXPORT}, or let git count again: git apply --recount"),
    "corrupt-diff": ("git apply stops here, or skips it.", f"{_EXPORT}."),
    "no-prefix": (
        "It was made under diff.noprefix; with -p1, git am strips the first folder of every path.",
        f"{_EXPORT}: git format-patch --src-prefix=a/ --dst-prefix=b/",
    ),
    "truncated-binary": ("The file was cut short or edited.", f"{_EXPORT}: git format-patch --binary"),
    "missing-binary": (
        "A text diff only notes that the file differs.",
        f"{_EXPORT}: git format-patch --binary",
    ),
}


class Reading(NamedTuple):
    """A patch and its diff."""

    patch: Patch
    diff: Diff


def check(reading: Reading, mail: Mail) -> list[Finding]:
    """Findings about the diff of one patch."""
    files = (reading.patch.path,)
    findings = [_broken(files, problem) for problem in reading.diff.problems]
    is_readable = not mail.text(b"content-type").lower().startswith(b"multipart/")
    if not reading.diff.files and not findings and is_readable:
        findings.append(_empty(files))
    return findings


def check_repeats(readings: Sequence[Reading]) -> list[Finding]:
    """The same change under two names, as git-patch-id(1) compares: no line numbers, blanks or index lines.

    Applied, taken back and applied again is no repeat.
    """
    findings = []
    last: dict[Hashable, int] = {}
    for at, reading in enumerate(readings):
        identity = _identity(reading.diff)
        if not identity:
            continue
        before = last.get(identity)
        if before is not None and not _is_reverted(readings, before, at):
            findings.append(_repeat(readings[before].patch, reading.patch))
        last[identity] = at
    return findings


def _broken(files: tuple[str, ...], problem: Problem) -> Finding:
    why, mend = _EXPLANATIONS[problem.code]
    why = f"{why}\n{problem.why}" if problem.why else why
    return error(problem.code, files, problem.what, line=problem.line, why=why, mend=mend)


def _empty(files: tuple[str, ...]) -> Finding:
    return error(
        "empty-patch",
        files,
        "the patch changes nothing",
        why="There is no diff in it: a cover letter, a commit that became empty, or a file cut short.",
        mend="Delete it if upstream has the change or it was never one; else export it again.",
    )


def _repeat(first: Patch, second: Patch) -> Finding:
    return error(
        "same-change",
        (second.path, first.path),
        f"makes the same change as {first.path}",
        why="Two branches took up the same patch; the second does not apply, or applies twice.",
        mend="Delete one of the two.",
    )


def _identity(diff: Diff) -> tuple[Hashable, ...]:
    return tuple(sorted(_file_identity(file) for file in diff.files))


def _file_identity(file: FileDiff) -> tuple[str, str, str, str, bytes]:
    mode = file.new_mode or "" if file.new_mode != file.old_mode else ""
    text = _joined([*(hunk.lines for hunk in file.hunks), *_data(file.blocks[:1])])
    return file.old_path or "", file.new_path or "", file.kind, mode, text


def _is_reverted(readings: Sequence[Reading], first: int, second: int) -> bool:
    """Whether a patch between the two takes back what the first of them does."""
    undone = {(new, old) for old, new in _sides(readings[first].diff)}
    return any(_sides(reading.diff) == undone for reading in readings[first + 1 : second])


def _sides(diff: Diff) -> set[tuple[Hashable, Hashable]]:
    """Of each file, what the hunks touch: before and after."""
    return {
        (
            (file.old_path, _joined([*(hunk.preimage for hunk in file.hunks), *_data(file.blocks[1:])])),
            (file.new_path, _joined([*(hunk.postimage for hunk in file.hunks), *_data(file.blocks[:1])])),
        )
        for file in diff.files
    }


def _data(blocks: tuple[BinaryBlock, ...]) -> list[list[bytes]]:
    return [block.lines for block in blocks]


def _joined(parts: list[list[bytes]]) -> bytes:
    return b"\n".join([b"\n".join(part) for part in parts if part]).translate(None, _BLANKS)
