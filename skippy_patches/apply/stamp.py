"""The stamp: proof that nothing changed since the last apply, at a glance and without git.

It holds a digest of everything that went into that apply, the state of the checkout's HEAD and branch, a
fingerprint of every file in the work tree, and the answer to print. When all still agree, apply is done;
when anything differs, for whatever reason, the long way decides. A stamp is only ever a fast yes.

This module is read before anything else is imported: what it imports, every apply pays for.
"""

from __future__ import annotations

import hashlib
import os
import time
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_FORMAT = "skippy-patches stamp 1"
_FILE = "applied.stamp"
_VARIABLES = "SKIPPY_PATCHES_"
# A file written within the same tick as the fingerprint can change without a trace (git's "racy" files);
# file systems here keep times in steps of at most 10 ms, one jiffy at HZ=100.
_TICK_NS = 20_000_000
_COUNT = 5  # what _fields takes of a file, and where in it the time of its last change is
_CHANGED = 3
_SIGNED = (1 << 63) - 1


def answer(root: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """What the last apply printed, as (text, JSON), when it still holds; else None.

    root: the project's folder. environment: of the process; our variables in it count.
    """
    try:
        with open(os.path.join(root, ".skippy", _FILE), encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH118, PTH123
            fields = file.read().split("\0")
        version, inputs, checkout, watched, expected, text, json_text = fields
        names = watched.split("\n")
        if version != _FORMAT or inputs != _inputs(root, environment, names):
            return None
        return (text, json_text) if expected == _state(checkout) else None
    except (OSError, ValueError):
        return None


def write(
    root: str,
    environment: Mapping[str, str],
    *,
    checkout: str,
    watched: Iterable[str],
    printed: tuple[str, str],
) -> None:
    """Remember an apply that has just ended well.

    watched: files and folders, relative to `root` or absolute, whose content went into it.
    """
    names = list(watched)
    while (newest := _newest(checkout)) > time.time_ns() - _TICK_NS:
        time.sleep(min(max(newest + _TICK_NS - time.time_ns(), 1), _TICK_NS) / 1e9)
        if newest > time.time_ns() + _TICK_NS:
            return  # a clock in the future: no fingerprint can be trusted
    inputs = _inputs(root, environment, names)
    fields = [_FORMAT, inputs, checkout, "\n".join(names), _state(checkout), *printed]
    folder = os.path.join(root, ".skippy")  # noqa: PTH118
    temporary = os.path.join(folder, f".{_FILE}.{os.getpid()}")  # noqa: PTH118
    with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        file.write("\0".join(fields))
    os.replace(temporary, os.path.join(folder, _FILE))  # noqa: PTH105, PTH118


def _inputs(root: str, environment: Mapping[str, str], names: list[str]) -> str:
    """A digest of our variables and every watched file; a folder is its files."""
    digest = hashlib.sha256()
    for name in sorted(key for key in environment if key.startswith(_VARIABLES)):
        digest.update(f"\0{name}={environment[name]}".encode("utf-8", "surrogateescape"))
    for name in names:
        path = os.path.join(root, name)  # noqa: PTH118
        for file in sorted(_files_in(path)) if os.path.isdir(path) else [path]:  # noqa: PTH112
            with open(file, "rb") as stream:  # noqa: PTH123
                content = stream.read()
            digest.update(f"\0{file}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()


def _files_in(folder: str) -> Iterator[str]:
    """What decides a lane: its patches and its series."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".patch") or entry.name == "series":
                yield entry.path


def _state(checkout: str) -> str:
    """HEAD, the branch, whether a move is under way, and a digest over every file's metadata."""
    git_dir = os.path.join(checkout, ".git")  # noqa: PTH118
    with open(os.path.join(git_dir, "HEAD"), encoding="ascii") as file:  # noqa: PTH118, PTH123
        head = file.read()
    with open(os.path.join(git_dir, "refs", "heads", "skippy"), encoding="ascii") as file:  # noqa: PTH118, PTH123
        branch = file.read()
    if os.path.exists(os.path.join(git_dir, "skippy", "journal.json")):  # noqa: PTH110, PTH118
        raise ValueError("a move is under way")
    names, numbers = _metadata(checkout)
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape"))
    digest.update(numbers.tobytes())
    return f"{head}{branch}{digest.hexdigest()}"


def _newest(checkout: str) -> int:
    """The latest change to any file, in nanoseconds since the epoch."""
    _, numbers = _metadata(checkout)
    return max(numbers[_CHANGED::_COUNT])


def _metadata(checkout: str) -> tuple[list[str], array[int]]:
    """Every file below `checkout` by name, and its _fields in a row; of .git the index alone.

    In the order in which the file system lists them: it is the same as long as a folder is, and another
    order only costs the long way. The system calls are nine tenths of the time.
    """
    names: list[str] = []
    numbers = array("q")
    git_dir = os.path.join(checkout, ".git")  # noqa: PTH118
    numbers.extend(_fields(os.stat(os.path.join(git_dir, "index"))))  # noqa: PTH116, PTH118
    folders = [checkout]
    for folder in folders:
        names.append(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
                    numbers.extend(_fields(entry.stat(follow_symlinks=False)))
                elif entry.path != git_dir:
                    folders.append(entry.path)
    return names, numbers


def _fields(status: os.stat_result) -> tuple[int, ...]:
    """What an edit cannot leave alone; the inode wrapped into a signed number."""
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino & _SIGNED
