"""Findings about the mail."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue.check import Policy, check
from tests.queue.made import HEADERS, good, mailed, queue, text_diff

if TYPE_CHECKING:
    from skippy_patches.queue.findings import Finding


def _found(content: bytes) -> list[Finding]:
    return list(check(queue({"0001-a.patch": content}), Policy()))


def _only(content: bytes) -> Finding:
    (finding,) = _found(content)
    assert finding.files == ("patches/0001-a.patch",)
    return finding


def _with(old: bytes, new: bytes) -> bytes:
    assert old in HEADERS
    return mailed(text_diff("src/a.cpp"), headers=HEADERS.replace(old, new))


def test_two_messages() -> None:
    finding = _only(good(1) + good(2))
    assert (finding.code, finding.severity) == ("two-messages", "error")
    assert finding.line == good(1).count(b"\n") + 1
    assert "git mailsplit" in finding.mend


def test_crlf_is_one_finding() -> None:
    finding = _only(good(1).replace(b"\n", b"\r\n"))
    assert (finding.code, finding.severity, finding.line) == ("crlf-envelope", "error", 1)
    assert "*.patch -text" in finding.mend


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        (b"From: A U Thor <author@example.org>\n", b"", "missing-from", 1),
        (b"A U Thor <author@example.org>", b"nobody", "missing-from", 2),
        (b"Date: Thu, 1 Jan 2026 12:00:00 +0000\n", b"", "missing-date", 1),
        (b" Thu, 1 Jan 2026 12:00:00 +0000\n", b"\n", "missing-date", 3),
        (b"Thu, 1 Jan 2026 12:00:00 +0000", b"yesterday", "bad-date", 3),
        (b"Subject: [PATCH] change a thing\n", b"", "missing-subject", 1),
        (b"[PATCH] change a thing", b"Re: [PATCH 1/2] [x]", "missing-subject", 4),
        (b"[PATCH] change a thing", b"", "missing-subject", 4),
    ],
)
def test_headers(old: bytes, new: bytes, code: str, line: int) -> None:
    finding = _only(_with(old, new))
    assert (finding.code, finding.severity, finding.line) == (code, "error", line)
    assert finding.why
    assert finding.mend


def test_missing_date_says_what_git_does() -> None:
    assert "current time" in _only(_with(b"Date: ", b"X-Date: ")).why


def test_a_bare_diff_lacks_everything() -> None:
    codes = [finding.code for finding in _found(text_diff("src/a.cpp"))]
    assert codes == ["missing-date", "missing-from", "missing-subject"]


@pytest.mark.parametrize("subject", [b"[x", b"Release", b"[PATCH] [tag] words"])
def test_subjects_that_are_there(subject: bytes) -> None:
    assert _found(_with(b"[PATCH] change a thing", subject)) == []


# Dates that git reads, dates without a zone, and dates at which git am stops.
GOOD = [
    "Thu, 1 Jan 2026 10:00:00 +0000", "1 Jan 2026 10:00:00 -0130", "2026-01-01 10:00:00 +0100",
    "2026-01-01T10:00:00Z", "1767261600 +0000", "@1767261600 +0000", "Thu Jan 1 10:00:00 2026 +0200",
    "Thu, 1 Jan 2026 10:00 +0000", "Thu, 1 Jan 2026 10:00:00 GMT", "2026/01/01 10:00:00 PST",
    "Thu, 1 Jan 2026 10:00:00 +0000 (UTC)", "01.02.2026 10:00 +0000", "Thu, 01 January 2026 10:00:00 -0800",
]  # fmt: skip
ZONELESS = ["Thu, 1 Jan 2026 10:00:00", "2026-01-01 10:00:00"]
BAD = ["Thu, 1 Jan 2026", "yesterday", "Thu, 1 Jan 26 10:00:00 +0000", "xyz", "12:00:00 +0000"]


@pytest.mark.parametrize("date", GOOD + ZONELESS + BAD)
def test_dates_are_read_as_git_reads_them(date: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [finding.code for finding in _found(_with(b"Thu, 1 Jan 2026 12:00:00 +0000", date.encode()))]
    assert found == (["zoneless-date"] if date in ZONELESS else ["bad-date"] if date in BAD else [])
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_AUTHOR_DATE", date)
    idents = set()
    for zone in ("UTC", "Asia/Kolkata"):
        monkeypatch.setenv("TZ", zone)
        idents.add(
            subprocess.run(["git", "var", "GIT_AUTHOR_IDENT"], capture_output=True, check=False).stdout
        )
    assert len(idents) == (2 if date in ZONELESS else 1)
    assert (b"" in idents) is (date in BAD)


def test_zoneless_date_is_a_warning() -> None:
    finding = _only(_with(b" +0000", b""))
    assert (finding.code, finding.severity) == ("zoneless-date", "warning")


def test_multipart() -> None:
    headers = HEADERS + b'Content-Type: multipart/mixed; boundary="x"\n'
    findings = _found(mailed(b"--x\n\n", text_diff("src/a.cpp"), headers=headers))
    assert [(finding.code, finding.line) for finding in findings] == [("multipart", 5)]
    assert "--no-attach" in findings[0].mend


MARKERS = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> other\n")


@pytest.mark.parametrize("place", [b"Why.\n", b"-- \n"])
def test_conflict_markers_outside_of_hunks(place: bytes) -> None:
    """In the message, and behind the last diff."""
    content = good(1).replace(place, b"mine\n".join((*MARKERS, place)))
    finding = _only(content)
    assert (finding.code, finding.severity) == ("conflict-markers", "error")
    assert content.split(b"\n")[(finding.line or 0) - 1] == b"<<<<<<< HEAD"


def test_conflict_markers_from_the_first_line_on() -> None:
    found = _found(b"x\n".join((*MARKERS, good(1))))
    assert [finding.line for finding in found if finding.code == "conflict-markers"] == [1]


def test_what_is_no_conflict() -> None:
    """A patch may bring in a file that shows markers, and a message may have one that is a rule."""
    hunk = b"@@ -1,2 +1,5 @@\n one\n" + b"".join(b"+" + line for line in MARKERS) + b" two\n"
    assert not _found(good(1).replace(b"@@ -1,2 +1,3 @@\n one\n+new 1\n two\n", hunk))
    assert not _found(good(1).replace(b"Why.\n", b"Title\n=======\n>>>>>>> x\n<<<<<<< y\n"))
