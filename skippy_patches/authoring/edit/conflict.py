"""A conflict in the work tree and the index, as `git cherry-pick` leaves it.

`git commit` there keeps the author and the date of the commit that is replayed, and refuses to amend.

In two steps that a kill can part: a journaled move to the files with conflict markers, as a commit of their
own; then the index tells of the conflict, and the branch goes back to what it is on top of. `settle` makes
the second step whenever it finds the first.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from skippy_patches.apply import move
from skippy_patches.apply.checkout import BRANCH
from skippy_patches.apply.move import Move
from skippy_patches.authoring import history
from skippy_patches.authoring.edit import replay
from skippy_patches.authoring.edit.errors import (
    BaseGone,
    Conflict,
    MarkersLeft,
    Misplaced,
    NotStaged,
    Unresolved,
)
from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.apply.stopped import Stopped
    from skippy_patches.authoring.edit.replay import Merged, Replayed
    from skippy_patches.authoring.history import Commit
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId

_NO_ENTRY = b"0 " + b"0" * 40
_MARKERS = (b"<<<<<<< ", b">>>>>>> ")


def place(
    checkout: Checkout,
    bench: Repository,
    standing: Standing,
    old: ObjectId,
    stopped: Stopped,
    replayed: Replayed,
) -> Stopped:
    """Bring the conflict of `replayed` into the checkout; its files are as in `old`. What is stopped now."""
    picked, merged = replayed.picked, replayed.merged
    assert picked and merged  # noqa: S101 - there is a conflict
    marked = history.make(bench, picked, tree=merged.tree, parents=[replayed.tip])
    now = dataclasses.replace(
        stopped,
        rest=replayed.rest,
        picked=picked.id,
        base=replayed.tip,
        marked=marked,
        left_out=(*stopped.left_out, *(commit.id for commit in replayed.left_out)),
    )
    planned = dataclasses.replace(
        Move.plan(standing, marked), old=old, applied=stopped.original, edit=now.text()
    )
    move.check(checkout, planned)
    checkout.picked.unlink(missing_ok=True)  # of the conflict before this one
    move.carry_out(checkout, planned)
    return settle(checkout, bench, now)


def settle(checkout: Checkout, bench: Repository, stopped: Stopped) -> Stopped:
    """Let the index tell of the conflict, if it does not yet. Raises Misplaced."""
    if stopped.marked is None:
        return stopped
    repository = checkout.repository
    tip = repository.resolve(BRANCH)
    if tip == stopped.marked:
        _tell_index(repository, bench, stopped, checkout.picked)
        _go_back(repository, stopped)
    elif tip != stopped.base:
        raise Misplaced(checkout.path, stopped)
    now = dataclasses.replace(stopped, marked=None)
    move.settle_edit(checkout, now.text())
    return now


def _tell_index(repository: Repository, bench: Repository, stopped: Stopped, picked: Path) -> None:
    """Put all sides of the conflict into the index; message and commit where `git commit` looks for them."""
    merged = _merged(bench, stopped)
    removed = [_NO_ENTRY + b"\t" + path for path in merged.sides]
    lines = b"".join(line + b"\0" for line in (*removed, *merged.stages))
    write_atomically(repository.git_dir / "MERGE_MSG", _picked(bench, stopped).text)
    write_atomically(picked, f"{stopped.picked}\n".encode())
    repository.run("update-index", "-z", "--index-info", stdin=lines)


def _go_back(repository: Repository, stopped: Stopped) -> None:
    """The branch: from the commit with the markers to what the conflict is on top of."""
    assert stopped.base and stopped.marked  # noqa: S101 - there is a conflict
    message = "skippy-patches continue"
    repository.run("update-ref", "-m", message, BRANCH, stopped.base, stopped.marked)


def error(checkout: Checkout, bench: Repository, stopped: Stopped, names: Mapping[str, str]) -> Conflict:
    """What to tell the author. names: commit -> patch file."""
    commit = _picked(bench, stopped)
    sides = {os.fsdecode(path): sides for path, sides in _merged(bench, stopped).sides.items()}
    return Conflict(checkout.path, commit, names.get(commit.id, ""), sides)


def refuse_unresolved(checkout: Checkout, bench: Repository, stopped: Stopped) -> None:
    """Raise Unresolved, NotStaged or MarkersLeft unless index and files hold one and the same resolution."""
    repository = checkout.repository
    unmerged = repository.run("ls-files", "--unmerged", "-z").paths
    if unmerged:
        raise Unresolved(checkout.path, list(dict.fromkeys(each.partition("\t")[2] for each in unmerged)))
    repository.run("update-index", "-q", "--refresh", check=False)
    edited = repository.run("diff-files", "--name-only", "-z").paths
    untracked = repository.run("ls-files", "-z", "--others", "--exclude-standard").paths
    if edited or untracked:
        raise NotStaged(checkout.path, [*edited, *untracked])
    paths = [os.fsdecode(path) for path in _merged(bench, stopped).sides]
    left = [path for path in paths if _has_markers(checkout, path)]
    if left:
        raise MarkersLeft(checkout.path, left)


def refuse_swallowed(checkout: Checkout, stopped: Stopped, tip: ObjectId) -> None:
    """Raise BaseGone when `tip` took the place of a commit that was replayed already: it was amended."""
    if stopped.base is None or tip == stopped.original:
        return
    below = checkout.repository.run("merge-base", "--is-ancestor", stopped.base, tip, check=False)
    if below.status:
        raise BaseGone(checkout.path, stopped.base)


def _has_markers(checkout: Checkout, path: str) -> bool:
    file = checkout.path / path
    if file.is_symlink() or not file.is_file():
        return False
    lines = file.read_bytes().split(b"\n")
    return all(any(line.startswith(marker) for line in lines) for marker in _MARKERS)


def _merged(bench: Repository, stopped: Stopped) -> Merged:
    """The merge again; it is the same whenever it is made."""
    assert stopped.base  # noqa: S101 - there is a conflict
    return replay.merge(bench, stopped.base, _picked(bench, stopped))


def _picked(bench: Repository, stopped: Stopped) -> Commit:
    assert stopped.picked  # noqa: S101 - there is a conflict
    return history.read(bench, [stopped.picked])[0]
