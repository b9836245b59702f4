"""Read a queue: from its folders, or from the index of the project's repository."""

from __future__ import annotations

import os
from pathlib import Path

from skippy_patches import config
from skippy_patches.errors import ConfigError
from skippy_patches.queue.check import check, policy_of
from skippy_patches.queue.errors import QueueError
from skippy_patches.queue.snapshot import (
    FILE,
    OTHER,
    SERIES,
    SYMLINK,
    UNMERGED,
    Entry,
    Lane,
    Snapshot,
    is_about_patches,
    ordered,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from skippy_patches.git_host import IndexEntry
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.patch import Patch

    class HostGit(Protocol):
        """What reading an index needs of git; see git_host.HostGit."""

        def entries(self, folders: Sequence[str], /) -> Iterable[IndexEntry]:
            """Index entries at or below `folders`; paths are relative to the project."""

        def blobs(self, names: Sequence[str], /) -> list[bytes | None]:
            """The contents of these objects; None in place of one that is not there."""

        def index_blob(self, path: str, /) -> bytes | None:
            """The content of `path` in the index; None when absent or in conflict."""


SYMLINK_MODE = "120000"
_FILE_MODES = ("100644", "100755")
# Codes of errors that leave order, bytes and safety of the queue beyond doubt.
_HARMLESS = frozenset({"gap"})


def load(project: config.Project) -> tuple[Patch, ...]:
    """The queue in apply order, read from its folders.

    Raises QueueError, listing every error, when the check finds one that makes order, bytes or safety
    doubtful: each but a forbidden gap.
    """
    return usable(project, read_folder(project))


def usable(project: config.Project, snapshot: Snapshot) -> tuple[Patch, ...]:
    """The patches of a queue that was read, in apply order. Raises QueueError as `load` does."""
    findings = blocking(project, snapshot)
    if findings:
        raise QueueError(findings)
    return ordered(snapshot)


def blocking(project: config.Project, snapshot: Snapshot) -> list[Finding]:
    """The findings for which `load` refuses a queue."""
    findings = check(snapshot, policy_of(project))
    return [finding for finding in findings if finding.is_error and finding.code not in _HARMLESS]


def read(start: Path, *, is_staged: bool) -> tuple[config.Project, Snapshot]:
    """The project around `start` and its queue: from the folders, or both from the index."""
    file = config.find(start)
    if not is_staged:
        project = config.load(file)
        return project, read_folder(project)
    from skippy_patches.git_host import HostGit as IndexReader  # noqa: PLC0415 - subprocess, for --staged only

    with IndexReader(file.parent) as git:
        project = read_index_project(file, git)
        return project, read_index(project, git)


def read_folder(project: config.Project) -> Snapshot:
    """The queue as it lies in its folders. Raises ConfigError for one that cannot be listed, or is a link."""
    refuse_links(project)
    return Snapshot("folder", tuple(_folder_lane(lane, lane_path(project, lane)) for lane in project.queue))


def refuse_links(project: config.Project) -> None:
    """Refuse a lane that only a symbolic link leads to: the index and commits hold nothing behind it.

    Outside of the project the lane alone counts, not the folders around it. Raises ConfigError.
    """
    lanes = [lane_path(project, lane) for lane in project.queue]
    for path, place in ((lane, place) for lane in lanes for place in with_parents(lane)):
        is_ours = not path.startswith("../") or place == path
        if is_ours and (project.root / place).is_symlink():
            raise ConfigError(
                f"'queue' names {path}, and {place} is a symbolic link",
                file=project.file,
                why="git keeps the link and nothing that lies behind it: no commit would have the patches.",
                mend="Replace the link by the folder, or name the folder that it leads to.",
            )


def read_index(project: config.Project, git: HostGit) -> Snapshot:
    """The queue as the index of the project's repository holds it; folders are not looked at."""
    paths = [lane_path(project, lane) for lane in project.queue]
    for path in paths:
        if path.split("/", 1)[0] in ("", ".."):
            raise ConfigError(f"'queue' names {path}, which is not in the repository", file=project.file)
    entries = list(git.entries(paths))
    return Snapshot("index", tuple(_index_lane(path, entries, git) for path in paths))


def read_index_project(file: Path, git: HostGit) -> config.Project:
    """The project as the skippy-patches.yaml in the index describes it. Raises ConfigError."""
    content = git.index_blob(file.name)
    if content is None:
        raise ConfigError(
            "is not in the index, or has a merge conflict there",
            file=file,
            why="--staged checks what the next commit will hold.",
            mend=f"git add {file.name}",
        )

    def read_staged(other: Path) -> bytes:
        staged = git.index_blob(os.path.relpath(other, file.parent))
        if staged is None:
            raise FileNotFoundError(2, "the index has no such file")
        return staged

    return config.load(file, content=content, read=read_staged)


def lane_path(project: config.Project, lane: Path) -> str:
    """The lane relative to the project, with `/`; as it is when it lies elsewhere."""
    return os.path.relpath(lane, project.root).replace(os.sep, "/")


def _folder_lane(folder: Path, path: str) -> Lane:
    try:
        with os.scandir(folder) as listing:
            found = [item for item in listing if item.name == SERIES or is_about_patches(item.name)]
    except FileNotFoundError:
        return Lane(path, False, (), None)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=folder) from error
    return lane_of(path, True, [_folder_entry(item) for item in found])


def _folder_entry(item: os.DirEntry[str]) -> Entry:
    try:
        if item.is_symlink():
            return Entry(item.name, SYMLINK, os.fsencode(Path(item.path).readlink()))
        if item.is_file(follow_symlinks=False):
            return Entry(item.name, FILE, Path(item.path).read_bytes())
    except OSError:
        pass  # unreadable, or gone since: not a regular file to us
    return Entry(item.name, OTHER, b"")


def with_parents(path: str) -> list[str]:
    """A relative path and the folders that it lies in, outermost first: `a/b` gives `a`, `a/b`."""
    parts = [] if path == "." else path.split("/")
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def _index_lane(lane: str, entries: Iterable[IndexEntry], git: HostGit) -> Lane:
    prefix = "" if lane == "." else f"{lane}/"
    below = {entry.path.removeprefix(prefix): entry for entry in entries if entry.path.startswith(prefix)}
    names = [name for name in below if "/" not in name and (name == SERIES or is_about_patches(name))]
    contents = git.blobs([below[name].object_id for name in names])
    found = [_index_entry(name, below[name], content) for name, content in zip(names, contents, strict=True)]
    return lane_of(lane, True, found) if below else Lane(lane, False, (), None, _index_link(lane, git))


def _index_link(lane: str, git: HostGit) -> str:
    """The symbolic link that the index has in place of the lane or of a folder around it, or nothing."""
    places = with_parents(lane)
    links = {entry.path for entry in git.entries(places) if entry.mode == SYMLINK_MODE} if places else set()
    return next((place for place in places if place in links), "")


def _index_entry(name: str, entry: IndexEntry, content: bytes | None) -> Entry:
    return Entry(name, UNMERGED, b"") if entry.stage else entry_of(name, entry.mode, content)


def entry_of(name: str, mode: str, content: bytes | None) -> Entry:
    """The entry of an index or a tree, whose `mode` is git's, in octal. content: None when it has none."""
    kind = SYMLINK if mode == SYMLINK_MODE else FILE if mode in _FILE_MODES else OTHER
    return Entry(name, OTHER, b"") if content is None or kind == OTHER else Entry(name, kind, content)


def lane_of(path: str, exists: bool, found: Iterable[Entry]) -> Lane:
    """The lane at `path` with these entries, in the order of their bytes, its series file apart."""
    entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    listing = next((entry for entry in entries if entry.name == SERIES), None)
    return Lane(path, exists, tuple(entry for entry in entries if entry is not listing), listing)
