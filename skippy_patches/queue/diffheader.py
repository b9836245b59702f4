"""The header of one file's diff: `diff --git` with its extended lines, or a plain `---`/`+++` pair."""

from __future__ import annotations

from skippy_patches.queue import diff
from skippy_patches.queue.diff import FileDiff, Problem
from skippy_patches.queue.diffpath import (
    NULL_DEVICE,
    decoded,
    git_line_names,
    header_name,
    lacks_prefixes,
    plain_name,
    strip_prefix,
)

GIT_LINE = b"diff --git "
# The extended header lines, in git's words. What follows each is handled in Header._take.
_EXTENDED = (
    b"index ", b"--- ", b"+++ ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ",
    b"similarity index ", b"dissimilarity index ", b"rename from ", b"rename to ", b"copy from ", b"copy to ",
    b"rename old ", b"rename new ",
)  # fmt: skip


class Header:
    """Facts of one header, gathered line by line. `end`: index of the line below it."""

    def __init__(self, at: int) -> None:
        self.line = at + 1
        self.end = at
        self.kind = diff.MODIFY
        self.old: bytes | None = None
        self.new: bytes | None = None
        self.old_mode: str | None = None
        self.new_mode: str | None = None
        self.problem: Problem | None = None

    @property
    def changes_metadata(self) -> bool:
        """Whether the header alone changes something: a mode, a name, an empty file's existence."""
        return self.kind != diff.MODIFY or self.old_mode != self.new_mode

    def file(self) -> FileDiff:
        """The file's diff, as yet without content."""
        old = None if self.kind == diff.ADD else decoded(self.old)
        new = None if self.kind == diff.DELETE else decoded(self.new)
        return FileDiff(self.line, self.kind, old, new, self.old_mode, self.new_mode, (), (), False)

    def read_git(self, lines: list[bytes]) -> None:
        """Read `diff --git` and the lines that belong to it. Sets `problem` when no name can be found."""
        text = lines[self.end][len(GIT_LINE) :]
        self.end += 1
        while self.end < len(lines) and self._take(lines[self.end]):
            self.end += 1
        names = git_line_names(text)
        if names is not None:
            self.old = self.old or strip_prefix(names[0])
            self.new = self.new or strip_prefix(names[1])
        if lacks_prefixes(text):
            self.problem = Problem("no-prefix", self.line, "the diff has no a/ and b/ in front of file names")
        elif (not self.new and self.kind != diff.DELETE) or (not self.old and self.kind != diff.ADD):
            self.problem = Problem("corrupt-diff", self.line, "the diff header does not name its file")

    def read_plain(self, lines: list[bytes]) -> None:
        """Read a `---` line and the `+++` line below it."""
        for line in lines[self.end : self.end + 2]:
            self._take(line)
        self.end += 2
        if not self.old and self.kind != diff.ADD:
            self.old = self.new
        if not self.new and self.kind != diff.DELETE:
            self.new = self.old
        if not self.old and not self.new:
            self.problem = Problem("corrupt-diff", self.line, "the diff header does not name its file")

    def _take(self, line: bytes) -> bool:
        """Take one extended line; False when it is none."""
        prefix = next((word for word in _EXTENDED if line.startswith(word)), None)
        if prefix is None:
            return False
        rest = line[len(prefix) :]
        if prefix == b"--- ":
            self._take_old(header_name(rest))
        elif prefix == b"+++ ":
            self._take_new(header_name(rest))
        elif b"mode" in prefix:
            self._take_mode(prefix, rest.strip().decode("ascii", "replace"))
        elif prefix == b"index ":
            mode = rest.partition(b" ")[2].strip().decode("ascii", "replace")
            self.old_mode, self.new_mode = self.old_mode or mode or None, self.new_mode or mode or None
        elif prefix.startswith((b"rename", b"copy")):
            self._take_move(prefix, plain_name(rest))
        return True

    def _take_old(self, name: bytes | None) -> None:
        if name == NULL_DEVICE:
            self.kind = diff.ADD
        elif name and not self.old:
            self.old = strip_prefix(name)

    def _take_new(self, name: bytes | None) -> None:
        if name == NULL_DEVICE:
            self.kind = diff.DELETE
        elif name and not self.new:
            self.new = strip_prefix(name)

    def _take_mode(self, prefix: bytes, mode: str) -> None:
        if prefix == b"new file mode ":
            self.kind, self.new_mode = diff.ADD, mode
        elif prefix == b"deleted file mode ":
            self.kind, self.old_mode = diff.DELETE, mode
        elif prefix == b"old mode ":
            self.old_mode = mode
        else:
            self.new_mode = mode

    def _take_move(self, prefix: bytes, name: bytes | None) -> None:
        self.kind = diff.RENAME if prefix.startswith(b"rename") else diff.COPY
        if prefix.endswith((b"from ", b"old ")):
            self.old = name
        else:
            self.new = name
