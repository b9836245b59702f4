"""Two authors, one number, on the real llama.cpp: written, found, mended, taken back. `pytest -m e2e`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / ".venv/bin/skippy-patches"
NEXT = 1 + max(int(patch.name[:4]) for patch in (REPOSITORY / "patches").glob("[0-9]*.patch"))
FIRST, SECOND, THIRD = (f"{number:04}" for number in range(NEXT, NEXT + 3))
ENVIRONMENT = {
    name: text for name, text in os.environ.items() if not name.startswith(("GIT_", "SKIPPY_PATCHES_"))
}


class Author:
    """A person with a clone of the project, a checkout in it and a name."""

    def __init__(self, folder: Path, cache: Path, name: str) -> None:
        self.folder = folder
        self.checkout = folder / ".skippy/llama.cpp"
        who = {"NAME": name, "EMAIL": f"{name.lower()}@example.org"}
        identity = {
            f"GIT_{role}_{key}": text for role in ("AUTHOR", "COMMITTER") for key, text in who.items()
        }
        self.environment = {**ENVIRONMENT, **identity, "SKIPPY_PATCHES_CACHE_DIR": str(cache)}
        self.git("clone", "-q", str(REPOSITORY), str(folder), at=folder.parent)
        self.git("checkout", "-q", "-B", name.lower())

    def git(self, *arguments: str, at: Path | None = None) -> str:
        return self._run("git", *arguments, at=at or self.folder).stdout.strip()

    def run(self, *arguments: str, status: int = 0) -> str:
        done = self._run(str(PROGRAM), *arguments, at=self.folder, status=status)
        return done.stdout + done.stderr

    def answer(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        done = self._run(str(PROGRAM), *arguments, "--format", "json", at=self.folder, status=status)
        content = json.loads(done.stdout)
        assert isinstance(content, dict)
        return content

    def write(self, subject: str, file: str, line: str) -> None:
        """Author a patch: begin it, append a line to `file`, fill the commit."""
        self.run("new", subject)
        with (self.checkout / file).open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
        self.git("commit", "-q", "-a", "--amend", "--no-edit", at=self.checkout)

    def publish(self) -> None:
        """Export what was authored and commit it to the project."""
        self.run("refresh")
        self.git("add", "-A", "patches")
        self.git("commit", "-q", "-m", "Add patches")

    @property
    def patches(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / "patches").glob("*.patch")}

    def _run(self, *command: str, at: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=at, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """Ada's patch, the first after the queue's own, notes something in one file."""
    place = tmp_path_factory.mktemp("authors")
    author = Author(place / "ada", place / "cache", "Ada")
    author.run("apply")
    author.write("grammar: note who was here", "src/llama-grammar.cpp", "// Ada was here.")
    author.publish()
    return author


@pytest.fixture(scope="module")
def bob(ada: Author) -> Author:
    """Bob's two note something in another; the second needs the first."""
    author = Author(ada.folder.with_name("bob"), ada.folder.with_name("cache"), "Bob")
    author.run("apply")
    author.write("adapter: note who was here", "src/llama-adapter.cpp", "// Bob was here.")
    author.write("adapter: note it twice", "src/llama-adapter.cpp", "// Bob was here twice.")
    author.publish()
    return author


def test_refresh_after_apply_changes_nothing(ada: Author) -> None:
    before = ada.patches
    ada.run("apply")
    assert "refresh" not in ada.git("status", "--porcelain")
    ada.run("refresh", "--dry-run")
    ada.run("refresh")
    assert ada.patches == before
    assert ada.git("status", "--porcelain") == ""


def test_both_took_the_same_number(ada: Author, bob: Author) -> None:
    assert f"{FIRST}-grammar-note-who-was-here.patch" in ada.patches
    assert {
        f"{FIRST}-adapter-note-who-was-here.patch",
        f"{SECOND}-adapter-note-it-twice.patch",
    } < bob.patches.keys()


def test_an_edit_of_the_first_is_followed_by_the_second(bob: Author) -> None:
    second = bob.patches[f"{SECOND}-adapter-note-it-twice.patch"]
    bob.run("edit", FIRST)
    file = bob.checkout / "src/llama-adapter.cpp"
    file.write_text(file.read_text(encoding="utf-8").replace("Bob was here.", "Bob was here!"), "utf-8")
    bob.git("commit", "-q", "-a", "--amend", "--no-edit", at=bob.checkout)
    assert "src/llama-adapter.cpp" in bob.run("continue", status=4)
    ours, _, rest = file.read_text(encoding="utf-8").partition("<<<<<<<")
    assert "Bob was here twice." in rest
    file.write_text(f"{ours}// Bob was here!\n// Bob was here twice.\n", "utf-8")
    bob.git("add", "-A", at=bob.checkout)
    bob.run("continue")
    bob.run("refresh")
    assert b"+// Bob was here!" in bob.patches[f"{FIRST}-adapter-note-who-was-here.patch"]
    assert bob.patches[f"{SECOND}-adapter-note-it-twice.patch"] != second
    bob.git("commit", "-q", "-a", "-m", "Be glad")
    assert "Up to date" in bob.run("apply")


def test_found_before_the_merge_mended_after_it_and_taken_back(ada: Author, bob: Author) -> None:
    ada.git("fetch", "-q", str(bob.folder), "bob:refs/remotes/bob/bob")
    for order in (("ada", "bob/bob"), ("bob/bob", "ada")):
        found = ada.answer("check", "--merge", *order, status=1)
        assert "duplicate-number" in {finding["code"] for finding in found["findings"]}
        (merge,) = found["merges"]
        (pair,) = merge["commute"]
        assert (pair["commutes"], pair["tree_ab"]) == (True, pair["tree_ba"])
        assert merge["applies"]
    ada.git("merge", "-q", "--no-edit", "bob/bob")
    index, before = ada.git("ls-files", "--stage"), ada.patches
    ada.run("check", status=1)
    ada.run("renumber", status=1)
    assert ada.patches == before
    ada.run("renumber", "--write")
    assert sorted(ada.patches)[-3:] == [
        f"{FIRST}-adapter-note-who-was-here.patch",
        f"{SECOND}-grammar-note-who-was-here.patch",
        f"{THIRD}-adapter-note-it-twice.patch",
    ]
    ada.run("check")
    assert ada.answer("apply")["patched"]["tree"] == merge["tree"]
    ada.run("renumber", "--undo")
    assert (ada.git("ls-files", "--stage"), ada.patches) == (index, before)
