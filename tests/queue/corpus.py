"""Legitimate patch files of every odd kind that GIT.md names, most of them made by git itself."""

from __future__ import annotations

import os
import quopri
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASE = {
    "plain.txt": b"".join(b"line %d\n" % number for number in range(1, 31)),
    "blank.txt": b"one\n\ntwo\n\nthree\n\n\n",
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "unended.txt": b"one\ntwo",
    "signs.txt": b"one\n-- a/plain.txt\n++ b/plain.txt\n- \n-\n@@ -1 +1 @@\ndiff --git a/x b/x\nlast\n",
    "data.bin": bytes(range(256)) * 8,
    "with space.txt": b"one\ntwo\n",
    "gr\u00fc\u00df.txt": b"one\ntwo\n",
    'tab\tquote".txt': b"one\ntwo\n",
    "deep/er/file.txt": b"one\ntwo\n",
}
ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "C O Mitter",
    "GIT_COMMITTER_EMAIL": "committer@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T12:00:00+0100",
    "GIT_COMMITTER_DATE": "2026-01-01T12:00:00+0100",
}


class Desk:
    """A repository in which patches are made, each on the same base commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.write(BASE)
        (root / "link").symlink_to("plain.txt")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("tag", "base")

    def git(self, *arguments: str, stdin: bytes | None = None, **variables: str) -> bytes:
        environment = {**os.environ, **ENVIRONMENT, **variables}
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, input=stdin, env=environment).stdout

    def write(self, files: dict[str, bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def commit(self, message: str = "change a thing", *options: str, **variables: str) -> None:
        self.git("add", "-A")
        self.git(*options, "commit", "-q", "--allow-empty", "-F", "-", stdin=message.encode(), **variables)

    def export(self, *options: str) -> bytes:
        """The last commit as a patch, and the desk back on its base."""
        patch = self.git("format-patch", "--stdout", "-1", *options)
        self.git("reset", "-q", "--hard", "base")
        return patch

    def patch(self, files: dict[str, bytes], message: str = "change a thing", *options: str) -> bytes:
        self.write(files)
        self.commit(message)
        return self.export(*options)


class Mails:
    """A folder in which git mailsplit and git mailinfo take patch files apart, as git am does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def count(self, content: bytes) -> int:
        """How many messages git finds."""
        self.folder.mkdir(exist_ok=True)
        for older in self.folder.iterdir():
            older.unlink()
        (self.folder / "whole").write_bytes(content)
        split = ("mailsplit", "-b", "--keep-cr", f"-o{self.folder}", str(self.folder / "whole"))
        return int(self._git(*split))

    def patch(self, content: bytes) -> bytes:
        """What git am hands to git apply: the first message from where it is cut."""
        self.count(content)
        message = (self.folder / "0001").read_bytes()
        self._git("mailinfo", "--no-scissors", "message", "patch", stdin=message)
        return (self.folder / "patch").read_bytes()

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        command = ["git", *arguments]
        return subprocess.run(command, check=True, capture_output=True, input=stdin, cwd=self.folder).stdout


def changed(name: str = "plain.txt", old: bytes = b"line 15", new: bytes = b"LINE 15") -> dict[str, bytes]:
    return {name: BASE[name].replace(old, new)}


def _latin1_body(desk: Desk) -> bytes:
    desk.write(changed())
    desk.commit("Gr\u00f6\u00dfe\n\nK\u00f6rper.\n")
    desk.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    patch = desk.export()
    desk.git("config", "--unset", "i18n.logOutputEncoding")
    assert b"charset=ISO-8859-1" in patch
    assert b"K\xf6rper" in patch
    return patch


def _rename(desk: Desk) -> bytes:
    desk.git("mv", "plain.txt", "moved.txt")
    return desk.patch({"moved.txt": changed()["plain.txt"]}, "rename", "-M")


def _pure_rename(desk: Desk) -> bytes:
    desk.git("mv", "with space.txt", "still with space.txt")
    return desk.patch({}, "rename", "-M")


def _copy(desk: Desk) -> bytes:
    return desk.patch({"copy.txt": changed()["plain.txt"]}, "copy", "-C", "--find-copies-harder")


def _mode(desk: Desk) -> bytes:
    (desk.root / "plain.txt").chmod(0o755)
    return desk.patch({}, "mode")


def _mode_and_text(desk: Desk) -> bytes:
    (desk.root / "plain.txt").chmod(0o755)
    return desk.patch(changed(), "mode and text")


def _delete(desk: Desk) -> bytes:
    desk.git("rm", "-q", "plain.txt", "data.bin")
    return desk.patch({}, "delete", "--binary")


def _symlink(desk: Desk) -> bytes:
    (desk.root / "deep/er/up").symlink_to("../../plain.txt")
    return desk.patch({}, "link")


def _symlink_moved(desk: Desk) -> bytes:
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("blank.txt")
    return desk.patch({}, "another target")


def _symlink_to_file(desk: Desk) -> bytes:
    (desk.root / "link").unlink()
    return desk.patch({"link": b"a file now\n"}, "no link")


def _folder_to_symlink(desk: Desk) -> bytes:
    desk.git("rm", "-qr", "deep")
    (desk.root / "deep").symlink_to("plain.txt")
    return desk.patch({}, "folder becomes link")


def _submodule(desk: Desk) -> bytes:
    head = desk.git("rev-parse", "HEAD").decode().strip()
    desk.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    desk.git("commit", "-q", "-m", "module")
    return desk.export()


def _long_author(desk: Desk) -> bytes:
    desk.write(changed())
    desk.commit(
        "x",
        GIT_AUTHOR_NAME="J\u00fcrgen von und zu einem sehr langen Namen der gefaltet werden mu\u00df " * 2,
    )
    return desk.export()


def _in_body_from(desk: Desk) -> bytes:
    patch = desk.patch(changed(), "in-body", "--from=Some Body <else@example.org>")
    assert patch.count(b"\nFrom: ") == 2
    return patch


def _quoted_printable(desk: Desk) -> bytes:
    head, _, body = desk.patch(changed(), "mail\n\nthrough = a gateway\n").partition(b"\n\n")
    return head + b"\nContent-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(body)


RECIPES: dict[str, Callable[[Desk], bytes]] = {
    "plain": lambda desk: desk.patch(changed()),
    "no stat": lambda desk: desk.patch(changed(), "no stat", "--no-stat"),
    "no dashes": lambda desk: desk.patch(changed(), "x", "--no-stat").replace(b"---\n\ndiff", b"\ndiff"),
    "full index": lambda desk: desk.patch(changed(), "x", "--full-index", "--zero-commit"),
    "nine digits": lambda desk: desk.patch(changed(), "x", "--abbrev=9"),
    "no signature": lambda desk: desk.patch(changed(), "x", "--no-signature"),
    "signature at once": lambda desk: desk.patch(changed(), "x").rstrip(b"\n") + b"\n",
    "signature unended": lambda desk: desk.patch(changed(), "x").rstrip(b"\n"),
    "signature stripped": lambda desk: desk.patch(changed(), "x").replace(b"\n-- \n", b"\n--\n"),
    "strange signature": lambda desk: desk.patch(changed(), "x", "--signature=+ no hunk\n- at all"),
    "stale k/n": lambda desk: desk.patch(changed(), "x", "-n", "--start-number=7").replace(b"7/7", b"7/99"),
    "long subject": lambda desk: desk.patch(changed(), "a subject that is very long " * 6),
    "encoded subject": lambda desk: desk.patch(changed(), "\u00dcber die Gr\u00f6\u00dfe \u4e2d\u6587" * 5),
    "long author": _long_author,
    "latin-1 body": _latin1_body,
    "in-body from": _in_body_from,
    "quoted-printable": _quoted_printable,
    "no mbox line": lambda desk: desk.patch(changed()).partition(b"\n")[2],
    "leading blank lines": lambda desk: b"\n\n" + desk.patch(changed()),
    "prose with signs": lambda desk: desk.patch(
        changed(), "prose\n\n+++ b/that\n--- a/this\n@@ and this\nGIT binary patch\n"
    ),
    "prose with headers": lambda desk: desk.patch(
        changed(), "prose\n\nNote: a field\nDate: some day\nFrom here on\n"
    ),
    "prose with Index": lambda desk: desk.patch(changed(), "prose\n\nIndex: of things\n=====\n"),
    "prose with dashes": lambda desk: desk.patch(changed(), "prose\n\n----\n-- \n--\n---x\n--- x\nmore\n"),
    "no context": lambda desk: desk.patch(changed(), "x", "-U0"),
    "two hunks": lambda desk: desk.patch(
        {"plain.txt": BASE["plain.txt"].replace(b"line 2\n", b"two\n").replace(b"line 28\n", b"")}
    ),
    "blank context": lambda desk: desk.patch(changed("blank.txt", b"two", b"TWO")),
    "blank context stripped": lambda desk: desk.patch(changed("blank.txt", b"two", b"TWO")).replace(
        b"\n \n", b"\n\n"
    ),
    "ends in blank context": lambda desk: desk.patch(
        changed("blank.txt", b"three", b"3"), "x", "--no-signature"
    ),
    "CRLF target": lambda desk: desk.patch(changed("crlf.txt", b"two", b"TWO")),
    "CRLF to LF": lambda desk: desk.patch({"crlf.txt": b"one\ntwo\r\nthree\n"}),
    "no newline at end": lambda desk: desk.patch(changed("unended.txt", b"two", b"TWO")),
    "newline added": lambda desk: desk.patch({"unended.txt": b"one\ntwo\n"}),
    "newline lost": lambda desk: desk.patch({"plain.txt": BASE["plain.txt"].rstrip(b"\n")}),
    "lines like headers": lambda desk: desk.patch({"signs.txt": b"one\nlast\n"}),
    "lines like headers added": lambda desk: desk.patch({"new.txt": BASE["signs.txt"]}),
    "new empty file": lambda desk: desk.patch({"empty.txt": b""}),
    "binary new": lambda desk: desk.patch({"new.bin": os.urandom(1) + b"\0" * 3000}, "x", "--binary"),
    "binary delta": lambda desk: desk.patch(changed("data.bin", b"\x10\x11", b"\x11\x10\0"), "x", "--binary"),
    "binary and text": lambda desk: desk.patch({**changed(), "new.bin": b"\0\1"}, "x", "--binary"),
    "odd names": lambda desk: desk.patch(
        dict.fromkeys(("with space.txt", "grüß.txt", 'tab\tquote".txt'), b"one\nTWO\n")
    ),
    "odd new names": lambda desk: desk.patch({"a b/c d": b"", "b/a b": b"", "new\nline": b"x\n"}),
    "other prefixes": lambda desk: desk.patch(changed(), "x", "--src-prefix=i/", "--dst-prefix=w/"),
    "rename": _rename,
    "pure rename": _pure_rename,
    "copy": _copy,
    "mode": _mode,
    "mode and text": _mode_and_text,
    "delete": _delete,
    "symlink": _symlink,
    "symlink moved": _symlink_moved,
    "symlink to file": _symlink_to_file,
    "folder to symlink": _folder_to_symlink,
    "submodule": _submodule,
    "plain diff(1), new and gone": lambda desk: (
        b"From: A <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nSubject: by diff(1)\n\n"
        b"--- /dev/null\n+++ new/b.txt\n@@ -0,0 +1 @@\n+one\n"
        b"--- old/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    ),
    "plain diff(1)": lambda desk: (
        b"From: A <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nSubject: by diff(1)\n\n"
        b"--- old/plain.txt\t2026-01-01 12:00:00\n+++ new/plain.txt\t2026-01-01 12:00:00\n"
        b"@@ -1 +1,2 @@\n-line 1\n+LINE 1\n+line 1a\n"
    ),
}
