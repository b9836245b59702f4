"""Scan the diff of a patch as git-apply(1) does: hunks end by their counts, never by what lines look like.

So a removed line that reads `--- a/x`, a mail signature and prose that looks like a header are all taken
for what git takes them for; tests/queue/test_diffscan.py compares the two on a corpus.
"""

from __future__ import annotations

import re

from skippy_patches.queue.binary import BINARY_LINE, read_blocks
from skippy_patches.queue.diff import ADD, DELETE, Diff, FileDiff, Hunk, Problem
from skippy_patches.queue.diffheader import GIT_LINE, Header
from skippy_patches.queue.mail import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skippy_patches.queue.mail import Mail

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)", re.DOTALL)
_SIGNS = (b" ", b"+", b"-", b"\\", b"")
_EDITS = b" +-"
_HEADS = b"d-@"  # what the lines that _header knows begin with
_BODY = re.compile(rb"[ +-]*")
_SIGNATURE = (b"-- ", b"--")  # an editor may have taken the blank


def parse(content: bytes) -> Diff:
    """Read the diff of the first message of a patch file; it begins where git-mailinfo(1) cuts."""
    return scan(read(content))


def scan(mail: Mail) -> Diff:
    """Every file's diff in `mail`, and the problems met. Never raises: a broken diff is a finding."""
    scanner = _Scanner(mail.lines, mail.diff, mail.is_complete)
    scanner.run()
    return Diff(tuple(scanner.files), tuple(scanner.problems))


class _Scanner:
    def __init__(self, lines: list[bytes], at: int, is_complete: bool) -> None:
        self.lines = lines
        self.start = at
        self.at = at
        self.is_complete = is_complete
        # Of each line; an empty one is an empty context line, as in git.
        self.signs = b"".join([line[:1] or b" " for line in lines])
        self.files: list[FileDiff] = []
        self.problems: list[Problem] = []

    def run(self) -> None:
        while self.at < len(self.lines):
            header = self._header() if self.signs[self.at] in _HEADS else None
            if header is None:
                self.at += 1
            elif header.problem is not None:
                self.problems.append(header.problem)
                self.at = header.end
                self._skip_rest()
            else:
                self.at = header.end
                self._file(header)

    def _header(self) -> Header | None:
        """The header that begins at this line, or None: text between the diffs, which git passes over."""
        line = self.lines[self.at]
        header = Header(self.at)
        if line.startswith(GIT_LINE):
            header.read_git(self.lines)
            if header.problem is None and header.end == self.at + 1:
                # git remembers its name, and stops at the next header: "inconsistent old filename".
                what = "a 'diff --git' line with no header below it ends the message"
                header.problem = Problem("corrupt-diff", header.line, what)
            return header
        if line.startswith(b"--- ") and self._begins(1, b"+++ ") and self._begins(2, b"@@ -"):
            header.read_plain(self.lines)
            return header
        if line.startswith(b"@@ -") and _HUNK.match(line):
            header.end = self.at + 1
            header.problem = Problem("corrupt-diff", self.at + 1, "a hunk without a file header above it")
            return header
        return None

    def _begins(self, ahead: int, start: bytes) -> bool:
        return self.at + ahead < len(self.lines) and self.lines[self.at + ahead].startswith(start)

    def _file(self, header: Header) -> None:
        file = header.file()
        if self._begins(0, BINARY_LINE):
            blocks, self.at, problem = read_blocks(self.lines, self.at + 1)
            file = file._replace(blocks=blocks, is_binary=True)
            self._report(problem)
        elif self._is_binary_note():
            what = f"the binary content of {file.path} is not in the patch"
            file = file._replace(is_binary=True)
            self._report(Problem("missing-binary", self.at + 1, what))
        else:
            file = file._replace(hunks=tuple(self._hunks(file)))
        if not (file.hunks or file.is_binary or header.changes_metadata):
            self._report_once(Problem("corrupt-diff", file.line, f"the diff of {file.path} changes nothing"))
        self.files.append(file)

    def _is_binary_note(self) -> bool:
        starts = self._begins(0, b"Binary files ") or self._begins(0, b"Files ")
        return starts and self.lines[self.at].endswith(b" differ")

    def _hunks(self, file: FileDiff) -> list[Hunk]:
        hunks: list[Hunk] = []
        while self.signs[self.at : self.at + 1] == b"@" and self._begins(0, b"@@ -"):
            match = _HUNK.match(self.lines[self.at])
            if match is None:
                self._report(Problem("corrupt-hunk", self.at + 1, "the @@ line cannot be read"))
                break
            hunk, problem = self._hunk(match)
            hunks.append(hunk)
            problem = problem or _contradiction(file, hunk)
            if problem is not None:
                self._report(problem)
                self._skip_rest()
                break
        return hunks

    def _hunk(self, match: re.Match[bytes]) -> tuple[Hunk, Problem | None]:
        """Read by count. Leaves `at` below the hunk, or at the line that cannot belong to it."""
        start, old_count, new_start, new_count, heading = match.groups(b"1")
        ranges = (int(start), int(old_count), int(new_start), int(new_count))
        first = self.at + 1
        end, old, new = self._span(first, ranges[1], ranges[3])
        problem = self._shortage(first - 1, end, old, new) if old or new else None
        if problem is None:
            if self.signs[end : end + 1] == b"\\" and _is_end_note(self.lines[end]):
                end += 1
            problem = self._excess(first, end)
        self.at = end
        return Hunk(first, *ranges, heading.strip(), self.lines[first:end]), problem

    def _span(self, at: int, old: int, new: int) -> tuple[int, int, int]:
        """The index below the hunk whose lines begin at `at`, and how many old and new lines are missing.

        Nearly every hunk goes to the next line that can belong to none, or to the signature above that. Where
        the signs up to there add up to its ranges, walking over them would end there as well.
        """
        match = _BODY.match(self.signs, at)
        end = match.end() if match else at
        added, removed = self.signs.count(b"+", at, end), self.signs.count(b"-", at, end)
        surplus = end - at - added - old
        if end - at - removed == new and surplus == 0:
            return end, 0, 0
        if end - at - removed == new and surplus == 1 and self.lines[end - 1] in _SIGNATURE:
            return end - 1, 0, 0
        return _walk(self.lines, at, old, new)

    def _shortage(self, header: int, end: int, old: int, new: int) -> Problem:
        """Explain a hunk at index `header` that still lacks lines at index `end`, where git gives up."""
        own, last = f"the hunk at line {header + 1}", end
        if self.lines[end - 1] in _SIGNATURE and end - 1 > header:
            last, old = end - 1, old + 1  # the mail signature was counted as a removed line
        if old == new and self._is_end(last) and _lacks_context(self.lines[header + 1 : last], old):
            lines = "a blank context line is" if old == 1 else f"{old} blank context lines are"
            what = f"{lines} missing at the end of {own}"
            return Problem("stripped-blanks", last + 1, what, self._told(end))
        ranges = self.lines[header].split(b"@@")[1].strip().decode("ascii")
        what = f"{own} ends here, but its ranges ({ranges}) ask for {old} more old and {new} more new lines"
        return Problem("corrupt-hunk", end + 1, what, self._told(end))

    def _told(self, at: int) -> str:
        """How git words it: it goes on to a line that no hunk can have, and counts from where it cut."""
        while at < len(self.lines) and self.lines[at][:1] in _SIGNS:
            at += 1
        line = at + 1 - self.start
        return f"git am says 'corrupt patch at line {line}', counting from line {self.start + 1} of the file."

    def _is_end(self, at: int) -> bool:
        """Whether a hunk may be over at `at`: end of file, signature, next hunk or next file."""
        return (
            at >= len(self.lines)
            or self.lines[at] in _SIGNATURE
            or self.lines[at].startswith((GIT_LINE, b"@@ -"))
        )

    def _excess(self, first: int, end: int) -> Problem | None:
        """A hunk whose counts are met but whose lines go on: git drops them without a word."""
        if end == len(self.lines):
            if self.is_complete:
                return None
            what = f"the last line of the hunk at line {first} has no newline"
            return Problem("corrupt-hunk", end, what, "git am says 'corrupt patch' about the line.")
        line = self.lines[end]
        if not line or self.signs[end] not in _EDITS or line in _SIGNATURE or line.startswith(b"--- "):
            return None
        what = f"the hunk at line {first} goes on here, after as many lines as its @@ line announces"
        return Problem("corrupt-hunk", end + 1, what, "git drops the surplus lines without a word.")

    def _skip_rest(self) -> None:
        """Go to the next file's header: what is left of a broken file would only be reported again."""
        while self.at < len(self.lines) and not self.lines[self.at].startswith(GIT_LINE):
            self.at += 1

    def _report(self, problem: Problem | None) -> None:
        if problem is not None:
            self.problems.append(problem)

    def _report_once(self, problem: Problem) -> None:
        if not self.problems or self.problems[-1].line < problem.line:
            self.problems.append(problem)


def _is_end_note(line: bytes) -> bool:
    r"""Whether `line` is git's `\\ No newline at end of file`, in whatever language."""
    return line.startswith(b"\\ ") and len(line) >= 12


def _walk(lines: list[bytes], at: int, old: int, new: int) -> tuple[int, int, int]:
    """Walk over the lines of a hunk: the index below it, and how many old and new lines are missing."""
    end = len(lines)
    while (old or new) and at < end:
        sign = lines[at][:1]
        if sign == b" " or not sign:  # an empty line is an empty context line, as in git
            if not old or not new:
                break
            old -= 1
            new -= 1
        elif sign == b"+" and new:
            new -= 1
        elif sign == b"-" and old:
            old -= 1
        elif not (sign == b"\\" and lines[at].startswith(b"\\ ")):
            break
        at += 1
    return at, old, new


def _lacks_context(lines: list[bytes], missing: int) -> bool:
    """Whether `missing` more lines fit on the end of a hunk: git gives it as many as the start, or 3."""
    leading, trailing = (
        next((at for at, line in enumerate(side) if line[:1] not in (b" ", b"")), len(lines))
        for side in (lines, lines[::-1])
    )
    return trailing + missing <= max(leading, 3)


def _contradiction(file: FileDiff, hunk: Hunk) -> Problem | None:
    if file.kind == ADD and hunk.old_count:
        return Problem("corrupt-hunk", hunk.line, f"{file.path} is new, but the hunk asks for old lines")
    if file.kind == DELETE and hunk.new_count:
        return Problem("corrupt-hunk", hunk.line, f"{file.path} is deleted, but the hunk leaves lines in it")
    return None
