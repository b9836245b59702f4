"""Where upstream's history comes from: a clone on this machine, else an address, through the cache.

A clone is read and no more: its objects are borrowed, its names are looked up, and nothing is written there.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.bisect import fetched
from skippy_patches.bisect.errors import (
    HistoryMissing,
    NoHistory,
    NotAHistory,
    NotAnAncestor,
    PartialClone,
    UnknownRevision,
)
from skippy_patches.git import Repository, run_as_user
from skippy_patches.objectid import ObjectId
from skippy_patches.upstream.address import public

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.cache import Cache

_FIXED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class History:
    """A repository to search. name: as the user knows it. objects: it, by the git dir that has the objects.

    deepen: the command that fetches what a shallow one lacks; empty when it never is one.
    """

    name: str
    objects: Repository
    deepen: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Clone:
    """A clone on this machine: a work tree, one of several, or a bare repository."""

    folder: Path
    history: History

    @classmethod
    def open(cls, folder: Path) -> Clone:
        """The clone whose top `folder` is. Raises NotAHistory and PartialClone.

        A folder within one is refused: without a .git of its own it would be somebody else's repository.
        """
        if not folder.is_dir():
            raise NotAHistory(folder, "it is not a folder" if folder.exists() else "it does not exist")
        words = ("--show-object-format", "--show-prefix", "--git-common-dir")
        answer = run_as_user("rev-parse", *words, cwd=folder, env=_FIXED, check=False)
        if answer.status:
            raise NotAHistory(folder, answer.stderr.strip().removeprefix("fatal: ") or "git says nothing")
        form, prefix, common = os.fsdecode(answer.stdout).removesuffix("\n").split("\n", 2)
        if prefix:
            raise NotAHistory(folder, "it lies in the work tree of a repository around it")
        if form != "sha1":
            raise NotAHistory(folder, f"it names its objects by {form.upper()}, upstream by SHA1")
        git_dir = (folder / common).resolve()
        if "\n" in str(git_dir):  # gitrepository-layout(5), objects/info/alternates: a folder a line
            raise NotAHistory(folder, "there is a line break in its path, and git cannot borrow from there")
        if any(git_dir.glob("objects/pack/*.promisor")):
            raise PartialClone(folder)
        deepen = f"git -C {shlex.quote(str(folder))} fetch --unshallow"
        objects = Repository(git_dir=git_dir)
        return cls(folder=folder, history=History(name=str(folder), objects=objects, deepen=deepen))

    @property
    def is_shallow(self) -> bool:
        """Whether history was cut off (gitrepository-layout(5))."""
        return (self.history.objects.git_dir / "shallow").exists()

    def resolve(self, revision: str) -> ObjectId | None:
        """The commit that `revision` names there, as its user's git would say."""
        # `:/text` takes all that follows for text, and never names anything but a commit (gitrevisions(7)).
        commit = revision if revision.startswith(":/") else f"{revision}^{{commit}}"
        words = ("--quiet", "--verify", "--end-of-options", commit)
        answer = run_as_user("rev-parse", *words, cwd=self.folder, env=_FIXED, check=False)
        return ObjectId(answer.line) if answer.status == 0 else None

    def commit(self, revision: str) -> ObjectId:
        """As `resolve`. Raises UnknownRevision."""
        found = self.resolve(revision)
        if found is None:
            tags = f"git -C {shlex.quote(str(self.folder))} fetch --tags"
            fetch = self.history.deepen if self.is_shallow else tags
            raise UnknownRevision(revision, str(self.folder), fetch)
        return found


def named(project: Project, folder: Path) -> Clone:
    """The clone that the user names. Raises NotAHistory and PartialClone."""
    clone = Clone.open(folder)
    if clone.is_shallow and folder.resolve() == project.checkout.resolve():
        raise NotAHistory(folder, "it is this project's checkout, which has the pin without its history")
    return clone


def find(
    project: Project, folder: Path | None, revisions: Sequence[str], cache: Cache, reporter: Reporter
) -> tuple[History, tuple[ObjectId, ...]]:
    """A repository that knows all `revisions`, and the commits that they name.

    folder: the clone, where the user names one; else the places that are configured are tried, those on this
    machine first. Raises UnknownRevision, NotFetched, NoHistory, NotAHistory, PartialClone.
    """
    if folder is not None:
        clone = named(project, folder)
        return clone.history, tuple(clone.commit(revision) for revision in revisions)
    looked: list[str] = []
    for place in _folders(project):
        try:
            clone = Clone.open(place)
            return clone.history, tuple(clone.commit(revision) for revision in revisions)
        except (NotAHistory, PartialClone, UnknownRevision) as error:
            looked.append(error.what)
    address = project.upstream.repository
    if not address or Path(address).is_absolute():
        raise NoHistory(looked)
    repository, commits = fetched.fetch(address, revisions, cache, reporter)
    return History(name=public(address), objects=repository, deepen=""), commits


def check(repository: Repository, history: History, good: ObjectId, bad: ObjectId) -> None:
    """Whether bad comes after good, with all that lies between them. Raises NotAnAncestor, HistoryMissing.

    repository: the scratch one, which borrows from the history.
    """
    if _is_ancestor(repository, good, bad):
        _check_whole(repository, history, bad, f"^{good}")
        return
    is_reversed = _is_ancestor(repository, bad, good)
    if not is_reversed:
        _check_whole(repository, history, bad)
    base = repository.run("merge-base", good, bad, check=False)
    raise NotAnAncestor(good, bad, None if base.status else ObjectId(base.line), is_reversed=is_reversed)


def _check_whole(repository: Repository, history: History, *commits: str) -> None:
    """No commit in this range is one whose parents a shallow repository lacks (gitrepository-layout(5))."""
    shallow = repository.git_dir / "shallow"
    if shallow.exists():
        roots = repository.run("rev-list", "--max-parents=0", *commits, "--").text.split()
        cuts = frozenset(roots) & frozenset(shallow.read_text(encoding="ascii").split())
        if cuts:
            raise HistoryMissing(history.name, len(cuts), history.deepen)


def _is_ancestor(repository: Repository, one: ObjectId, other: ObjectId) -> bool:
    return repository.run("merge-base", "--is-ancestor", one, other, check=False).status == 0


def _folders(project: Project) -> Iterator[Path]:
    """The repositories on this machine that skippy-patches.yaml names."""
    upstream = project.upstream
    if Path(upstream.repository).is_absolute():
        yield Path(upstream.repository)
    for mirror in upstream.mirrors:
        if mirror.kind == "directory":
            yield Path(mirror.location)
