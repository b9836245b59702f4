"""The scanner against git itself, on the whole corpus; then everything that is broken."""

from __future__ import annotations

import itertools
import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue import diff, diffscan, mail
from skippy_patches.queue.diffscan import scan
from tests.queue.corpus import RECIPES, changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.queue.corpus import Desk, Mails


def _apply(*options: str, patch: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "apply", *options], input=patch, capture_output=True, check=False)


def _numstat_of_git(patch: bytes) -> list[tuple[str, ...]]:
    done = _apply("--numstat", "-z", patch=patch)
    assert done.returncode == 0, done.stderr
    return [tuple(row.split("\t", 2)) for row in done.stdout.decode().split("\0")[:-1]]


def _numstat(found: diff.Diff) -> list[tuple[str, ...]]:
    return [
        ("-", "-", file.path) if file.is_binary else (str(file.insertions), str(file.deletions), file.path)
        for file in found.files
    ]


@pytest.mark.parametrize("name", RECIPES)
def test_agrees_with_git(name: str, corpus: dict[str, bytes], as_git_am: Callable[[str], bytes]) -> None:
    found = diffscan.parse(corpus[name])
    assert found.problems == ()
    assert found.files
    assert _numstat(found) == _numstat_of_git(as_git_am(name))


@pytest.mark.parametrize("name", RECIPES)
def test_kinds_and_modes_agree_with_git(
    name: str, corpus: dict[str, bytes], as_git_am: Callable[[str], bytes]
) -> None:
    found = diffscan.parse(corpus[name])
    said = [line.split() for line in _apply("--summary", patch=as_git_am(name)).stdout.decode().splitlines()]
    words = {"create": diff.ADD, "delete": diff.DELETE, "rename": diff.RENAME, "copy": diff.COPY}
    kinds = sorted(words[line[0]] for line in said if line[0] in words)
    assert sorted(file.kind for file in found.files if file.kind != diff.MODIFY) == kinds
    for line in said:
        if line[:2] == ["create", "mode"]:
            assert any(file.new_mode == line[2] for file in found.files)
        if line[:2] == ["mode", "change"]:
            assert (line[2], line[4]) in {(file.old_mode, file.new_mode) for file in found.files}


def test_values_of_a_hunk(corpus: dict[str, bytes]) -> None:
    content = corpus["no newline at end"]
    (file,) = diffscan.parse(content).files
    (hunk,) = file.hunks
    assert (file.kind, file.old_path, file.new_path) == (diff.MODIFY, "unended.txt", "unended.txt")
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (1, 2, 1, 2)
    assert content.split(b"\n")[hunk.line - 1].startswith(b"@@ -1,2 +1,2 @@")
    assert (hunk.preimage, hunk.postimage) == ([b"one", b"two"], [b"one", b"TWO"])
    assert [line[:1] for line in hunk.lines] == [b" ", b"-", b"\\", b"+", b"\\"]


def test_newline_is_told_for_each_side(corpus: dict[str, bytes]) -> None:
    added, lost = (
        diffscan.parse(corpus[name]).files[0].hunks[-1] for name in ("newline added", "newline lost")
    )
    assert [line[:1] for line in added.lines][-3:] == [b"-", b"\\", b"+"]
    assert [line[:1] for line in lost.lines][-3:] == [b"-", b"+", b"\\"]


def test_crlf_stays_in_the_lines(corpus: dict[str, bytes]) -> None:
    (hunk,) = diffscan.parse(corpus["CRLF target"]).files[0].hunks
    assert hunk.preimage == [b"one\r", b"two\r", b"three\r"]


def test_rename_has_both_paths(corpus: dict[str, bytes]) -> None:
    (file,) = diffscan.parse(corpus["pure rename"]).files
    assert (file.kind, file.old_path, file.new_path) == ("rename", "with space.txt", "still with space.txt")


def test_symlink_target(corpus: dict[str, bytes]) -> None:
    assert [file.symlink_target for file in diffscan.parse(corpus["symlink"]).files] == [b"../../plain.txt"]
    assert [file.symlink_target for file in diffscan.parse(corpus["symlink moved"]).files] == [b"blank.txt"]
    assert [file.symlink_target for file in diffscan.parse(corpus["plain"]).files] == [None]


def test_names_that_are_not_utf8() -> None:
    header = b'diff --git "a/\\377" "b/\\377"\nnew file mode 100644\nindex 0000000..e69de29\n'
    (file,) = diffscan.parse(b"---\n" + header).files
    assert file.path == "\udcff"


def test_binary_blocks(corpus: dict[str, bytes]) -> None:
    (file,) = diffscan.parse(corpus["binary delta"]).files
    assert [block.method for block in file.blocks] == ["delta", "delta"]
    (file,) = diffscan.parse(corpus["binary new"]).files
    assert [(block.method, block.size) for block in file.blocks] == [("literal", 3001), ("literal", 0)]


# Broken on purpose, each by one replacement in a patch of the corpus: code, words of the message.
BROKEN = {
    "last context stripped": (
        "ends in blank context", b"\n \n \n", b"\n", "stripped-blanks", "2 blank context lines are missing",
    ),
    "before the signature": (
        "blank context", b" three\n \n-- \n", b" three\n-- \n", "stripped-blanks", "a blank context line is",
    ),
    "line removed": ("plain", b"\n line 13\n", b"\n", "corrupt-hunk", "1 more old and 1 more new"),
    "line added": ("plain", b" line 18\n", b" line 18\n+more\n", "corrupt-hunk", "goes on here"),
    "no sign": ("plain", b"\n line 16\n", b"\nline 16\n", "corrupt-hunk", "ends here"),
    "counts edited": ("plain", b" +12,7 @@", b" +12,9 @@", "corrupt-hunk", "(-12,7 +12,9) ask for"),
    "no ranges": ("plain", b"@@ -12,7 +12,7 @@", b"@@ -12,x @@", "corrupt-hunk", "cannot be read"),
    "no file header": ("plain diff(1)", b"+++ new/", b"++ new/", "corrupt-diff", "without a file header"),
    "nameless": ("mode", b" b/plain.txt\n", b" b/q\n", "corrupt-diff", "does not name its file"),
    "header in prose": (
        "plain", b"---\n", b"diff --git a/p b/p\nand so on\n---\n", "corrupt-diff", "with no header below it",
    ),
    "no prefix": (
        "plain", b"a/plain.txt b/plain.txt\n", b"s/plain.txt s/plain.txt\n", "no-prefix", "no a/ and b/",
    ),
    "nothing in it": (
        "mode", b"old mode 100644\nnew mode 100755\n", b"index 1..2 100644\n", "corrupt-diff", "nothing",
    ),
    "binary cut": ("binary new", b"\n\nliteral 0", b"\nliteral 0", "truncated-binary", "damaged"),
    "binary shortened": ("binary new", b"literal 3001", b"literal 3002", "truncated-binary", "3002 bytes"),
    "binary emptied": ("binary new", b"literal 3001", b"litera", "truncated-binary", "without its literal"),
    "new with old lines": ("symlink", b"@@ -0,0 +1 @@\n", b"@@ -1 +1 @@\n-x\n", "corrupt-hunk", "is new"),
    "deleted with lines": ("delete", b"+0,0 @@\n", b"+1,1 @@\n+x\n", "corrupt-hunk", "is deleted"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken(case: str, corpus: dict[str, bytes]) -> None:
    name, old, new, code, words = BROKEN[case]
    assert old in corpus[name]
    content = corpus[name].replace(old, new, 1)
    problems = diffscan.parse(content).problems
    assert [problem.code for problem in problems] == [code]
    assert words in problems[0].what
    assert 1 <= problems[0].line <= content.count(b"\n") + 1


@pytest.mark.parametrize(
    "case", ["last context stripped", "before the signature", "no sign", "counts edited"]
)
def test_the_line_is_the_one_that_git_names(case: str, corpus: dict[str, bytes], mails: Mails) -> None:
    name, old, new, _, _ = BROKEN[case]
    content = corpus[name].replace(old, new, 1)
    said = _apply("--numstat", patch=mails.patch(content)).stderr.decode()
    told = said.strip().removeprefix("error: ")
    assert "corrupt patch at line" in told
    assert f"'{told}'" in diffscan.parse(content).problems[0].why


def test_text_without_its_last_newline(corpus: dict[str, bytes]) -> None:
    content = corpus["no signature"].rstrip(b"\n")
    (problem,) = diffscan.parse(content).problems
    assert (problem.code, problem.line) == ("corrupt-hunk", content.count(b"\n") + 1)


def test_binary_without_content(desk: Desk) -> None:
    patch = desk.patch({"data.bin": b"\0\1\2"}, "x", "--no-binary", "--full-index")
    (problem,) = diffscan.parse(patch).problems
    assert problem.code == "missing-binary"
    assert "data.bin" in problem.what


def test_binary_cut_at_its_end(corpus: dict[str, bytes]) -> None:
    content = corpus["binary new"]
    (problem,) = diffscan.parse(content[: content.index(b"\n\nliteral 0") + 1]).problems
    assert (problem.code, "in the middle" in problem.what) == ("truncated-binary", True)


def test_every_cut_is_survived(corpus: dict[str, bytes]) -> None:
    """No prefix of a patch, however odd, makes the scanner raise or run on."""
    for content in corpus.values():
        lines = content.split(b"\n")
        for end in range(len(lines)):
            scan(mail.read(b"\n".join(lines[:end])))


def test_a_broken_file_does_not_hide_the_next(desk: Desk) -> None:
    content = desk.patch(
        {**changed(), **changed("blank.txt", b"two", b"TWO"), **changed("crlf.txt", b"two", b"2")}
    )
    found = diffscan.parse(content.replace(b"\n three\n", b"\nthree\n").replace(b" line 13\n", b""))
    assert [problem.code for problem in found.problems] == ["corrupt-hunk", "corrupt-hunk"]
    assert [file.path for file in found.files] == ["blank.txt", "crlf.txt", "plain.txt"]


def test_hunks_end_where_walking_over_their_lines_would() -> None:
    """The short cut over a hunk's signs against the walk, on every small body and every small range."""
    bodies = [
        b"".join(signs)
        for size in range(6)
        for signs in itertools.product((b" ", b"+", b"-", b"\\"), repeat=size)
    ]
    for body in bodies:
        lines = [*(bytes([sign]) + b"x" for sign in body), b"-- ", b"2.39.5"]
        scanner = diffscan._Scanner(lines, 0, is_complete=True)
        for old, new in itertools.product(range(4), repeat=2):
            assert scanner._span(0, old, new) == diffscan._walk(lines, 0, old, new), (lines, old, new)
