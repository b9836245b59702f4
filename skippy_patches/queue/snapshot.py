"""The queue at one moment, as it was read from a folder, an index or a commit; order and numbers in it."""

from __future__ import annotations

import os

from skippy_patches.lighttuple import NamedTuple
from skippy_patches.queue import series
from skippy_patches.queue.patch import SUFFIX, Patch, join, number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "file"
SYMLINK = "symlink"
UNMERGED = "unmerged"
OTHER = "other"
SERIES = "series"


class Entry(NamedTuple):
    """One name in a lane that the queue is about: it ends like a patch, or looks as if it should.

    kind: file, symlink, unmerged (the index holds several stages of it) or other (folder, submodule,
    device, unreadable). content: bytes of the file, target of the symlink, else empty.
    """

    name: str
    kind: str
    content: bytes


class Lane(NamedTuple):
    """One folder of the queue. path: as configured, with `/`. series: the entry of that name, or None.

    exists: the folder is there; in an index: it holds at least one file. link: in an index or a commit, the
    path at which a symbolic link keeps the folder from being there, the lane's or that of a folder around it.
    """

    path: str
    exists: bool
    entries: tuple[Entry, ...]
    series: Entry | None
    link: str = ""

    def patches(self) -> Iterator[Patch]:
        """Regular files with a proper name, in the order of `entries`."""
        for entry in self.entries:
            number = number_of(entry.name)
            if number is not None and entry.kind == FILE:
                yield Patch(self.path, entry.name, number, entry.content)

    def ordered(self) -> list[Patch]:
        """Its patches as the series file lists them, else by number and the bytes of the name."""
        if self.series is None:
            return sorted(self.patches(), key=_position)
        patches = {patch.name: patch for patch in self.patches()}
        listed = dict.fromkeys(line.name for line in series.parse(self.series.content))
        return [patches[name] for name in listed if name in patches]


class Snapshot(NamedTuple):
    """Every lane, in apply order. source: `folder`, `index`, or the name of a commit; for messages."""

    source: str
    lanes: tuple[Lane, ...]


def ordered(snapshot: Snapshot) -> tuple[Patch, ...]:
    """Every patch in apply order: lane by lane, see Lane.ordered; never by locale."""
    return tuple(patch for lane in snapshot.lanes for patch in lane.ordered())


def next_number(snapshot: Snapshot) -> int:
    """One more than the highest number of any lane, also of files that a series does not list; 1 when empty.

    Holes are never filled: a number in a hole may be known to somebody as the patch that was there.
    """
    numbers = (number_of(entry.name) or 0 for lane in snapshot.lanes for entry in lane.entries)
    return max(numbers, default=0) + 1


def entry_path(lane: Lane, entry: Entry) -> str:
    """The entry's path relative to the project."""
    return join(lane.path, entry.name)


def is_about_patches(name: str) -> bool:
    """Whether a file called `name` in a lane is an Entry: *.patch in any case, or NNNN-*.diff."""
    folded = name.lower()
    return folded.endswith(SUFFIX) or (folded.endswith(".diff") and name[:4].isdigit())


def _position(patch: Patch) -> tuple[int, bytes]:
    return patch.number, os.fsencode(patch.name)
