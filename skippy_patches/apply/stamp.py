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

from skippy_patches import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_FORMAT = "skippy-patches stamp 1"
_FILE = "applied.stamp"
_VARIABLES = "SKIPPY_PATCHES_"
# A file written within the same tick as the fingerprint can change without a trace (git's "racy" files).
# ext4, XFS, btrfs and APFS keep times in steps of at most 10 ms, one jiffy at HZ=100.
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
        version, expected, checkout, watched, standing, text, json_text = fields
        if version != _FORMAT or expected != inputs(root, environment, watched.split("\n")):
            return None
        return (text, json_text) if standing == fingerprint(checkout) else None
    except (OSError, ValueError):
        return None


def write(
    root: str,
    *,
    inputs: str,
    checkout: str,
    watched: Iterable[str],
    fingerprint: str,
    printed: tuple[str, str],
) -> None:
    """Remember an apply that has ended well.

    inputs, fingerprint: as they were taken before it and after it. watched: files and folders, relative to
    `root` or absolute, whose content went into it.
    """
    fields = [_FORMAT, inputs, checkout, "\n".join(watched), fingerprint, *printed]
    folder = os.path.join(root, ".skippy")  # noqa: PTH118
    temporary = os.path.join(folder, f".{_FILE}.{os.getpid()}")  # noqa: PTH118
    with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        file.write("\0".join(fields))
    os.replace(temporary, os.path.join(folder, _FILE))  # noqa: PTH105, PTH118


def inputs(
    root: str, environment: Mapping[str, str], names: Iterable[str], known: Mapping[str, bytes] | None = None
) -> str:
    """A digest of our version and variables, and of every watched file; a folder is what `check` reads of it.

    known: path -> bytes of files that were read already; what lies there now may be another thing.
    Raises OSError for what cannot be read, ValueError for a symlink in a lane, which `check` judges.
    """
    digest = hashlib.sha256(__version__.encode())
    for name in sorted(key for key in environment if key.startswith(_VARIABLES)):
        digest.update(f"\0{name}={environment[name]}".encode("utf-8", "surrogateescape"))
    for name in names:
        path = os.path.join(root, name)  # noqa: PTH118
        for file in sorted(_files_in(path)) if os.path.isdir(path) else [path]:  # noqa: PTH112
            content = known.get(file) if known else None
            if content is None:
                with open(file, "rb") as stream:  # noqa: PTH123
                    content = stream.read()
            digest.update(f"\0{file}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()


def _files_in(folder: str) -> Iterator[str]:
    """Of a lane: what is a patch, looks as if it should be one, or orders them (queue/snapshot.py)."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.lower().endswith((".patch", ".diff")) or entry.name == "series":
                if entry.is_symlink():
                    raise ValueError(entry.path)
                yield entry.path


def fingerprint(checkout: str) -> str:
    """HEAD, the branch, what lies in the git dir, and a digest over every file's metadata.

    The git dir's own list tells of a rebase or a bisection in progress and of a lock; ours of a move.
    """
    git_dir = os.path.join(checkout, ".git")  # noqa: PTH118
    if os.path.exists(os.path.join(git_dir, "skippy", "journal.json")):  # noqa: PTH110, PTH118
        raise ValueError("a move is under way")
    try:
        branch = _content(git_dir, "refs", "heads", "skippy")
    except FileNotFoundError:
        branch = _content(git_dir, "packed-refs")
    names, numbers = _metadata(checkout)
    names += sorted(os.listdir(git_dir))  # noqa: PTH208
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape"))
    digest.update(branch + _content(git_dir, "info", "attributes") + numbers.tobytes())
    return f"{_content(git_dir, 'HEAD').decode()}{digest.hexdigest()}"


def settled_fingerprint(checkout: str) -> str | None:
    """The fingerprint, once the last change is old enough for the next one to show in the times."""
    while True:
        newest = _newest(checkout)
        now = time.time_ns()
        if newest > now + _TICK_NS:
            return None  # a clock in the future: no time can be trusted
        if newest <= now - _TICK_NS:
            return fingerprint(checkout)
        time.sleep((newest + _TICK_NS - now) / 1e9)


def _content(*parts: str) -> bytes:
    with open(os.path.join(*parts), "rb") as file:  # noqa: PTH118, PTH123
        return file.read()


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
