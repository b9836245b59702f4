"""The same commits give the same patch files, whatever git is told by a person, a repository or a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skippy_patches.authoring.refresh.stage import Request, refresh
from skippy_patches.upstream import pin
from tests.apply.scenario import author_queue
from tests.authoring.desk import FILE, contents
from tests.world import Recorder, World

SETTINGS = {
    "color.diff": "always",
    "color.ui": "always",
    "commit.gpgSign": "true",
    "core.abbrev": "4",
    "core.attributesFile": "~/attributes",
    "core.autocrlf": "true",
    "core.commentChar": "S",
    "core.eol": "crlf",
    "core.fsmonitor": "true",
    "core.hooksPath": "/nonexistent",
    "core.pager": "false",
    "core.quotePath": "false",
    "core.safecrlf": "true",
    "core.whitespace": "tab-in-indent,trailing-space,cr-at-eol",
    "diff.algorithm": "patience",
    "diff.colorMoved": "zebra",
    "diff.context": "9",
    "diff.cpp.xfuncname": "^.*work.*$",
    "diff.external": "false",
    "diff.ignoreSubmodules": "all",
    "diff.indentHeuristic": "false",
    "diff.interHunkContext": "50",
    "diff.mnemonicPrefix": "true",
    "diff.noprefix": "true",
    "diff.orderFile": "~/order",
    "diff.relative": "true",
    "diff.renameLimit": "1",
    "diff.renames": "false",
    "diff.statGraphWidth": "10",
    "diff.submodule": "log",
    "diff.suppressBlankEmpty": "true",
    "diff.wordRegex": ".",
    "diff.wsErrorHighlight": "all",
    "format.attach": "true",
    "format.cc": "Eve <eve@example.org>",
    "format.coverLetter": "true",
    "format.encodeEmailHeaders": "false",
    "format.filenameMaxLength": "8",
    "format.from": "Eve <eve@example.org>",
    "format.headers": "X-Mine: yes",
    "format.notes": "true",
    "format.numbered": "true",
    "format.outputDirectory": "/nonexistent",
    "format.pretty": "oneline",
    "format.signOff": "true",
    "format.signature": "me",
    "format.subjectPrefix": "RFC",
    "format.suffix": ".txt",
    "format.thread": "true",
    "format.to": "list@example.org",
    "format.useAutoBase": "true",
    "i18n.commitEncoding": "ISO-8859-1",
    "i18n.logOutputEncoding": "ISO-8859-1",
    "log.date": "relative",
    "log.decorate": "full",
    "log.mailmap": "true",
    "log.showSignature": "true",
    "mailmap.file": "~/mailmap",
    "merge.conflictStyle": "diff3",
    "notes.displayRef": "refs/notes/*",
    "user.email": "someone@example.com",
    "user.name": "Someone Else",
}
VARIABLES = {
    "GIT_DIFF_OPTS": "--unified=1",
    "GIT_EXTERNAL_DIFF": "false",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "diff.noprefix",
    "GIT_CONFIG_VALUE_0": "true",
    "GIT_CONFIG_PARAMETERS": "'format.signature'='injected'",
    "GIT_AUTHOR_NAME": "Nobody",
    "GIT_COMMITTER_DATE": "1 +0000",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_NOTES_REF": "refs/notes/mine",
    "GIT_PREFIX": "src/",
    "LC_ALL": "C",
    "TZ": "Asia/Kathmandu",
    "LANGUAGE": "de",
}


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory, upstream: Path) -> World:
    """A project that is applied, and commits above it: text, rename, binary, blanks, Latin-1, a note."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        world = World.create(tmp_path_factory.mktemp("hostile") / "project", upstream)
        author_queue(world)
        world.apply()
    path = world.checkout / FILE
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("step_9()", "nine()").replace("step_11()", "eleven()"), encoding="utf-8")
    world.inside("mv", "src/windows.txt", "src/moved.txt")
    (world.checkout / "more.bin").write_bytes(bytes(range(256)) * 3)
    (world.checkout / ".gitattributes").write_text("*.cpp diff=cpp\n*.txt -diff\n", encoding="utf-8")
    (world.checkout / "link").unlink()
    world.inside("add", "-A")
    world.inside("commit", "-q", "-m", "Größe: everything\n\nKörper.")
    (world.checkout / "src/trailing.txt").write_text("blanks\n\n\nother\n\n", encoding="utf-8")
    author = ("--author=Jürgen Müller <j@example.org>", "--date=2026-03-04T05:06:07-0330")
    world.inside("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-qam", "Latin", *author)
    world.inside("notes", "add", "-m", "a note of mine")
    return world


@pytest.fixture(scope="module")
def expected(worked: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The patch files without any setting."""
    world = _copied(worked, tmp_path_factory.mktemp("expected"))
    _refresh(world)
    found = contents(world)
    assert len(found) == 9
    return found


@pytest.fixture
def world(worked: World, tmp_path: Path) -> World:
    return _copied(worked, tmp_path)


def _copied(world: World, folder: Path) -> World:
    shutil.copytree(world.root, folder / "project", symlinks=True)
    return World(root=folder / "project", upstream=world.upstream, desk=world.desk)


def _refresh(world: World) -> None:
    project = world.project()
    assert refresh(project, pin.read(project.upstream), Request(), reporter=Recorder()).is_written


def _configure(file: Path, setting: str) -> None:
    subprocess.run(["git", "config", "--file", str(file), "--add", setting, SETTINGS[setting]], check=True)


def _files(home: Path) -> None:
    for name, text in (
        ("attributes", "* -diff merge=union\n*.cpp diff=cpp\n"),
        (".config/git/attributes", "* text eol=crlf\n*.cpp -diff\n"),
        ("order", "*.txt\n*.cpp\n"),
        ("mailmap", "Eve <eve@example.org> Jürgen Müller <j@example.org>\n"),
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


@pytest.mark.case(7, 8, 9, 22, 27)
def test_all_settings_together(
    world: World, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.environ["HOME"])
    _files(home)
    for setting in SETTINGS:
        _configure(home / ".gitconfig", setting)
        _configure(world.checkout / ".git/config", setting)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    _refresh(world)
    assert contents(world) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("place", ["user", "checkout"])
def test_one_setting(world: World, expected: dict[str, bytes], setting: str, place: str) -> None:
    home = Path(os.environ["HOME"])
    _files(home)
    _configure(home / ".gitconfig" if place == "user" else world.checkout / ".git/config", setting)
    _refresh(world)
    assert contents(world) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in VARIABLES if not name.startswith("GIT_CONFIG_")])
def test_one_variable(
    world: World, expected: dict[str, bytes], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, VARIABLES[name])
    _refresh(world)
    assert contents(world) == expected


def test_the_one_form(expected: dict[str, bytes]) -> None:
    """What is promised of a file that refresh writes."""
    text = expected["0010-Gr-e-everything.patch"]
    assert text.startswith(b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n")
    assert b"\nrename from src/windows.txt\nrename to src/moved.txt\n" in text
    assert b"\nGIT binary patch\n" in text
    assert b"@@ void step_8() {\n" in text  # the heading is git's plain one, not that of diff=cpp
    assert not text.endswith(b"-- \n")
    latin = expected["0011-Latin.patch"]
    assert b"Date: Wed, 4 Mar 2026 05:06:07 -0330\n" in latin
    assert b"a note of mine" not in latin
