"""The engine against the real git am, on every odd kind of patch file seen in the field."""

from __future__ import annotations

import email.header
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from skippy_patches.apply.engine import IndexEngine, Options
from skippy_patches.apply.errors import EngineDisagrees, PatchDoesNotApply
from skippy_patches.apply.reference import Referee
from skippy_patches.config import Identity
from skippy_patches.git import Repository
from skippy_patches.progress import Silent
from skippy_patches.queue import message
from skippy_patches.queue.errors import UnreadablePatch
from skippy_patches.queue.patch import Patch
from tests.queue.corpus import RECIPES, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.objectid import ObjectId

COMMITTER = Identity(name="Committer", email="c@example.org")


class Ground:
    """The corpus' base commit in a repository, with both engines."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder / "desk")
        self.repository = Repository(git_dir=self.desk.root / ".git", work_tree=self.desk.root)
        base = self.repository.resolve("base^{commit}")
        assert base is not None
        self.base: ObjectId = base
        self.folder = folder

    def engine(self, subject_prefix: str = "strip") -> IndexEngine:
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        options = Options(committer=COMMITTER, subject_prefix=subject_prefix)
        return IndexEngine(repository=self.repository, options=options, scratch=scratch, reporter=Silent())

    def compare(self, content: bytes, subject_prefix: str = "strip") -> ObjectId:
        """The commit that both make."""
        patch = Patch(lane="patches", name="0001-x.patch", number=1, content=content)
        engine = self.engine(subject_prefix)
        commit = engine.apply(self.base, patch).commit
        referee = Referee(repository=self.repository, options=engine.options, folder=self.folder / "am")
        referee.check(self.base, [patch], [commit], Silent())
        return commit


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """One for all of them."""
    return Ground(tmp_path_factory.mktemp("engine"))


# git places a hunk without context only at the end of a file, or when --unidiff-zero allows anything.
REFUSED = ("no context", "plain diff(1)", "plain diff(1), new and gone")


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in REFUSED])
def test_every_kind_gives_git_am_s_commit(ground: Ground, name: str) -> None:
    ground.compare(RECIPES[name](ground.desk))


@pytest.mark.parametrize("name", REFUSED)
def test_what_git_am_refuses_is_refused(ground: Ground, name: str) -> None:
    patch = Patch(lane="patches", name="0001-x.patch", number=1, content=RECIPES[name](ground.desk))
    engine = ground.engine()
    with pytest.raises(PatchDoesNotApply, match=r"no lines of context|is not there"):
        engine.apply(ground.base, patch)
    referee = Referee(repository=ground.repository, options=engine.options, folder=ground.folder / "am")
    with pytest.raises(PatchDoesNotApply, match="git am: "):
        referee.check(ground.base, [patch], [ground.base], Silent())


SUBJECTS = (
    "[skippy] tagged",
    "[a][b] twice",
    "Re: answered",
    "[PATCH 3/7] numbered by hand",
    "  blanks   inside  and around  ",
    "Größe",
    "a very long subject " * 12,
    "two\nlines of subject\n\nand a body",
    "body\n\nwith > quotes\n>From the start\n\n\n\nand gaps  \n\t\n\n",
    "scissors\n\n-- >8 --\n\nbelow",
    "trailers\n\nSigned-off-by: A <a@b>\nCo-authored-by: Ü <u@b>",
)


@pytest.mark.parametrize("prefix", ["strip", "keep"])
@pytest.mark.parametrize("message", SUBJECTS)
def test_every_message_gives_git_am_s_commit(ground: Ground, message: str, prefix: str) -> None:
    (ground.desk.root / "new.txt").write_text("new\n", encoding="utf-8")
    ground.desk.commit(message)
    ground.compare(ground.desk.export(), prefix)


DATES = (
    "Thu, 1 Jan 2026 12:00:00 +0100",
    "1 Jan 2026 12:00:00 -1130",
    "Thu Jan 1 12:00:00 2026",
    "2026-01-01T12:00:00+0530",
    "1767265200 +0100",
    "Thu, 1 Jan 1970 00:00:01 +0000",
)


@pytest.mark.parametrize("date", DATES)
def test_every_date_gives_git_am_s_commit(ground: Ground, date: str) -> None:
    (ground.desk.root / "new.txt").write_text("new\n", encoding="utf-8")
    ground.desk.commit()
    patch = ground.desk.export()
    line = next(line for line in patch.splitlines() if line.startswith(b"Date: "))
    ground.compare(patch.replace(line, b"Date: " + date.encode()))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"Date: ", b"X-Date: ", "no usable Date: line"),
        (b"From: A U Thor <author@example.org>", b"X-From: nobody", "no usable From: line"),
        (b"Date: Thu, 1 Jan 2026 12:00:00 +0100", b"Date: when it rains", "invalid date format"),
    ],
)
def test_what_would_differ_elsewhere_is_refused(ground: Ground, old: bytes, new: bytes, reason: str) -> None:
    (ground.desk.root / "new.txt").write_text("new\n", encoding="utf-8")
    ground.desk.commit()
    content = ground.desk.export().replace(old, new)
    patch = Patch(lane="patches", name="0001-x.patch", number=1, content=content)
    with pytest.raises(UnreadablePatch, match=reason):
        ground.engine().apply(ground.base, patch)


def test_the_referee_sees_a_difference(ground: Ground) -> None:
    (ground.desk.root / "new.txt").write_text("new\n", encoding="utf-8")
    ground.desk.commit()
    patch = Patch(lane="patches", name="0001-x.patch", number=1, content=ground.desk.export())
    engine = ground.engine()
    referee = Referee(repository=ground.repository, options=engine.options, folder=ground.folder / "am")
    with pytest.raises(EngineDisagrees, match="git am makes commit"):
        referee.check(ground.base, [patch], [ground.base], Silent())


CHARSETS = {
    "koi8-r": "Привет",
    "windows-1252": "Žižek “quoted”",
    "iso-8859-15": "10 €",
    "iso-2022-jp": "日本語",
    "utf-8": "Größe",
}


@pytest.mark.parametrize("charset", CHARSETS)
def test_every_charset_gives_git_am_s_commit(ground: Ground, charset: str) -> None:
    """In the body, and encoded in author and subject (RFC 2047)."""
    text = CHARSETS[charset]
    word = email.header.Header(text, charset).encode()
    head = f"From: {word} <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nSubject: [PATCH] {word}\n"
    mime = (
        f"MIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    )
    diff = (
        "---\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n"
    )
    commit = ground.compare((head + mime).encode() + text.encode(charset) + b"\n" + diff.encode())
    shown = ground.repository.run("log", "-1", "--format=%an|%s|%b", commit).text.strip()
    assert shown == f"{text}|{text}|{text}"


NO_MAILS = (b">From a@b Thu Jan 1\n", b"prose first\n\n", b"# HG changeset patch\n")


@pytest.mark.parametrize("beginning", NO_MAILS)
def test_what_git_am_takes_for_no_mail_is_refused(ground: Ground, beginning: bytes) -> None:
    (ground.desk.root / "new.txt").write_text("new\n", encoding="utf-8")
    ground.desk.commit()
    patch = Patch(lane="patches", name="0001-x.patch", number=1, content=beginning + ground.desk.export())
    with pytest.raises(UnreadablePatch, match="git am does not take it for a mail"):
        ground.engine().apply(ground.base, patch)


def test_a_patch_is_taken_apart_once(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search tries it on many commits."""
    read = mock.Mock(side_effect=message.read)
    monkeypatch.setattr(message, "read", read)
    engine = ground.engine()
    patch = Patch("patches", "0001-x.patch", 1, RECIPES["plain"](ground.desk))
    commits = [engine.apply(ground.base, patch).commit for _ in range(2)]
    assert engine.is_there(commits[0], patch)

    assert commits[0] == commits[1]
    assert read.call_count == 1
