"""The diff of a patch, as values.

`diffscan.parse` reads them. The format is the extended diff of
git-diff(1), "Generating patch text with -p", and the rules are those of git-apply(1) with -p1.
"""

from __future__ import annotations

from skippy_patches.lighttuple import NamedTuple

MODIFY = "modify"
ADD = "add"
DELETE = "delete"
RENAME = "rename"
COPY = "copy"

SYMLINK_MODE = "120000"


class Hunk(NamedTuple):
    r"""One hunk.

    line: 1-based, of its @@ line, in the patch file. The ranges are those of that line. lines: every line
    below it with its sign; no newlines; `\ No newline at end of file` lines are among them.
    """

    line: int
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: bytes
    lines: list[bytes]

    @property
    def preimage(self) -> list[bytes]:
        """The lines that must be in the file, without sign and newline."""
        return [line[1:] for line in self.lines if line[:1] not in (b"+", b"\\")]

    @property
    def postimage(self) -> list[bytes]:
        """The lines that take their place."""
        return [line[1:] for line in self.lines if line[:1] not in (b"-", b"\\")]


class BinaryBlock(NamedTuple):
    """A block of a GIT binary patch. method: literal or delta. size: of the inflated data, in bytes.

    lines: base85 with a length character in front, as they stand.
    """

    line: int
    method: str
    size: int
    lines: list[bytes]


class FileDiff(NamedTuple):
    """What the patch does to one file.

    line: 1-based, where its header begins. kind: modify, add, delete, rename or copy. Paths are without
    a/ and b/, bytes that are not UTF-8 as surrogates; old_path is None for add, new_path for delete. Modes
    are octal text, None where the patch does not say. blocks: the new content, then (if there is one) the
    way back. is_binary: the file differs in a way that hunks do not show.
    """

    line: int
    kind: str
    old_path: str | None
    new_path: str | None
    old_mode: str | None
    new_mode: str | None
    hunks: tuple[Hunk, ...]
    blocks: tuple[BinaryBlock, ...]
    is_binary: bool

    @property
    def path(self) -> str:
        """The new path, or the old one of a deleted file."""
        return self.new_path or self.old_path or ""

    @property
    def symlink_target(self) -> bytes | None:
        """Where the symlink that the patch writes points to; None when it writes none."""
        if self.new_mode != SYMLINK_MODE or self.new_path is None or not self.hunks:
            return None
        return b"\n".join(self.hunks[-1].postimage)

    @property
    def insertions(self) -> int:
        """Added lines."""
        return sum(line[:1] == b"+" for hunk in self.hunks for line in hunk.lines)

    @property
    def deletions(self) -> int:
        """Removed lines."""
        return sum(line[:1] == b"-" for hunk in self.hunks for line in hunk.lines)


class Problem(NamedTuple):
    """A place where the diff is not what it says it is. code, what, why: those of its Finding."""

    code: str
    line: int
    what: str
    why: str = ""


class Diff(NamedTuple):
    """Every file's diff in order, and what kept the scanner from reading more."""

    files: tuple[FileDiff, ...]
    problems: tuple[Problem, ...]
