"""Read a queue from a commit, or a tree, of the project's repository; nothing is checked out."""

from __future__ import annotations

import dataclasses
import os
import posixpath
from typing import TYPE_CHECKING, Protocol

from skippy_patches import config
from skippy_patches.errors import ConfigError, UsageError
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.reader import entry_of, lane_of, lane_path
from skippy_patches.queue.snapshot import SERIES, Lane, Snapshot, is_about_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from skippy_patches.git import Result


class Git(Protocol):
    """What reading a commit needs of git: a ProjectGit, or a Repository that has its objects."""

    def run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> Result:
        """Run `git ARGUMENTS`."""


class NoSuchCommit(UsageError):
    """A name on the command line is no commit here."""

    def __init__(self, name: str) -> None:
        branch = name.removeprefix("origin/")
        super().__init__(
            f"There is no commit '{name}' in this repository.",
            why="It is misspelt, or was never fetched: CI often fetches the one commit that it builds.",
            mend=f"Fetch it: git fetch origin {branch}; on GitHub, actions/checkout wants fetch-depth: 0."
            "\nSee what is here: git branch --all",
        )


class NotConfigured(UsageError):
    """The commit has no skippy-patches.yaml where the project is."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(
            f"{name} has no {path}.",
            why="The queue of a commit is the one that its own configuration describes.",
            mend=f"See what is there: git ls-tree {name}",
        )


class MissingObjects(UsageError):
    """The repository lacks contents that its own commits name."""

    def __init__(self, name: str, object_id: str) -> None:
        super().__init__(
            f"{name} names the object {object_id}, which is not in this repository.",
            why="A partial clone (git clone --filter) leaves contents out until they are checked out.",
            mend="Fetch everything: git fetch --refetch --no-filter origin",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Committed:
    """A commit or tree that `git` knows as `revision`, called `name` in messages.

    file: the project's skippy-patches.yaml in the work tree; prefix: the folder of the project relative to
    the top of the repository, `a/b/` or empty. Only the bytes of the commit count, never the work tree's.
    seen: contents by id or name; commits of one history share most of them, and may share this.
    """

    git: Git
    revision: str
    name: str
    file: Path
    prefix: str
    seen: dict[str, bytes] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    def project(self) -> config.Project:
        """The project as this commit configures it. Raises NotConfigured, ConfigError."""
        content = self.content(self.file)
        if content is None:
            raise NotConfigured(self.name, self.prefix + self.file.name)
        return config.load(self.file, content=content, read=self._existing)

    def queue(self, project: config.Project) -> Snapshot:
        """The queue in the lanes that `project` names. Raises ConfigError for one outside the repository."""
        lanes = [(lane_path(project, lane), self.path(lane)) for lane in project.queue]
        entries = self._entries([path for _, path in lanes])
        wanted = {entry.object_id for entry in entries if entry.is_file and entry.is_wanted}
        contents = self._contents(wanted)
        found = tuple(_lane(lane, path, entries, contents) for lane, path in lanes)
        return Snapshot(self.name if " " in self.name else f"commit {self.name}", found)

    def files(self, project: config.Project) -> dict[str, str]:
        """Path -> `mode id` of every file here that decides what the queue of `project` gives.

        Patches and series in its lanes, and deciding_files. Paths are relative to the top of the repository.
        """
        listed = [
            entry for entry in self._entries([self.path(lane) for lane in project.queue]) if entry.is_wanted
        ]
        paths = {self.path(file) for file in deciding_files(project)}
        listed += [entry for entry in (self._listed(*paths) if paths else ()) if entry.path in paths]
        return {entry.path: f"{entry.mode} {entry.object_id}" for entry in listed if entry.is_file}

    def content(self, file: Path) -> bytes | None:
        """What the commit has at the place of `file`, a path in the work tree; None when nothing."""
        name = f"{self.revision}:{self.path(file)}"
        if name not in self.seen:
            self.seen.update(read_objects(self.git, [name], kind=b"blob"))
        return self.seen.get(name)

    def path(self, place: Path) -> str:
        """`place`, a path in the work tree, relative to the top of the repository; `.` for the top itself."""
        path = posixpath.normpath(self.prefix + os.path.relpath(place, self.file.parent).replace(os.sep, "/"))
        if path.split("/", 1)[0] == "..":
            raise ConfigError(f"names {place}, which is not in the repository", file=self.file)
        return path

    def _existing(self, file: Path) -> bytes:
        content = self.content(file)
        if content is None:
            raise FileNotFoundError(2, f"{self.name} has no such file")
        return content

    def _entries(self, folders: Sequence[str]) -> list[_TreeEntry]:
        """What lies directly in these folders."""
        if "." in folders:
            others = [folder for folder in folders if folder != "."]
            return [*self._listed(), *(self._entries(others) if others else ())]
        return self._listed(*(f"{folder}/" for folder in folders))

    def _listed(self, *paths: str) -> list[_TreeEntry]:
        listed = self.git.run("ls-tree", "-z", "--full-tree", self.revision, "--", *paths)
        return [_tree_entry(record) for record in listed.paths]

    def _contents(self, object_ids: Iterable[str]) -> dict[str, bytes]:
        wanted = sorted(object_ids)
        self.seen.update(read_objects(self.git, [each for each in wanted if each not in self.seen]))
        missing = [each for each in wanted if each not in self.seen]
        if missing:
            raise MissingObjects(self.name, missing[0])
        return self.seen


def deciding_files(project: config.Project) -> list[Path]:
    """Configuration and pin: what decides what the queue gives, beside the patches. None of it elsewhere."""
    upstream = project.upstream
    files = (project.file, upstream.commit_file, upstream.commit_object)
    return [file for file in files if file and file.resolve().is_relative_to(project.root.resolve())]


def resolve(git: Git, name: str) -> ObjectId:
    """The commit that `name` means: whatever git-rev-parse(1) takes, or `A...B`, their merge base.

    Raises NoSuchCommit.
    """
    first, dots, second = name.partition("...")
    if dots:
        ends = (resolve(git, first or "HEAD"), resolve(git, second or "HEAD"))
        answer = git.run("merge-base", *ends, check=False)
    else:
        answer = git.run(
            "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}", check=False
        )
    if answer.status:
        raise NoSuchCommit(name)
    return ObjectId(answer.line)


def read_objects(git: Git, names: Sequence[str], kind: bytes = b"") -> dict[str, bytes]:
    """Name -> content, for those of `names` (ids, or COMMIT:PATH) that are there; one process for all.

    kind: take objects of this type alone.
    """
    if not names:
        return {}
    questions = "".join(f"{name}\n" for name in names)
    answer = git.run("cat-file", "--batch", stdin=os.fsencode(questions)).stdout
    found, at = {}, 0
    for name in names:
        end = answer.index(b"\n", at)
        words = answer[at:end].split(b" ")
        at = end + 1
        if len(words) == 3 and words[2].isdigit():  # else "NAME missing"
            if kind in (b"", words[1]):
                found[name] = answer[at : at + int(words[2])]
            at += int(words[2]) + 1
    return found


@dataclasses.dataclass(frozen=True)
class _TreeEntry:
    mode: str
    object_id: str
    path: str

    @property
    def is_file(self) -> bool:
        """A file or a symbolic link; not a folder or a submodule."""
        return self.mode.startswith(("100", "120"))

    @property
    def is_wanted(self) -> bool:
        """Whether the queue is about a file of this name."""
        name = posixpath.basename(self.path)
        return name == SERIES or is_about_patches(name)


def _tree_entry(record: str) -> _TreeEntry:
    facts, _, path = record.partition("\t")
    mode, _, object_id = facts.split(" ")
    return _TreeEntry(mode, object_id, path)


def _lane(lane: str, path: str, entries: Iterable[_TreeEntry], contents: dict[str, bytes]) -> Lane:
    folder = "" if path == "." else path
    below = [entry for entry in entries if posixpath.dirname(entry.path) == folder]
    found = [
        entry_of(posixpath.basename(entry.path), entry.mode, contents.get(entry.object_id))
        for entry in below
        if entry.is_wanted
    ]
    return lane_of(lane, bool(below), found)
