"""Findings about diffs: broken, empty, twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue.check import Policy, check
from tests.queue.corpus import RECIPES, Desk, changed
from tests.queue.made import HEADERS, good, mailed, queue, text_diff

if TYPE_CHECKING:
    from skippy_patches.queue.findings import Finding


def _found(*patches: bytes) -> list[Finding]:
    files = {f"{number:04}-p.patch": content for number, content in enumerate(patches, 1)}
    return list(check(queue({**files}), Policy()))


@pytest.mark.parametrize("name", RECIPES)
def test_the_odd_corpus_has_no_findings(name: str, corpus: dict[str, bytes]) -> None:
    assert _found(corpus[name]) == []


def test_the_odd_corpus_as_one_queue(corpus: dict[str, bytes]) -> None:
    """Many of them make the same change in other clothes: that is told, and nothing else."""
    found = _found(*corpus.values())
    assert {finding.code for finding in found} == {"same-change"}
    assert len(found) > 10


def test_stripped_blanks_are_explained(corpus: dict[str, bytes]) -> None:
    content = corpus["ends in blank context"].replace(b"\n \n \n", b"\n")
    (finding,) = _found(content)
    assert (finding.code, finding.severity, finding.line) == (
        "stripped-blanks",
        "error",
        content.count(b"\n") + 1,
    )
    assert "a blank context line is a single space" in finding.why
    assert "corrupt patch at line" in finding.why
    assert "a space in each" in finding.mend


@pytest.mark.parametrize(
    ("name", "old", "new", "code", "words"),
    [
        ("plain", b"+12,7 @@", b"+12,9 @@", "corrupt-hunk", "git apply --recount"),
        ("plain", b"--git a/plain.txt b/", b"--git plain.txt ", "no-prefix", "--src-prefix=a/"),
        ("mode", b" b/plain.txt\n", b" b/q\n", "corrupt-diff", "Export the patch again"),
        ("binary new", b"literal 3001", b"literal 3000", "truncated-binary", "--binary"),
    ],
)
def test_problems_become_errors(
    name: str, old: bytes, new: bytes, code: str, words: str, corpus: dict[str, bytes]
) -> None:
    assert old in corpus[name]
    (finding,) = _found(corpus[name].replace(old, new, 1))
    assert (finding.code, finding.severity, words in finding.mend) == (code, "error", True)
    assert finding.line is not None


def test_binary_without_content(desk: Desk) -> None:
    (finding,) = _found(desk.patch({"data.bin": b"\0"}, "x", "--no-binary"))
    assert (finding.code, "--binary" in finding.mend) == ("missing-binary", True)


@pytest.mark.case(19)
@pytest.mark.parametrize("content", [b"", HEADERS, mailed(), HEADERS + b"\nOnly words.\n"])
def test_empty(content: bytes) -> None:
    findings = [finding for finding in _found(content) if not finding.code.startswith("missing")]
    assert [(finding.code, finding.severity) for finding in findings] == [("empty-patch", "error")]
    assert "changes nothing" in findings[0].what


def test_the_same_change_under_two_names() -> None:
    first = mailed(text_diff("src/a.cpp"))
    second = mailed(text_diff("src/a.cpp", "\tnew ", at=40).replace(b"1111111..2222222", b"3..4"))
    (finding,) = _found(first, good(1), second.replace(b"change a thing", b"another subject"))
    assert (finding.code, finding.severity) == ("same-change", "error")
    assert finding.files == ("patches/0003-p.patch", "patches/0001-p.patch")
    assert "patches/0001-p.patch" in finding.what


def test_files_in_another_order_are_the_same_change() -> None:
    one, two = text_diff("a"), text_diff("b")
    assert [finding.code for finding in _found(mailed(one, two), mailed(two, one))] == ["same-change"]


def test_other_words_or_another_file_are_another_change() -> None:
    assert _found(*(mailed(text_diff(path, line)) for path in "ab" for line in ("x", "y"))) == []


def test_applied_reverted_and_applied_again(desk: Desk) -> None:
    edits = {**changed(), **changed("data.bin", b"\x01", b"\x02")}
    desk.write(edits)
    desk.commit("apply")
    there = desk.git("format-patch", "--stdout", "-1", "--binary")
    desk.git("revert", "--no-edit", "HEAD")
    back = desk.export("--binary")
    assert _found(there, back, there) == []
    assert [finding.code for finding in _found(there, there, back)] == ["same-change"]
