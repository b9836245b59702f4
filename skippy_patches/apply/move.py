"""The one move of the work tree, from the commit that stands there to the new one.

git's two-way merge (`read-tree -m -u OLD NEW`) touches only the files that differ, so all others keep their
mtime. A journal is written before and removed after; whoever finds one finishes that move first. Files may
then be as they were before, as they will be, or half written by a git that was killed: everything else is
somebody's work, and stops it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply.checkout import APPLIED_REF, BRANCH, Checkout
from skippy_patches.apply.errors import ForeignWork, InTheWay
from skippy_patches.files import sync_folder, write_atomically
from skippy_patches.objectid import EMPTY_TREE, ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skippy_patches.git import Repository

_ADDED = ("--no-renames", "--diff-filter=A", "--name-only", "-z")
# What a killed git leaves behind in a git dir; each blocks every later command.
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "config.lock")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Move:
    """From tree-ish `old` to commit `new`; `saved` holds what was saved of a person's work before."""

    old: ObjectId
    new: ObjectId
    saved: ObjectId | None = None


def carry_out(checkout: Checkout, move: Move) -> None:
    """Move a clean work tree; killed at any moment, `finish` completes it. Raises InTheWay before that."""
    blocked = _in_the_way(checkout, move)
    if blocked:
        raise InTheWay(checkout.path, blocked)
    _write_journal(checkout, move)
    repository = checkout.repository
    if move.saved is None:
        repository.run("update-index", "-q", "--refresh", check=False)
        repository.run("read-tree", "-m", "-u", move.old, move.new)
    else:
        _settle(checkout, move)
    _name(repository, move.new)
    _remove_journal(checkout)


def pending(checkout: Checkout) -> Move | None:
    """The move that a killed command left, or None.

    A journal is whole or not there; one that a disk garbled is dropped, and what was half moved is then
    found as foreign work.
    """
    try:
        content = json.loads(checkout.journal.read_text(encoding="utf-8"))
        ids = {name: ObjectId(value) for name, value in content.items() if value is not None}
        return Move(**ids)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError):
        checkout.journal.unlink()
        return None


def finish(checkout: Checkout, move: Move) -> None:
    """Complete a move that was interrupted. Raises ForeignWork when files were edited since."""
    _settle(checkout, move)
    _name(checkout.repository, move.new)
    _remove_journal(checkout)


def clear_locks(checkout: Checkout) -> None:
    """Remove the lock files of git commands that died with a command of ours."""
    git_dir = checkout.repository.git_dir
    for name in _LOCKS:
        (git_dir / name).unlink(missing_ok=True)
    for lock in [*git_dir.glob("refs/heads/skippy.lock"), *git_dir.glob("refs/skippy/**/*.lock")]:
        lock.unlink(missing_ok=True)


def _in_the_way(checkout: Checkout, move: Move) -> list[str]:
    """What stands where the move adds files and is in none of its trees: ignored by git, so in no status.

    `read-tree -u` overwrites ignored files without a word (since git 2.34).
    """
    known = [tree for tree in (move.old, move.saved) if tree]
    added = [set(checkout.repository.run("diff-tree", "-r", *_ADDED, tree, move.new).paths) for tree in known]
    names = sorted(set.intersection(*added))
    return [name for name in names if _is_blocked(checkout.path, name)]


def _is_blocked(root: Path, name: str) -> bool:
    """Whether anything is at `name`, or a file where it needs a folder."""
    parents = [root / parent for parent in Path(name).parents if parent != Path()]
    in_place_of_folder = any(os.path.lexists(parent) and not parent.is_dir() for parent in parents)
    return in_place_of_folder or os.path.lexists(root / name)


def _write_journal(checkout: Checkout, move: Move) -> None:
    write_atomically(checkout.journal, json.dumps(dataclasses.asdict(move)).encode())


def _remove_journal(checkout: Checkout) -> None:
    checkout.journal.unlink()
    sync_folder(checkout.journal.parent)


def _name(repository: Repository, commit: ObjectId) -> None:
    """Point the branch and our own ref at `commit` in one transaction, and HEAD at the branch."""
    updates = f"update {BRANCH} {commit}\nupdate {APPLIED_REF} {commit}\n"
    repository.run("update-ref", "-m", "skippy-patches apply", "--stdin", stdin=updates.encode())
    repository.run("symbolic-ref", "-m", "skippy-patches apply", "HEAD", BRANCH)


def _settle(checkout: Checkout, move: Move) -> None:
    """Bring the work tree to `move.new` from any mixture of the move's trees."""
    repository = checkout.repository
    trees = [move.old, move.new, *([move.saved] if move.saved else [])]
    views = [_View.of(checkout, tree) for tree in trees]
    names = set().union(*(view.names for view in views))
    strange = [name for name in sorted(names) if not any(view.agrees(checkout, name) for view in views)]
    strange = [name for name in strange if not _is_half_written(checkout, move.new, name)]
    if strange:
        raise ForeignWork(checkout.path, [f"{name}: changed since apply was interrupted" for name in strange])
    _clear_way(checkout, names - views[1].names)
    _refuse_folders(checkout, views[1].names)
    repository.run("read-tree", "--reset", "-u", move.new)


def _refuse_folders(checkout: Checkout, files: Iterable[str]) -> None:
    """A folder where a file belongs still holds something of a person's; `--reset` would remove it."""
    blocked = [name for name in files if (path := checkout.path / name).is_dir() and not path.is_symlink()]
    if blocked:
        raise ForeignWork(checkout.path, [f"{name}: a folder where a file belongs" for name in blocked])


@dataclasses.dataclass(frozen=True, kw_only=True)
class _View:
    """A tree held against the work tree: its files, and those that are different there."""

    names: frozenset[str]
    different: frozenset[str]

    @classmethod
    def of(cls, checkout: Checkout, tree: ObjectId) -> _View:
        index = {"GIT_INDEX_FILE": str(checkout.scratch / "view")}
        repository = checkout.repository
        if tree == EMPTY_TREE:
            return cls(names=frozenset(), different=frozenset())
        (checkout.scratch / "view").unlink(missing_ok=True)
        checkout.scratch.mkdir(parents=True, exist_ok=True)
        repository.run("read-tree", tree, env=index)
        repository.run("update-index", "-q", "--refresh", env=index, check=False)
        different = repository.run("diff-files", "--name-only", "-z", env=index).paths
        names = repository.run("ls-files", "-z", env=index).paths
        return cls(names=frozenset(names), different=frozenset(different))

    def agrees(self, checkout: Checkout, name: str) -> bool:
        """Whether the work tree holds `name` as this tree does: the same content, or nothing."""
        if name in self.names:
            return name not in self.different
        path = checkout.path / name
        return not path.is_symlink() and (not path.exists() or path.is_dir())


def _is_half_written(checkout: Checkout, new: ObjectId, name: str) -> bool:
    """Whether `name` is the beginning of the new file, as a killed git leaves it; or a gap before it."""
    path = checkout.path / name
    if path.is_symlink() or path.is_dir():
        return False
    if not path.exists():
        return True
    blob = checkout.repository.run("cat-file", "blob", f"{new}:{name}", check=False)
    found = path.read_bytes()
    return blob.status == 0 and len(found) < len(blob.stdout) and blob.stdout.startswith(found)


def _clear_way(checkout: Checkout, names: Iterable[str]) -> None:
    """Remove files that the new tree does not have, and the folders that they leave empty."""
    for name in sorted(names, reverse=True):
        path = checkout.path / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        for parent in Path(name).parents:
            folder = checkout.path / parent
            if parent == Path() or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()
