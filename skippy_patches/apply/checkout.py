"""The checkout: a repository that skippy-patches made, and how it stands."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply import stopped
from skippy_patches.apply.errors import ForeignAttributes, NotOurs
from skippy_patches.git import Repository
from skippy_patches.objectid import EMPTY_TREE, ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.apply.stopped import Stopped

BRANCH = "refs/heads/skippy"
APPLIED_REF = "refs/skippy/applied"
_OWN_FOLDER = "skippy"

# Files in the work tree are the blobs, byte for byte, whatever .gitattributes in the tree say: those would
# make the bytes depend on where the checkout stood before. Nothing beats this file (gitattributes(5)).
_ATTRIBUTES = b"# Written by skippy-patches.\n* -text -eol -ident -filter -working-tree-encoding\n"

_PICKED = "CHERRY_PICK_HEAD"

# Left in the git dir while a person is in the middle of something (gitrepository-layout(5), git-status(1)).
_IN_PROGRESS = {
    "rebase-apply": "git am or git rebase",
    "rebase-merge": "git rebase",
    "sequencer": "git cherry-pick or git revert",
    "MERGE_HEAD": "git merge",
    _PICKED: "git cherry-pick",
    "REVERT_HEAD": "git revert",
    "BISECT_LOG": "git bisect",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkout:
    """A work tree whose git dir holds a folder of ours, with ledger, journal and scratch space."""

    path: Path
    repository: Repository

    @property
    def own(self) -> Path:
        """Our folder in the git dir."""
        return self.repository.git_dir / _OWN_FOLDER

    @property
    def scratch(self) -> Path:
        """Space for one apply, emptied at its start."""
        return self.own / "scratch"

    @property
    def running(self) -> Path:
        """There while a command works here, and after it was killed."""
        return self.own / "running"

    @property
    def journal(self) -> Path:
        """There while the work tree moves."""
        return self.own / "journal.json"

    @property
    def ledger(self) -> Path:
        """The ledger of prefixes."""
        return self.own / "ledger.json"

    @property
    def edit(self) -> Path:
        """There while an edit is stopped; see stopped.py."""
        return self.own / "edit.json"

    @property
    def handover(self) -> Path:
        """There while a refresh brings the refs behind the files that it wrote; see handover.py."""
        return self.own / "handover.json"

    @property
    def wishes(self) -> Path:
        """Numbers that were asked for with `new`; see authoring/refresh/wishes.py."""
        return self.own / "wishes.json"

    @property
    def edited(self) -> Path:
        """What an edit made in the place of its patch, until refresh wrote it; see authoring/edited.py."""
        return self.own / "edited.json"

    @property
    def picked(self) -> Path:
        """There while a conflict waits: `git commit` takes author and date from the commit that it names."""
        return self.repository.git_dir / _PICKED


@dataclasses.dataclass(frozen=True, kw_only=True)
class Standing:
    """What the checkout holds.

    head: the commit that is checked out, None before the first apply. branch: the ref that HEAD names, None
    when it is detached. tip: where our branch is. applied: the commit that the last apply left. changes:
    edits, additions and untracked files, as `path: what`. hidden: files whose edits git was told not to see.
    busy: what a person is in the middle of. stopped: an edit that waits for `continue`.
    """

    head: ObjectId | None
    branch: str | None
    tip: ObjectId | None
    applied: ObjectId | None
    changes: tuple[str, ...]
    hidden: tuple[str, ...]
    busy: tuple[str, ...]
    stopped: Stopped | None

    @property
    def foreign(self) -> tuple[str, ...]:
        """Everything that did not come from the queue, in words; empty when there is nothing."""
        return (*self._foreign_commits(), *self._hidden(), *self.changes)

    @property
    def tree(self) -> ObjectId:
        """What to move from: the checked-out commit, or the empty tree."""
        return self.head or EMPTY_TREE

    def _foreign_commits(self) -> Iterator[str]:
        for name in self.busy:
            yield f"{name} is in progress"
        if self.stopped and self.stopped.has_work(self.tip):
            yield f"an edit of {self.stopped.patch} is stopped, with work in it (skippy-patches continue)"
        if self.branch is None:
            yield f"HEAD is detached at {self.head.short if self.head else 'nothing'}"
        elif self.branch != BRANCH:
            yield f"the branch {self.branch.removeprefix('refs/heads/')} is checked out, not skippy"
        if self.tip is None and self.applied is not None:
            yield "the branch skippy is gone"
        elif self.tip != self.applied:
            yield f"the branch skippy is at {self.tip}; the commit that apply left is {self.applied}"
        if self.head not in (self.tip, self.applied):
            yield f"commit {self.head} is checked out; the one that apply left is {self.applied}"

    def _hidden(self) -> Iterator[str]:
        for path in self.hidden:
            yield f"{path}: hidden from git (assume-unchanged or skip-worktree)"


def open_existing(path: Path) -> Checkout | None:
    """The checkout at `path`, or None when nothing is there. Raises NotOurs and WrongTree.

    A folder whose .git is missing or leads elsewhere is refused: git would climb to the repository around
    it and answer for that one.
    """
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return None
    git_dir = path / ".git"
    if not path.is_dir():
        raise NotOurs(path, "it is not a folder")
    if git_dir.is_symlink() or not git_dir.is_dir():
        raise NotOurs(path, "its .git is not a folder" if git_dir.exists() else "its .git is missing")
    checkout = Checkout(path=path, repository=Repository(git_dir=git_dir, work_tree=path))
    if not checkout.own.is_dir():
        raise NotOurs(path, "another tool or person made this repository")
    checkout.repository.verify_place()
    return checkout


def create(path: Path) -> Checkout:
    """Make an empty checkout at `path`: complete, or not there at all."""
    prefix = f".{path.name}.new-"
    _remove_unfinished(path.parent, prefix)
    temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    (temporary / ".git" / _OWN_FOLDER).mkdir(parents=True)  # first, so that it can be told to be ours
    repository = Repository.create(temporary, bare=False)
    repository.run("symbolic-ref", "HEAD", BRANCH)
    temporary.chmod(0o755)  # mkdtemp's folders are their owner's alone
    if path.is_dir():
        path.rmdir()  # empty: seen by open_existing
    temporary.rename(path)
    return Checkout(path=path, repository=Repository(git_dir=path / ".git", work_tree=path))


def _remove_unfinished(parent: Path, prefix: str) -> None:
    """What killed commands left: folders that hold nothing but a git dir of ours."""
    for folder in parent.glob(f"{prefix}*"):
        if [entry.name for entry in folder.iterdir()] == [".git"] and (
            folder / ".git" / _OWN_FOLDER
        ).is_dir():
            shutil.rmtree(folder)


def settle_attributes(checkout: Checkout) -> None:
    """Write our attributes into the git dir. Raises ForeignAttributes when a person wrote some there."""
    file = checkout.repository.git_dir / "info" / "attributes"
    found = file.read_bytes() if file.exists() else b""
    if found not in (b"", _ATTRIBUTES):
        raise ForeignAttributes(file)
    if not found:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(_ATTRIBUTES)


def standing(checkout: Checkout) -> Standing:
    """Look at HEAD, refs, index and work tree; change nothing."""
    repository = checkout.repository
    branch = repository.run("symbolic-ref", "--quiet", "HEAD", check=False)
    return Standing(
        head=repository.resolve("HEAD^{commit}"),
        branch=branch.line if branch.status == 0 else None,
        tip=repository.resolve(f"{BRANCH}^{{commit}}"),
        applied=repository.resolve(f"{APPLIED_REF}^{{commit}}"),
        changes=_changes(repository),
        hidden=_hidden(repository),
        busy=in_progress(checkout),
        stopped=stopped.load(checkout.edit),
    )


def in_progress(checkout: Checkout) -> tuple[str, ...]:
    """The git commands that a person has begun here and not ended."""
    git_dir = checkout.repository.git_dir
    there = [name for name in _IN_PROGRESS if (git_dir / name).exists()]
    return tuple(_IN_PROGRESS[name] for name in there if name != _PICKED or not _is_our_conflict(checkout))


def _is_our_conflict(checkout: Checkout) -> bool:
    """Whether it is not a person's cherry-pick, but the conflict of an edit (edit/conflict.py)."""
    waiting = stopped.load(checkout.edit)
    try:
        named = checkout.picked.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return waiting is not None and waiting.picked == named


def _changes(repository: Repository) -> tuple[str, ...]:
    """Each entry as `path: what`, from the two letters of git-status(1)'s short format."""
    options = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    listed = repository.run("status", *options).fields
    return tuple(f"{entry[3:]}: {_state(entry[:2])}" for entry in listed)


def _state(state: str) -> str:
    if state == "??":
        return "untracked"
    if "U" in state or state in ("AA", "DD"):
        return "unmerged"
    letters = {"M": "modified", "A": "added", "D": "deleted", "T": "type changed"}
    staged, edited = (letters.get(letter, "") for letter in state)
    return " and ".join(part for part in (f"{staged} in the index" if staged else "", edited) if part)


def _hidden(repository: Repository) -> tuple[str, ...]:
    """Files with the assume-unchanged (lower-case tag) or skip-worktree bit (git-ls-files(1), -v)."""
    listed = repository.run("ls-files", "-v", "-z").fields
    return tuple(entry[2:] for entry in listed if entry[0] == "S" or entry[0].islower())
