"""`--output`: every place that a user may name, and what is there afterwards."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.cli.console import Terminal
from skippy_patches.cli.output import Output, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _here(tmp_path: Path) -> Iterator[None]:
    with contextlib.chdir(tmp_path):
        yield


def write(word: str | None, text: str = "new") -> None:
    Output.of(Path(), word).write(text, Terminal.open())


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("", "it is a folder"),
        (".", "it is a folder"),
        ("/", "it is a folder"),
        ("folder", "it is a folder"),
        ("folder/", "it is a folder"),
        ("to-folder", "it is a folder"),
        ("none/", "the slash says that it is a folder"),
        ("none/x.json", "there is no folder none"),
        ("folder/none/x.json", "there is no folder folder/none"),
        ("file/x.json", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("n" * 256, "File name too long"),
    ],
)
def test_places_where_nothing_can_be_written(tmp_path: Path, word: str, reason: str) -> None:
    Path("folder").mkdir()
    Path("file").write_text("old", encoding="utf-8")
    Path("loop").symlink_to("loop")
    Path("to-folder").symlink_to("folder")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(OutputRefused) as caught:
        write(word)

    assert caught.value.what == f"Nothing is written to {Path(word)}: {reason}."
    assert caught.value.exit_status == 2
    assert sorted(tmp_path.rglob("*")) == before
    assert Path("file").read_text(encoding="utf-8") == "old"


def test_a_file_is_replaced_and_keeps_its_permissions(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("n" * 255)  # as long as a name may be: the temporary file's is not longer
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    write(str(file))

    assert file.read_text(encoding="utf-8") == "new\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert capsys.readouterr().out == f"Written to {file}\n"
    assert [each.name for each in Path().iterdir()] == [file.name]


def test_a_link_stays_one() -> None:
    Path("folder").mkdir()
    Path("link").symlink_to("folder/target")
    write("link")

    assert Path("link").readlink() == Path("folder/target")
    assert Path("folder/target").read_text(encoding="utf-8") == "new\n"


def test_a_link_to_where_no_folder_is() -> None:
    Path("link").symlink_to("none/target")
    with pytest.raises(OutputRefused, match=r"there is no folder \S+/none\."):
        write("link")


def test_a_pipe_stays_one() -> None:
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text(encoding="utf-8")))
    reader.start()
    write("pipe")
    reader.join()

    assert read == ["new\n"]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)  # noqa: PTH116 - what it is, not where it leads


@pytest.mark.parametrize("word", [None, "-"])
def test_stdout(word: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    write(word)
    assert capsys.readouterr().out == "new\n"
    assert not list(Path().iterdir())


def test_the_file_that_stdout_is_led_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `-o /dev/stdout`: another file in its place would not be the one that the shell has open."""
    with Path("led.json").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        write("led.json")
    assert Path("led.json").read_text(encoding="utf-8") == "new\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device", ".temporary")])
def test_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(_: int) -> None:
        raise error

    Path("file").write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises((KeyboardInterrupt, OutputRefused)) as caught:
        write("file")

    assert "temporary" not in str(caught.value)
    assert [each.name for each in Path().iterdir()] == ["file"]
    assert Path("file").read_text(encoding="utf-8") == "old"


def test_a_link_where_the_temporary_file_would_be_is_not_followed(tmp_path: Path) -> None:
    """Everybody may write to /tmp; what is there under the number of this process is somebody's trap."""
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / f".skippy-patches.{os.getpid()}").symlink_to(victim)
    write(str(folder / "file"))
    assert victim.read_text(encoding="utf-8") == "precious"
    assert not (folder / "file").is_symlink()
    assert (folder / "file").read_text(encoding="utf-8") == "new\n"


def test_a_write_protected_file_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename would ask the folder alone. Root may write everywhere, so that the answer is given here."""
    Path("file").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputRefused, match="it is write-protected"):
        write("file")
