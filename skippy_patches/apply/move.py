"""The one move of the work tree, from the commit that stands there to the new one.

git's two-way merge (`read-tree -m -u OLD NEW`) touches only the files that differ, so all others keep their
mtime. A journal is written before and removed after; whoever finds one finishes that move first. Files,
index and refs may then be as they were before, as they will be, or half written by a git that was killed:
everything else is somebody's work, and stops it.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply import trees
from skippy_patches.apply.checkout import APPLIED_REF, BRANCH, Checkout, in_progress
from skippy_patches.apply.errors import ForeignWork, InTheWay
from skippy_patches.files import sync_folder, write_atomically
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skippy_patches.apply.checkout import Standing
    from skippy_patches.apply.trees import View

# What a killed git leaves behind in a git dir; each blocks every later command.
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "config.lock")

# What `git commit` proposes after a conflict (gitrepository-layout(5)); conflict.py writes it.
_CONFLICT_MESSAGE = "MERGE_MSG"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Move:
    """From the tree of `old` to the commit `new`.

    head: what HEAD held before, a ref or a commit. tip: where our branch was. saved: what was saved of a
    person's work before: first the work tree, then the index where it differed. applied: what then counts
    as the work of the queue, `new` where it is None. edit: the edit that is stopped afterwards (stopped.py),
    empty for none.
    """

    old: ObjectId
    new: ObjectId
    head: str
    tip: ObjectId | None
    saved: tuple[ObjectId, ...] = ()
    applied: ObjectId | None = None
    edit: str = ""

    @classmethod
    def plan(cls, standing: Standing, new: ObjectId, saved: Sequence[ObjectId] = ()) -> Move:
        """The move from where the checkout stands. It ends an edit that is stopped there."""
        head = standing.branch or standing.head or BRANCH
        return cls(old=standing.tree, new=new, head=head, tip=standing.tip, saved=tuple(saved))


def check(checkout: Checkout, move: Move) -> None:
    """Raise InTheWay or ForeignWork when `move` would overwrite what no tree of it holds. Changes nothing."""
    if move.saved:
        _views(checkout, move)
    old, new = (trees.entries(checkout.repository, tree) for tree in (move.old, move.new))
    saved = [trees.entries(checkout.repository, tree) for tree in move.saved]
    known = frozenset().union(old, *saved)
    _refuse_blocked(checkout, new if saved else new.keys() - old.keys(), known)


def carry_out(checkout: Checkout, move: Move) -> None:
    """Make a move that `check` let pass. Killed at any moment, `finish` completes it."""
    write_atomically(checkout.journal, json.dumps(dataclasses.asdict(move)).encode())
    if move.saved:
        _settle(checkout, move)
    else:
        checkout.repository.run("update-index", "-q", "--refresh", check=False)
        checkout.repository.run("read-tree", "-m", "-u", move.old, move.new)
    _complete(checkout, move)


def make(checkout: Checkout, move: Move) -> None:
    """Check it, then carry it out."""
    check(checkout, move)
    carry_out(checkout, move)


def pending(checkout: Checkout) -> Move | None:
    """The move that a killed command left, or None.

    A journal is whole or not there. What a disk garbled is no journal: what was half moved is then found as
    foreign work.
    """
    try:
        content = json.loads(checkout.journal.read_text(encoding="utf-8"))
        ids = {name: ObjectId(content[name]) for name in ("old", "new")}
        tip, applied = content["tip"], content.get("applied")
        return Move(
            **ids,
            head=str(content["head"]),
            tip=ObjectId(tip) if tip else None,
            saved=tuple(ObjectId(each) for each in content["saved"]),
            applied=ObjectId(applied) if applied else None,
            edit=str(content.get("edit", "")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def finish(checkout: Checkout, move: Move) -> None:
    """Complete a move that was interrupted. Raises ForeignWork when anything was done here since."""
    changed = [*_changed_refs(checkout, move), *_changed_index(checkout, move)]
    if changed:
        raise ForeignWork(checkout.path, changed)
    _settle(checkout, move)
    _complete(checkout, move)


def clear_locks(checkout: Checkout) -> None:
    """Remove the lock files of git commands that died with a command of ours."""
    git_dir = checkout.repository.git_dir
    for name in _LOCKS:
        (git_dir / name).unlink(missing_ok=True)
    for lock in [*git_dir.glob("refs/heads/skippy.lock"), *git_dir.glob("refs/skippy/**/*.lock")]:
        lock.unlink(missing_ok=True)


def _complete(checkout: Checkout, move: Move) -> None:
    """Point the branch and our own ref at the new commit in one transaction, and HEAD at the branch."""
    repository = checkout.repository
    tip = repository.resolve(BRANCH)
    expected = tip if tip == move.new else move.tip or "0" * len(move.new)
    updates = f"update {BRANCH} {move.new} {expected}\nupdate {APPLIED_REF} {move.applied or move.new}\n"
    repository.run("update-ref", "-m", "skippy-patches apply", "--stdin", stdin=updates.encode())
    repository.run("symbolic-ref", "-m", "skippy-patches apply", "HEAD", BRANCH)
    settle_edit(checkout, move.edit)
    checkout.journal.unlink()
    sync_folder(checkout.journal.parent)


def settle_edit(checkout: Checkout, text: str) -> None:
    """Write down which edit is stopped; empty: none."""
    if text:
        write_atomically(checkout.edit, text.encode())
    elif checkout.edit.exists():
        checkout.picked.unlink(missing_ok=True)
        (checkout.repository.git_dir / _CONFLICT_MESSAGE).unlink(missing_ok=True)
        checkout.edit.unlink(missing_ok=True)


def _settle(checkout: Checkout, move: Move) -> None:
    """Bring the work tree to `move.new` from any mixture of the move's trees."""
    old, new, *saved = _views(checkout, move)
    known = frozenset().union(old.entries, *(each.entries for each in saved))
    _refuse_blocked(checkout, new.entries, known | new.entries.keys())
    _remove(checkout.path, known - new.entries.keys())
    checkout.repository.run("read-tree", "--reset", "-u", move.new)


def _views(checkout: Checkout, move: Move) -> list[View]:
    """The move's trees against the work tree. Raises ForeignWork for a file that is in none of them."""
    views = [trees.view(checkout, tree) for tree in (move.old, move.new, *move.saved)]
    names = set().union(*(each.entries for each in views))
    strange = [name for name in sorted(names) if not any(each.agrees(checkout.path, name) for each in views)]
    strange = [name for name in strange if not _is_half_written(checkout, views, move.new, name)]
    if strange:
        raise ForeignWork(checkout.path, [f"{name}: is as in no tree of this move" for name in strange])
    return views


def _is_half_written(checkout: Checkout, views: Sequence[View], new: ObjectId, name: str) -> bool:
    """Whether `name` is as a killed git leaves a file that it replaces: missing, or the new one begun."""
    if len({each.entries.get(name) for each in views}) == 1:
        return False  # not a file that the move replaces
    path = checkout.path / name
    if path.is_symlink() or path.is_dir():
        return False
    if not path.exists():
        return True
    blob = checkout.repository.run("cat-file", "blob", f"{new}:{name}", check=False)
    found = path.read_bytes()
    return blob.status == 0 and len(found) < len(blob.stdout) and blob.stdout.startswith(found)


def _changed_refs(checkout: Checkout, move: Move) -> list[str]:
    """What a person did to HEAD, branch and operations since the move was interrupted."""
    repository = checkout.repository
    named = repository.run("symbolic-ref", "--quiet", "HEAD", check=False)
    head = named.line if named.status == 0 else repository.resolve("HEAD") or ""
    tip = repository.resolve(BRANCH)
    found = [f"{name} is in progress" for name in in_progress(checkout)]
    if head not in (move.head, BRANCH):
        found.append(f"HEAD is at {head.removeprefix('refs/heads/')} now")
    if tip not in (move.tip, move.new):
        found.append(f"the branch skippy is at {tip} now")
    return found


def _changed_index(checkout: Checkout, move: Move) -> list[str]:
    """What was staged since: after a kill the index is wholly the old one or wholly the new one.

    git renames index.lock over it in one step (lockfile API); so any other entry is a person's.
    """
    index = trees.index_entries(checkout.repository)
    known = [trees.entries(checkout.repository, tree) for tree in (move.old, move.new, *move.saved)]
    allowed = set().union(*(tree.items() for tree in known))
    return [f"{path}: changed in the index" for path, entry in index.items() if (path, entry) not in allowed]


def _refuse_blocked(checkout: Checkout, wanted: Iterable[str], known: frozenset[str]) -> None:
    blocked = trees.blocked(checkout.path, sorted(wanted), known)
    if blocked:
        raise InTheWay(checkout.path, blocked)


def _remove(root: Path, names: Iterable[str]) -> None:
    """Remove files that the new tree does not have, and the folders that they leave empty."""
    for name in sorted(names, reverse=True):
        path = root / name
        if trees.is_below_symlink(root, name):
            continue
        if path.is_symlink() or path.is_file():
            path.unlink()
        for parent in Path(name).parents:
            folder = root / parent
            if parent == Path() or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()
