"""The envelope, compared with git mailsplit and git mailinfo on the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue import mail
from tests.queue.corpus import RECIPES
from tests.queue.made import HEADERS, good

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.queue.corpus import Mails


@pytest.mark.parametrize("name", RECIPES)
def test_the_diff_begins_where_git_cuts(
    name: str, corpus: dict[str, bytes], as_git_am: Callable[[str], bytes]
) -> None:
    found = mail.read(corpus[name])
    assert b"\n".join(found.lines[found.diff :]).rstrip() == as_git_am(name).rstrip()


def test_messages_are_counted_as_git_does(corpus: dict[str, bytes], mails: Mails) -> None:
    for content in corpus.values():
        assert mail.read(content).second is None
        assert mails.count(content) == 1
    both = corpus["plain"] + corpus["rename"]
    assert mail.read(both).second == corpus["plain"].count(b"\n") + 1
    assert mails.count(both) == 2
    assert mail.read(both).lines == mail.read(corpus["plain"]).lines


@pytest.mark.parametrize(
    ("line", "separates"),
    [
        (b"From 14e78d Mon Sep 17 00:00:00 2001", True),
        (b"From a@b Thu Jan  1 12:00:00 2026", True),
        (b"From here on 12:00:00 is noon", False),
        (b"From 14e78d Mon Sep 17 00:00:00 1989", True),
        (b"From 14e78d Mon Sep 17 00:00:00 89", False),
        (b"From now on", False),
        (b"From: 14e78d Mon Sep 17 00:00:00 2001", False),
    ],
)
def test_separator(line: bytes, separates: bool, mails: Mails) -> None:
    content = HEADERS + b"\nBody.\n" + line + b"\nMore.\n"
    assert (mail.read(content).second is not None) is separates
    assert (mails.count(content) == 2) is separates


def test_headers() -> None:
    content = b"\nFrom: A\n\tB <a@b>\nX-Odd:\nSUBJECT:one\n two\n\nBody\n"
    found = mail.read(content)
    assert {name: tuple(header) for name, header in found.headers.items()} == {
        b"from": (2, b"A B <a@b>"), b"x-odd": (4, b""), b"subject": (5, b"one two"),
    }  # fmt: skip
    assert found.lines[found.body :] == [b"", b"Body"]
    assert found.text(b"date") == b""


def test_headers_in_the_body_win_until_the_first_other_line() -> None:
    found = mail.read(HEADERS + b"\n\nFrom: B <b@c>\nNote: x\nDate: never\n\nBody\n")
    assert found.text(b"from") == b"B <b@c>"
    assert found.text(b"date").startswith(b"Thu, 1 Jan")
    other = mail.read(HEADERS + b"\nNote: x\nFrom: B <b@c>\n\nBody\n")
    assert other.text(b"from") == b"A U Thor <author@example.org>"


def test_crlf_envelope() -> None:
    content = good(1)
    assert mail.read(content).crlf is None
    whole = mail.read(content.replace(b"\n", b"\r\n"))
    assert whole.crlf == 1
    assert whole.lines == mail.read(content).lines
    head, _, tail = content.partition(b"diff --git")
    assert mail.read(head + b"diff --git" + tail.replace(b"\n", b"\r\n")).crlf == head.count(b"\n") + 1


@pytest.mark.parametrize(
    ("line", "cuts"),
    [
        (b"---", True), (b"--- ", True), (b"--- a/x", True), (b"diff -u a b", True), (b"Index: x", True),
        (b"----", False), (b"---x", False), (b"---  x", False), (b"-- ", False), (b"diff", False),
    ],
)  # fmt: skip
def test_cuts(line: bytes, cuts: bool, mails: Mails) -> None:
    assert mail.is_cut(line) is cuts
    assert mails.patch(HEADERS + b"\nBody.\n" + line + b"\nmore\n").startswith(line) is cuts


def test_base64() -> None:
    import base64  # noqa: PLC0415

    head, _, body = good(1).partition(b"\n\n")
    encoded = head + b"\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(body)
    found = mail.read(encoded)
    plain = mail.read(good(1))
    assert found.lines[found.diff :] == plain.lines[plain.diff :]
