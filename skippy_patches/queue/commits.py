"""Read a queue from a commit, or a tree, of the project's repository; nothing is checked out."""

from __future__ import annotations

import dataclasses
import os
import posixpath
from typing import TYPE_CHECKING, Protocol

from skippy_patches import config
from skippy_patches.errors import ConfigError
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.commit_errors import (
    MissingObjects,
    NoMergeBase,
    NoSuchCommit,
    NotACommit,
    NotConfigured,
)
from skippy_patches.queue.reader import SYMLINK_MODE, entry_of, lane_of, lane_path, with_parents
from skippy_patches.queue.snapshot import SERIES, Lane, Snapshot, is_about_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from skippy_patches.git import Result


class Git(Protocol):
    """What reading a commit needs of git: a ProjectGit, or a Repository that has its objects."""

    def run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> Result:
        """Run `git ARGUMENTS`."""


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
        return config.load(self.file, content=content, read=self._existing, shown=self._shown)

    @property
    def _shown(self) -> str:
        """The configuration of this commit, for messages: it is not the one that lies here."""
        return f"{self.prefix}{self.file.name} at {self.name}"

    def queue(self, project: config.Project) -> Snapshot:
        """The queue in the lanes that `project` names. Raises ConfigError for one outside the repository."""
        lanes = [(lane_path(project, lane), self.path(lane)) for lane in project.queue]
        entries = self._entries([path for _, path in lanes])
        wanted = {entry.object_id for entry in entries if entry.is_file and entry.is_wanted}
        contents = self._contents(wanted)
        found = tuple(
            lane if lane.exists else lane._replace(link=self._link(path))
            for lane, path in ((_lane(lane, path, entries, contents), path) for lane, path in lanes)
        )
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
            raise ConfigError(f"names {place}, which is not in the repository", file=self._shown)
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

    def _link(self, path: str) -> str:
        """The symbolic link in place of the folder at `path`, or of one around it, or nothing."""
        for place in with_parents(path):
            if any(entry.mode == SYMLINK_MODE for entry in self._listed(place)):
                return posixpath.relpath(place, self.prefix or ".")
        return ""

    def regular(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> `mode id` of those of `paths`, from the top, that are regular files here."""
        wanted = {*paths}
        listed = self._listed(*sorted(wanted)) if wanted else ()
        return {
            entry.path: f"{entry.mode} {entry.object_id}"
            for entry in listed
            if entry.path in wanted and entry.mode.startswith("100")
        }

    def text_files(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The same with their contents. Raises MissingObjects."""
        ids = {path: facts.partition(" ")[2] for path, facts in self.regular(paths).items()}
        contents = self._contents({*ids.values()})
        return {path: contents[object_id] for path, object_id in ids.items()}

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

    Raises NoSuchCommit, NotACommit, NoMergeBase.
    """
    first, dots, second = name.partition("...")
    if dots:
        ends = (resolve(git, first or "HEAD"), resolve(git, second or "HEAD"))
        answer = git.run("merge-base", *ends, check=False)
        if answer.status:
            raise NoMergeBase(name)
        return ObjectId(answer.line)
    verify = ("rev-parse", "--quiet", "--verify", "--end-of-options")
    answer = git.run(*verify, f"{name}^{{commit}}", check=False)
    if answer.status == 0:
        return ObjectId(answer.line)
    other = git.run(*verify, f"{name}^{{}}", check=False)  # whatever lies behind a tag
    kind = git.run("cat-file", "-t", other.line, check=False) if other.status == 0 else other
    raise NoSuchCommit(name) if kind.status else NotACommit(name, kind.line)


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
