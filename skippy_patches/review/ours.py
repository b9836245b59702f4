"""What lies in the folder or the index, as a commit on top of HEAD, made in the scratch repository alone."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import posixpath
from typing import TYPE_CHECKING

from skippy_patches.errors import ConfigError
from skippy_patches.git_host import HostGit
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.commit_errors import NotConfigured
from skippy_patches.queue.commits import Committed, deciding_files
from skippy_patches.queue.patch import join
from skippy_patches.queue.reader import lane_path
from skippy_patches.queue.snapshot import FILE, SERIES, SYMLINK, is_about_patches
from skippy_patches.review import attributes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.config import Project
    from skippy_patches.git import Repository
    from skippy_patches.project_git import ProjectGit
    from skippy_patches.queue.snapshot import Snapshot

_IDENTITY = {
    "GIT_AUTHOR_NAME": "skippy-patches",
    "GIT_AUTHOR_EMAIL": "skippy-patches@localhost",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "skippy-patches",
    "GIT_COMMITTER_EMAIL": "skippy-patches@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Desk:
    """Where what lies in the project is made a commit. git: the project's; scratch: a repository of ours."""

    git: ProjectGit
    scratch: Repository
    project: Project

    def commit(self, snapshot: Snapshot, *, is_staged: bool) -> ObjectId:
        """HEAD's tree, with the project's files as the folder or the index has them, as a child of HEAD.

        With them come the .gitattributes that say how they merge.

        While a merge is in progress it is a child of what is being merged, too, as the merge commit will be.
        """
        head = head_of(self.git)
        tree = self._tree(head, self._staged() if is_staged else self._in_folder(snapshot))
        parents = [word for parent in self._parents(head) for word in ("-p", parent)]
        made = self.scratch.run("commit-tree", tree, *parents, stdin=b"on trial\n", env=_IDENTITY)
        return ObjectId(made.line)

    def _parents(self, head: ObjectId | None) -> list[str]:
        merging = self.git.git_dir / "MERGE_HEAD"
        others = merging.read_text(encoding="ascii").split() if merging.is_file() else []
        return [*([head] if head else []), *others]

    def _tree(self, head: ObjectId | None, files: Mapping[str, str]) -> ObjectId:
        """HEAD's tree with `files` (path -> `mode id`) in place of all that the project is about."""
        if head:
            self.scratch.run("read-tree", head)
        before = self._committed(head) if head else {}
        gone = [f"0 {'0' * 40}\t{path}" for path in before if path not in files]
        put = [f"{_with_mode_of(before.get(path, ''), facts)}\t{path}" for path, facts in files.items()]
        text = "".join(f"{record}\0" for record in (*gone, *put))
        self.scratch.run("update-index", "-z", "--replace", "--index-info", stdin=os.fsencode(text))
        # In a partial clone contents that nobody changed may be missing.
        return ObjectId(self.scratch.run("write-tree", "--missing-ok").line)

    def _committed(self, head: ObjectId) -> dict[str, str]:
        """Path -> `mode id` of every file in HEAD that the project, now or in HEAD, is about."""
        commit = Committed(
            git=self.scratch, revision=head, name="HEAD", file=self.project.file, prefix=self.git.prefix
        )
        files = commit.files(self.project) | commit.regular(self._attributes())
        with contextlib.suppress(NotConfigured, ConfigError):  # what lies in the folder may be the mend
            files |= commit.files(commit.project())
        return files

    def _attributes(self) -> set[str]:
        """The .gitattributes that say how the queue merges, from the top of the repository."""
        here = Committed(
            git=self.scratch, revision="", name="here", file=self.project.file, prefix=self.git.prefix
        )
        return attributes.files(here, self.project)

    def _staged(self) -> dict[str, str]:
        """Path -> `mode id` of the project's files in the index; one in conflict is left out."""
        lanes = [lane_path(self.project, lane) for lane in self.project.queue]
        files = {self._relative(file) for file in deciding_files(self.project)}
        files |= {posixpath.relpath(path, self.git.prefix or ".") for path in self._attributes()}
        with HostGit(self.project.root) as host:
            listed = list(host.entries([*lanes, *files]))
        return {
            self._full(entry.path): f"{entry.mode} {entry.object_id}"
            for entry in listed
            if not entry.stage and (entry.path in files or _is_of_queue(entry.path, lanes))
        }

    def _in_folder(self, snapshot: Snapshot) -> dict[str, str]:
        """Path -> `mode id` of the project's files in the work tree, as `git add` would take them."""
        listed = {
            join(lane.path, entry.name): entry
            for lane in snapshot.lanes
            for entry in (*lane.entries, *([lane.series] if lane.series else []))
        }
        files = [self._full(path) for path, entry in listed.items() if entry.kind == FILE]
        files += [self._full(self._relative(file)) for file in deciding_files(self.project) if file.is_file()]
        places = {path: self.git.top / path for path in self._attributes()}
        files += [path for path, file in places.items() if file.is_file() and not file.is_symlink()]
        blobs = self._added(files)
        found = {path: f"100644 {blob}" for path, blob in blobs.items()}
        for path, entry in listed.items():
            if entry.kind == SYMLINK:
                blob = self.scratch.run("hash-object", "-w", "--stdin", stdin=entry.content).line
                found[self._full(path)] = f"120000 {blob}"
        return found

    def _added(self, paths: Sequence[str]) -> dict[str, str]:
        """Path from the top -> blob, with the line ends that the project's attributes and settings give it.

        So the project's git reads the files; what it makes of them it writes into the scratch repository.
        """
        plain = [path for path in dict.fromkeys(paths) if path.isprintable() and not path.startswith('"')]
        made = self._hash_object("--stdin-paths", stdin=os.fsencode("".join(f"{path}\n" for path in plain)))
        blobs = dict(zip(plain, made.split(), strict=True))
        odd = (path for path in paths if path not in blobs)  # names that could not stand in a line
        return blobs | {path: self._hash_object("--", path).rstrip() for path in odd}

    def _hash_object(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run from the top: git takes --stdin-paths from there, wherever it is started."""
        top = ("-C", str(self.git.top), "hash-object", "-w")
        where = {"GIT_OBJECT_DIRECTORY": str(self.scratch.git_dir / "objects")}
        return self.git.run(*top, *arguments, stdin=stdin, env=where).text

    def _relative(self, file: Path) -> str:
        return os.path.relpath(file, self.project.root).replace(os.sep, "/")

    def _full(self, path: str) -> str:
        return posixpath.normpath(self.git.prefix + path)


def head_of(git: ProjectGit) -> ObjectId | None:
    """The commit that is checked out, or None before the first one."""
    answer = git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}", check=False)
    return None if answer.status else ObjectId(answer.line)


def _with_mode_of(before: str, facts: str) -> str:
    """`mode id` of a file, with its mode in HEAD, where it is a file as well."""
    mode, _, object_id = facts.partition(" ")
    known = before.partition(" ")[0]
    return f"{known if known.startswith('100') and mode.startswith('100') else mode} {object_id}"


def _is_of_queue(path: str, lanes: Sequence[str]) -> bool:
    folder, name = posixpath.split(path)
    return (folder or ".") in lanes and (name == SERIES or is_about_patches(name))
