"""Paths and symlinks that lead out of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue.check import Policy, check
from skippy_patches.queue.safety import path_danger
from tests.queue.made import link_diff, mailed, queue, removal, text_diff

if TYPE_CHECKING:
    from skippy_patches.queue.findings import Finding


def _found(*patches: bytes) -> list[Finding]:
    files = {f"{number:04}-p.patch": content for number, content in enumerate(patches, 1)}
    return list(check(queue({**files}), Policy()))


@pytest.mark.parametrize(
    ("path", "danger"),
    [
        ("../x", "leaves"), ("a/../../x", "leaves"), ("a/..", "leaves"), ("a\\..\\x", "leaves"),
        ("/etc/passwd", "absolute"), ("C:/x", "absolute"), ("\\x", "absolute"),
        ("a//x", "empty"), ("./x", "empty"), ("a/", "empty"), ("", "empty"), ("a\0b", "empty"),
        (".git/hooks/pre-commit", ".git"), ("a/.GIT/config", ".git"), (".git", ".git"), (".git./x", ".git"),
        (".git . /x", ".git"), ("git~1/x", ".git"), ("GiT~1/x", ".git"), (".git::$INDEX/x", ".git"),
        (".g\u200cit/x", ".git"), ("\ufeff.git/x", ".git"), ("a\\.git\\x", ".git"),
    ],
)  # fmt: skip
def test_dangerous(path: str, danger: str) -> None:
    assert danger in path_danger(path)


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        "a/.github/x",
        "a..b",
        "...",
        ".gitmodules",
        "git/x",
        "git~2",
        "b",
        "gr\u00fc\u00df/\udcff",
    ],
)
def test_harmless(path: str) -> None:
    assert path_danger(path) == ""


@pytest.mark.case(20)
@pytest.mark.parametrize(
    "path", ["../out.txt", "src/../../out.txt", ".git/hooks/post-checkout", ".GIT/config", "/etc/passwd"]
)
def test_unsafe_path_of_a_patch(path: str) -> None:
    (finding,) = _found(mailed(text_diff("fine"), text_diff(path)))
    assert (finding.code, finding.severity) == ("unsafe-path", "error")
    assert path in finding.what
    assert finding.line == mailed(text_diff("fine")).split(b"-- \n")[0].count(b"\n") + 1


def test_unsafe_side_of_a_rename() -> None:
    rename = b"diff --git a/x b/.git/hooks/x\nsimilarity index 100%\nrename from x\nrename to .git/hooks/x\n"
    assert [finding.code for finding in _found(mailed(rename))] == ["unsafe-path"]


@pytest.mark.case(20)
@pytest.mark.parametrize(
    ("link", "target", "words"),
    [
        ("link", "/etc", "is absolute"), ("link", "..", "leaves"), ("a/link", "../../x", "leaves"),
        ("a/b/link", "../../../x", "leaves"), ("a/link", "../.git/hooks", "enters .git"),
        ("link", "a/../../x", "leaves"), ("link", "C:\\x", "is absolute"), ("link", "..\\x", "leaves"),
        (".gitmodules", "a", "stands for .gitmodules"),
    ],
)  # fmt: skip
def test_unsafe_symlink(link: str, target: str, words: str) -> None:
    (finding,) = _found(mailed(link_diff(link, target)))
    assert (finding.code, finding.severity, words in finding.what) == ("unsafe-symlink", "error", True)
    assert f"{link} -> {target}" in finding.what


@pytest.mark.parametrize(
    ("link", "target"), [("link", "a/b"), ("a/b/link", "../../x"), ("a/link", "./../a/x")]
)
def test_safe_symlink(link: str, target: str) -> None:
    assert _found(mailed(link_diff(link, target))) == []


def test_symlink_that_is_turned_elsewhere() -> None:
    change = (
        b"diff --git a/link b/link\nindex 1..2 120000\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a\n"
        b"\\ No newline at end of file\n+../../etc\n\\ No newline at end of file\n"
    )
    assert [finding.code for finding in _found(mailed(change))] == ["unsafe-symlink"]


@pytest.mark.case(20)
def test_write_through_a_symlink_of_an_earlier_patch() -> None:
    link, write = mailed(link_diff("a/dir", "..")), mailed(text_diff("a/dir/file"))
    (finding,) = _found(link, mailed(text_diff("other")), write)
    assert (finding.code, finding.files) == ("through-symlink", ("patches/0003-p.patch",))
    assert "a/dir/file lies below a/dir" in finding.what
    assert _found(write, link) == []


def test_write_through_a_symlink_in_other_case() -> None:
    found = _found(mailed(link_diff("dir", "src")), mailed(text_diff("DIR/file")))
    assert [finding.code for finding in found] == ["through-symlink"]


def test_write_through_a_symlink_of_the_same_patch() -> None:
    found = _found(mailed(link_diff("dir", "src"), text_diff("dir/file")))
    assert [finding.code for finding in found] == ["through-symlink"]


def test_write_through_a_symlink_that_was_moved() -> None:
    move = b"diff --git a/dir b/new\nsimilarity index 100%\nrename from dir\nrename to new\n"
    found = _found(
        mailed(link_diff("dir", "src")), mailed(move), mailed(text_diff("new/f"), text_diff("dir/f"))
    )
    assert ["new/f" in finding.what for finding in found] == [True]


def test_a_symlink_that_is_gone_is_forgotten() -> None:
    patches = mailed(link_diff("dir", "src")), mailed(removal("dir", "120000")), mailed(text_diff("dir/file"))
    assert _found(*patches) == []


def test_a_folder_may_become_a_symlink_in_one_patch() -> None:
    assert _found(mailed(removal("dir/file"), link_diff("dir", "src"))) == []
    found = _found(mailed(link_diff("dir", "src")), mailed(removal("dir/file")))
    assert [finding.code for finding in found] == ["through-symlink"]
