"""Adopting a queue: what is written, what is refused, and that nothing else is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml

from skippy_patches import config
from skippy_patches.authoring import adopt as adopting
from skippy_patches.authoring.adopt import REPOSITORY, adopt
from skippy_patches.authoring.adopt_errors import AlreadyAdopted
from skippy_patches.errors import ConfigError, UsageError
from tests.queue.made import good

if TYPE_CHECKING:
    from pathlib import Path

SHA = "14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a queue and a pin file, and no skippy-patches.yaml."""
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches/0001-a.patch").write_bytes(good(1))
    (tmp_path / "pin.txt").write_text(f"{SHA}\n", encoding="utf-8")
    return tmp_path


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, with its bytes; of a link, where it points to."""
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {
        str(path.relative_to(folder)): os.fsencode(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in files
    }


def test_a_pin_file_stays_the_place_of_the_pin(place: Path) -> None:
    before = _files(place)
    project = adopt(place, queue="patches", pin="pin.txt")
    text = (place / "skippy-patches.yaml").read_text(encoding="utf-8")
    assert "  commit_file: pin.txt " in text
    assert SHA not in text
    assert project == config.load(place / "skippy-patches.yaml")
    assert project.root.is_absolute()
    assert (project.upstream.commit, project.upstream.repository) == (SHA, REPOSITORY)
    assert project.queue == (place / "patches",)
    after = _files(place)
    del after["skippy-patches.yaml"]
    assert after == before
    (place / "pin.txt").write_text("f" * 40, encoding="utf-8")
    assert config.load(project.file).upstream.commit == "f" * 40


def test_a_commit(place: Path) -> None:
    project = adopt(place, queue="patches", pin=SHA.upper(), repository="https://example.org/x.git")
    assert f"  commit: {SHA}\n" in project.file.read_text(encoding="utf-8")
    assert project.upstream.repository == "https://example.org/x.git"
    assert project.upstream.commit_file is None


@pytest.mark.parametrize(
    ("queue", "pin"),
    [
        ("patches/", "./pin.txt"),
        ("../{folder}/patches", "../{folder}/pin.txt"),
        ("{place}/patches", "{place}/pin.txt"),
    ],
)
def test_paths_are_written_as_seen_from_the_file(place: Path, queue: str, pin: str) -> None:
    names = {"place": place, "folder": place.name}
    project = adopt(place, queue=queue.format(**names), pin=pin.format(**names))
    text = project.file.read_text(encoding="utf-8")
    assert "queue: patches\n" in text
    assert "commit_file: pin.txt " in text


def test_the_folder_itself_is_the_queue(place: Path) -> None:
    project = adopt(place / "patches", queue=".", pin=str(place / "pin.txt"))
    assert project.queue == (place / "patches",)
    assert "The patch queue in this folder" in project.file.read_text(encoding="utf-8")
    assert "commit_file: ../pin.txt " in project.file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "a: b",
        "a #b",
        "- x",
        "{x}",
        '"q"',
        "it's",
        "\u00e4",
        "on",
        "0021",
        "a\nb: c",
        "x:",
        "*a",
        "&a",
        "!a",
        "%a",
        "a\\b",
        "null",
        "~",
        "Yes",
        "n",
        "1e3",
        "0x1F",
        "12:30",
        "a\u2028b: c",
        "a\x85queue: b",
        "\ufeffa",
        "\U0001f600",
    ],
)
def test_odd_names_are_quoted(place: Path, name: str) -> None:
    (place / "patches").rename(place / name)
    (place / "pin.txt").rename(place / f"{name}.pin")
    project = adopt(place, queue=name, pin=f"{name}.pin", repository=f"/{name}")
    again = config.load(project.file)
    assert again.queue == (place / name,)
    assert again.upstream.commit_file == place / f"{name}.pin"
    assert again.upstream.repository == f"/{name}"
    assert yaml.safe_load(project.file.read_bytes())["queue"] == name  # for other readers of YAML, too


def test_a_queue_behind_a_link_is_refused(place: Path) -> None:
    (place / "link").symlink_to("patches")
    with pytest.raises(ConfigError, match="names link, and link is a symbolic link"):
        adopt(place, queue="link", pin="pin.txt")
    assert not (place / "skippy-patches.yaml").exists()


@pytest.mark.parametrize(
    ("queue", "pin", "said"),
    [
        ("patches", SHA[:12], "The pin '14e78ddef7a2' is a short SHA, and no file."),
        ("patches", "main", "The pin 'main' is neither a full 40-digit SHA nor a file."),
        ("patches", "", "The pin '' is neither"),
        ("patches", "patches", "patches is not a file."),
        ("patches", "two.txt", "two.txt has 2 lines or more."),
        ("patches", "comment.txt", f"comment.txt holds '{SHA} # b10361'."),
        ("patches", "empty.txt", "empty.txt is empty."),
        ("patches", "short.txt", "short.txt holds '14e78ddef7'."),
        ("nothing", SHA, "nothing, does not exist."),
        ("pin.txt", SHA, "pin.txt, is not a folder."),
        ("..", SHA, "lies outside"),
        ("bytes-\udcff", SHA, "is not UTF-8 text."),
    ],
)
def test_what_is_refused(place: Path, queue: str, pin: str, said: str) -> None:
    (place / os.fsdecode(b"bytes-\xff")).mkdir()
    (place / "two.txt").write_text(f"{SHA}\n{SHA}\n", encoding="utf-8")
    (place / "comment.txt").write_text(f"{SHA} # b10361\n", encoding="utf-8")
    (place / "empty.txt").write_text("\n", encoding="utf-8")
    (place / "short.txt").write_text(SHA[:10], encoding="utf-8")
    before = _files(place)
    with pytest.raises(UsageError) as caught:
        adopt(place, queue=queue, pin=pin)
    assert said in caught.value.what
    assert caught.value.mend
    assert _files(place) == before


def test_a_folder_that_is_not_there(place: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        adopt(place / "nothing", queue=".", pin=SHA)


@pytest.mark.parametrize("kind", ["file", "broken link"])
def test_what_is_there_is_never_overwritten(place: Path, kind: str) -> None:
    file = place / "skippy-patches.yaml"
    if kind == "file":
        file.write_text("mine\n", encoding="utf-8")
    else:
        file.symlink_to("elsewhere.yaml")
    before = _files(place)
    with pytest.raises(AlreadyAdopted):
        adopt(place, queue="patches", pin=SHA)
    assert _files(place) == before
    assert not (place / "elsewhere.yaml").exists()


def test_another_command_was_faster(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file comes while this one is being made: it wins, and no temporary file stays."""
    create = adopting._create

    def late(file: Path, content: bytes) -> None:
        file.write_text("theirs\n", encoding="utf-8")
        create(file, content)

    monkeypatch.setattr(adopting, "_create", late)
    with pytest.raises(AlreadyAdopted):
        adopt(place, queue="patches", pin=SHA)
    assert (place / "skippy-patches.yaml").read_text(encoding="utf-8") == "theirs\n"
    assert sorted(path.name for path in place.iterdir()) == ["patches", "pin.txt", "skippy-patches.yaml"]
