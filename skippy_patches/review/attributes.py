r"""What the project's .gitattributes files say about the queue, as one file that a bare repository reads.

git takes from the attributes how a file merges (`*.patch -merge`, `series merge=union`): of a file in every
folder on the way to the one that merges, the innermost winning (gitattributes(5)). A repository without a
work tree reads `info/attributes` alone, so the patterns of every folder are written there with the folder in
front.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from skippy_patches.queue.commits import deciding_files
from skippy_patches.queue.reader import with_parents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skippy_patches.config import Project
    from skippy_patches.queue.commits import Committed

NAME = ".gitattributes"
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"(.*)', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_GLOBS = re.compile(rb"[*?\[\\]")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def files(commit: Committed, project: Project) -> set[str]:
    """The .gitattributes that decide about the queue of `project`, paths from the top of the repository."""
    folders = {commit.path(lane) for lane in project.queue}
    folders |= {posixpath.dirname(commit.path(file)) or "." for file in deciding_files(project)}
    return {posixpath.join(place, NAME) for folder in folders for place in with_parents(folder)} | {NAME}


def joined(contents: Mapping[str, bytes]) -> bytes:
    """One file that says what these say, by path from the top. Outer folders come first: they yield."""
    paths = sorted(contents, key=lambda path: (path.count("/"), path))
    return b"".join(_prefixed(posixpath.dirname(path), contents[path]) for path in paths)


def _prefixed(folder: str, content: bytes) -> bytes:
    if not folder:
        return content.removeprefix(b"\xef\xbb\xbf") + b"\n"
    return b"".join(_lines(folder.encode("utf-8", "surrogateescape"), content))


def _lines(folder: bytes, content: bytes) -> Iterable[bytes]:
    """The lines that mean something below the top: git ignores macros there, negated patterns anywhere."""
    place = _GLOBS.sub(rb"\\\g<0>", folder)
    for raw in content.removeprefix(b"\xef\xbb\xbf").splitlines():
        line = raw.strip(b" \t\r\n")
        if not line or line.startswith((b"#", b"[attr]")):
            continue
        pattern, words = _split(line)
        if not pattern.startswith(b"!"):
            between = b"" if pattern.startswith(b"/") else b"/" if b"/" in pattern else b"/**/"
            yield _quoted(place + between + pattern) + b" " + words + b"\n"


def _split(line: bytes) -> tuple[bytes, bytes]:
    """Pattern and attributes; a pattern may be quoted as git quotes paths."""
    match = _QUOTED.fullmatch(line)
    if match:
        return _ESCAPE.sub(_unescaped, match[1]), match[2].strip()
    pattern, *words = re.split(rb"[ \t]+", line, maxsplit=1)
    return pattern, words[0] if words else b""


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    return bytes([int(escape, 8) & 255]) if len(escape) == 3 else _LETTERS.get(escape, escape)


def _quoted(pattern: bytes) -> bytes:
    escaped = b"".join(
        b"\\" + bytes([byte])
        if byte in b'"\\'
        else b"\\%03o" % byte
        if byte < 32 or byte > 126
        else bytes([byte])
        for byte in pattern
    )
    return b'"' + escaped + b'"'
