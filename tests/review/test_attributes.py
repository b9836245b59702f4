"""The .gitattributes of every folder, as one file: git itself says whether it means the same."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches.review import attributes
from tests.review.team import codes
from tests.world import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.review.team import Team

PLACES = {
    ".gitattributes": b"[attr]mine merge=union\n*.patch merge=top\n",
    "a b/.gitattributes": b"\xef\xbb\xbf# c\n*.patch\tmerge=inner\n/only.txt mine\n!x merge=never\n",
    "a b/q*[/.gitattributes": b'deep/*.patch -merge\n"with blank.patch" merge=quoted\nseries merge=union\r\n'
    b'"\\303\\244.patch" merge=octal\n[attr]inner merge=none\nz.patch merge=first\nz.patch !merge\n',
}
FILES = (
    "x.patch", "a b/x.patch", "a b/only.txt", "a b/sub/only.txt", "only.txt", "a b/q*[/x.patch",
    "a b/qq/z.patch", "a b/q*[/deep/x.patch", "a b/q*[/deep/er/x.patch", "a b/q*[/with blank.patch",
    "a b/q*[/series", "a b/series", "a b/q*[/\u00e4.patch", "a b/q*[/z.patch", "deep/x.patch", "!x",
)  # fmt: skip


def _asked(folder: Path) -> bytes:
    command = ["git", "-C", str(folder), "check-attr", "-z", "--stdin", "merge"]
    names = "".join(f"{name}\0" for name in FILES).encode()
    return subprocess.run(command, input=names, capture_output=True, check=True).stdout


def test_one_file_means_what_the_files_of_all_folders_mean(tmp_path: Path) -> None:
    tree, bare = tmp_path / "tree", tmp_path / "bare"
    git(tmp_path, "init", "-q", str(tree))
    git(tmp_path, "init", "-q", "--bare", str(bare))
    for path, content in PLACES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info/attributes").write_bytes(attributes.joined(PLACES))
    expected = _asked(tree)
    assert _asked(bare) == expected
    for word in (b"top", b"inner", b"quoted", b"octal", b"unset", b"union", b"unspecified"):
        assert word in expected


@pytest.mark.parametrize("ours", ["rewording", "folder", "index"])
def test_attributes_beside_the_patches_decide_how_they_merge(own: Team, ours: str) -> None:
    """Of lines that both sides changed, both are kept, as our side says; without that they conflict."""
    git(own.top, "checkout", "-q", "rewording")
    file = own.world.patches / ".gitattributes"
    file.write_text("*.patch merge=union\n", encoding="utf-8")
    if ours == "rewording":
        assert "merge-conflict" in codes(own.review(ours, "rephrasing", wants_apply=False).found)
        own.commit("Attributes")
    elif ours == "index":
        git(own.top, "add", "-A")
        file.unlink()
    assert "merge-conflict" not in codes(own.review(ours, "rephrasing", wants_apply=False).found)


def test_what_git_cannot_merge_by_its_lines(own: Team) -> None:
    """Each side changes other lines: only an attribute makes that a conflict."""
    git(own.top, "checkout", "-q", "-b", "dated")
    patch = own.world.patches / "0020-second.patch"
    patch.write_bytes(patch.read_bytes().replace(b"From: Ada Author", b"From: Ada B. Author"))
    (own.world.patches / ".gitattributes").write_text("*.patch -merge\n", encoding="utf-8")
    own.commit("Another author")
    assert "merge-conflict" not in codes(own.review("rewording", "dated", wants_apply=False).found)
    assert "merge-conflict" in codes(own.review("dated", "rewording", wants_apply=False).found)
