"""Messages that come back out of a patch file as they are, and those that do not, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring import history, roundtrip
from skippy_patches.authoring.export import export
from skippy_patches.authoring.message_errors import (
    BadAuthorDate,
    BlanksInMessage,
    CutAuthor,
    CutMessage,
    DoesNotSurvive,
    EmptySubject,
    InBodyHeader,
    LooksLikeMail,
    TaggedSubject,
    TwoLineSubject,
)
from skippy_patches.git import Repository
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.patch import Patch

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.authoring.history import Commit

AUTHOR = "Ada Author <ada@example.org>"
DATE = "1767301445 +0600"


class Maker:
    """Commits byte by byte, as no git command would make them."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository.create(folder, bare=True)
        self._trees = [self._tree(content) for content in (b"one\n", b"two\n")]
        self._parent = self._write(f"tree {self._trees[0]}\n".encode(), AUTHOR.encode(), DATE, "", b"base\n")

    def _tree(self, content: bytes) -> str:
        blob = self.repository.run("hash-object", "-w", "--stdin", stdin=content).line
        return self.repository.run("mktree", stdin=f"100644 blob {blob}\tfile\n".encode()).line

    def _write(self, head: bytes, author: bytes, date: str, encoding: str, text: bytes) -> ObjectId:
        who = author + b" " + date.encode()
        head += b"author " + who + b"\ncommitter " + AUTHOR.encode() + b" " + DATE.encode() + b"\n"
        head += f"encoding {encoding}\n".encode() if encoding else b""
        command = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        return ObjectId(self.repository.run(*command, stdin=head + b"\n" + text).line)

    def commit(
        self, text: bytes, *, author: bytes = AUTHOR.encode(), date: str = DATE, encoding: str = ""
    ) -> Commit:
        head = f"tree {self._trees[1]}\nparent {self._parent}\n".encode()
        return history.read(self.repository, [self._write(head, author, date, encoding, text)])[0]

    def check(self, commit: Commit, subject_prefix: str = "strip") -> None:
        patch = Patch("patches", "0001-x.patch", 1, export(self.repository, commit))
        roundtrip.check(commit, patch, subject_prefix)


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    return Maker(tmp_path_factory.mktemp("maker") / "repository")


LOST = {
    "dashes": (b"title\n\nbody\n---\nmore\n", CutMessage, "line 4 on: ---"),
    "a file name": (b"title\n\n--- a/file\nmore\n", CutMessage, "line 3 on: --- a/file"),
    "a diff": (b"title\n\nbody\n\ndiff --git a/x b/x\n", CutMessage, "line 5"),
    "an index line": (b"title\n\nIndex: of things\n", CutMessage, "line 3"),
    "a mailbox": (
        b"title\n\nFrom 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840 Mon Sep 17 00:00:00 2001\n",
        LooksLikeMail,
        "at line 3",
    ),
    "in-body From": (b"title\n\nFrom: Eve <eve@example.org>\n\nbody\n", InBodyHeader, "line 3"),
    "in-body Date": (b"title\n\nDate: some day\nbody\n", InBodyHeader, "line 3"),
    "in-body Subject": (b"title\n\nsubject: another\n", InBodyHeader, "line 3"),
    "in-body [PATCH]": (b"title\n\n[PATCH] another\n", InBodyHeader, "line 3"),
    "two lines": (b"title that\ngoes on\n\nbody\n", TwoLineSubject, "goes on"),
    "tag": (b"[skippy] title\n", TaggedSubject, '"title" instead of "[skippy] title"'),
    "re": (b"Re: title\n", TaggedSubject, '"title" instead of "Re: title"'),
    "double blank": (b"two  blanks\n", BlanksInMessage, "line 1"),
    "tab": (b"a\ttab\n", BlanksInMessage, "line 1"),
    "blank behind the title": (b"title \n\nbody\n", BlanksInMessage, "line 1"),
    "blank line first": (b"\ntitle\n", BlanksInMessage, "line 1"),
    "blank at an end": (b"title\n\nbody \nmore\n", BlanksInMessage, "line 3"),
    "blank lines": (b"title\n\none\n\n\ntwo\n", BlanksInMessage, "line 5"),
    "blank lines last": (b"title\n\none\n\n", BlanksInMessage, "line 4"),
    "CR": (b"title\n\none\r\ntwo\n", BlanksInMessage, "line 3"),
    "nothing": (b"", EmptySubject, "no subject"),
    "blank lines alone": (b"\n\n", EmptySubject, "no subject"),
    "a tag alone": (b"[tag]\n", DoesNotSurvive, "[tag]"),
}
KEPT = {
    "plain": b"title\n",
    "body": "Größe\n\nKörper:\n  * one\n\n  * two\n\nSigned-off-by: Ada <ada@example.org>\n".encode(),
    "no newline": b"title",
    "long": b"a subject that is very long " * 9 + b"indeed\n",
    "long and encoded": ("Über die Größe " * 12 + "x\n").encode(),
    "encoded words": b"What =?UTF-8?q?this?= means\n",
    "signature": b"title\n\nbody\n-- \nme\n".replace(b"-- \n", b"--\n"),
    "scissors": b"title\n\n-- >8 --\nbody\n",
    "quoted From": b"title\n\n>From here on\nFrom here on\n",
    "headers later": b"title\n\nbody\n\nFrom: nobody\nDate: never\nSubject: none\n",
    "brackets behind": b"title [tag]\n",
    "more dashes": b"title\n\n----\n---x\n",
    "control": b"title\n\na\x01b\n",
}


@pytest.mark.case(17)
@pytest.mark.parametrize("name", LOST)
def test_a_message_that_does_not_survive(maker: Maker, name: str) -> None:
    text, error, said = LOST[name]
    with pytest.raises(DoesNotSurvive) as caught:
        maker.check(maker.commit(text))
    assert isinstance(caught.value, error)
    assert said in str(caught.value)
    assert caught.value.exit_status == 1
    assert caught.value.mend


@pytest.mark.parametrize("name", KEPT)
def test_a_message_that_survives(maker: Maker, name: str) -> None:
    maker.check(maker.commit(KEPT[name]))


def test_brackets_stay_when_the_project_keeps_them(maker: Maker) -> None:
    maker.check(maker.commit(b"[skippy] title\n"), "keep")


def test_other_encodings_become_utf_8(maker: Maker) -> None:
    latin = maker.commit(
        "Größe\n\nKörper\n".encode("latin-1"), author="Jürgen <j@x>".encode("latin-1"), encoding="ISO-8859-1"
    )
    assert (latin.subject, latin.author, latin.is_utf8) == ("Größe", "Jürgen", False)
    maker.check(latin)
    assert "Körper".encode() in export(maker.repository, latin)
    unsaid = maker.commit("Größe\n".encode("latin-1"))
    assert unsaid.text.decode() == "Größe\n"
    maker.check(unsaid)


@pytest.mark.parametrize("author", [b"Ada Jr. <a@x>", b'"Ada" <a@x>', b"A <a@x.>", b" <a@x>"])
def test_an_author_that_git_cuts(maker: Maker, author: bytes) -> None:
    with pytest.raises(CutAuthor):
        maker.check(maker.commit(b"title\n", author=author))


@pytest.mark.parametrize(
    "author", ["Ada A. Author <a@x>", "李 明 <l@x>", "Ada, the Author <a@x>", "Ada (home) <a@x>"]
)
def test_an_author_that_survives(maker: Maker, author: str) -> None:
    maker.check(maker.commit(b"title\n", author=author.encode()))


@pytest.mark.parametrize("date", ["4102448400 +0000", "1767301445 +1530", "1767301445 +9999"])
def test_a_date_that_git_does_not_read(maker: Maker, date: str) -> None:
    with pytest.raises(BadAuthorDate, match=date.replace("+", r"\+")):
        maker.check(maker.commit(b"title\n", date=date))


@pytest.mark.parametrize("date", ["100000 -1130", "1767301445 +1400", "1767301445 +0545", "4102444799 +0000"])
def test_a_date_that_survives(maker: Maker, date: str) -> None:
    maker.check(maker.commit(b"title\n", date=date))
