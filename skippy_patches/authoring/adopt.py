"""Adopt a queue that lives somewhere already: write the skippy-patches.yaml that describes it.

The usual case is a folder of patches and a one-line file with the pin inside a larger repository. Nothing
but the new file is written; the pin file stays the one place of the pin.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from skippy_patches import config
from skippy_patches.authoring.adopt_errors import (
    AlreadyAdopted,
    NoSuchQueue,
    NotText,
    PinFileUnclear,
    PinIsNoCommit,
    QueueOutside,
)
from skippy_patches.files import sync_folder
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.reader import refuse_links

REPOSITORY = "https://github.com/ggml-org/llama.cpp.git"
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+:-]*(?<!:)", re.ASCII)  # text that YAML takes as it is
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))  # no text in YAML 1.1
_LARGEST_PIN_FILE = 1000  # bytes that are looked at
_TEXT = """\
# The patch queue in {shown}, on a pinned llama.cpp: skippy-patches check, apply, status.
# Every key there is: docs/configuration.md of skippy-patches.
upstream:
  repository: {repository}
  {pin}
queue: {queue}
"""


def adopt(folder: Path, *, queue: str, pin: str, repository: str = REPOSITORY) -> config.Project:
    """Write skippy-patches.yaml into `folder` and read it back.

    queue: the folder of the patches. pin: a full SHA, or a file that holds one. Both paths count from
    `folder`. Raises AlreadyAdopted, NoSuchQueue, QueueOutside, PinIsNoCommit, PinFileUnclear and, for a
    repository that is none or a queue behind a symbolic link, ConfigError; then nothing was written.
    """
    folder = config.existing_folder(folder)
    file = folder / config.FILE_NAME
    if os.path.lexists(file):
        raise AlreadyAdopted(file)
    lane = _lane(folder, queue)
    text = _TEXT.format(
        shown="this folder" if lane == "." else f"{_quoted(lane)[1:-1]}/",
        repository=_scalar(repository),
        pin=_pin(folder, pin),
        queue=_scalar(lane),
    )
    content = text.encode()
    project = config.load(file, content=content)
    refuse_links(project)
    _create(file, content)
    return project


def _lane(folder: Path, queue: str) -> str:
    """The queue's folder relative to `folder`, with `/`."""
    path = folder / queue
    if not path.is_dir():
        raise NoSuchQueue(path)
    lane = os.path.relpath(path, folder)
    if Path(lane).parts[:1] == (os.pardir,):
        raise QueueOutside(path, folder)
    return lane


def _pin(folder: Path, pin: str) -> str:
    """The line of the file that names the pin."""
    if _is_commit(pin):
        return f"commit: {pin.lower()}"
    file = folder / pin
    if not pin or not file.exists():
        raise PinIsNoCommit(pin, folder)
    _check_pin_file(file)
    return f"commit_file: {_scalar(os.path.relpath(file, folder))}   # one line; the pin is changed there"


def _check_pin_file(file: Path) -> None:
    if not file.is_file():
        raise PinFileUnclear(file, "is not a file")
    with file.open("rb") as stream:
        text = stream.read(_LARGEST_PIN_FILE).decode("utf-8", "backslashreplace").strip()
    if _is_commit(text):
        return
    lines = text.split("\n")
    if not text:
        what = "is empty"
    elif len(lines) > 1:
        what = f"has {len(lines)} lines or more"
    else:
        what = f"holds '{text[:60]}'"
    raise PinFileUnclear(file, what)


def _is_commit(text: str) -> bool:
    try:
        return bool(ObjectId(text.lower()))
    except ValueError:
        return False


def _scalar(text: str) -> str:
    """`text` as YAML: as it is when every reader takes it for text, else in double quotes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotText(text) from None
    has_letter = any(char.isalpha() or char == "/" for char in text)
    is_number = text[0:1].isdecimal() and not text.strip("0123456789abcdefoxABCDEF_+.:-")
    is_plain = _PLAIN.fullmatch(text) and has_letter and not is_number and text.lower() not in _WORDS
    return text if is_plain and text.lower() not in (".inf", ".nan") else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes, escaped as JSON's are, and all that YAML breaks lines at or refuses, too."""
    return "".join(
        char
        if char.isprintable()
        else f"\\u{ord(char):04x}"
        if ord(char) < 0x10000
        else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _create(file: Path, content: bytes) -> None:
    """Make the file whole or not at all, and never over another: link(2) refuses where one is."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(temporary, file)
    except FileExistsError:
        raise AlreadyAdopted(file) from None
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(file.parent)
