"""Saving a person's work before it is discarded: a commit under refs/skippy/saved/."""

from __future__ import annotations

import datetime
import os
import shutil
from typing import TYPE_CHECKING

from skippy_patches.apply.errors import CannotSave
from skippy_patches.apply.trees import is_below_symlink
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.git import Repository

SAVED_REFS = "refs/skippy/saved"
_IDENTITY = {
    "GIT_AUTHOR_NAME": "skippy-patches",
    "GIT_AUTHOR_EMAIL": "skippy-patches@localhost",
    "GIT_COMMITTER_NAME": "skippy-patches",
    "GIT_COMMITTER_EMAIL": "skippy-patches@localhost",
}


def snapshot(checkout: Checkout, standing: Standing) -> tuple[ObjectId, ...]:
    """Write what the checkout holds as commits; no ref names them yet. Raises CannotSave.

    The first commit's tree is the work tree without ignored files, which are left where they are. Its
    parents are HEAD, our branch where that is elsewhere, and, where the index differs from both trees, a
    second commit that holds the index, as git-stash(1) does it.
    """
    refuse_unsavable(checkout, standing)
    repository = checkout.repository
    parents = list(dict.fromkeys(each for each in (standing.head, standing.tip) if each))
    index = _index_tree(checkout)
    work = _work_tree(checkout)
    made = []
    if index not in (work, repository.resolve("HEAD^{tree}")):
        made = [_commit(repository, index, parents, "The index before it was discarded")]
    return (_commit(repository, work, [*parents, *made], "The work tree before it was discarded"), *made)


def keep(checkout: Checkout, commit: ObjectId) -> str:
    """Give a snapshot its ref; from here on git's garbage collection spares it."""
    ref = _free_ref(checkout.repository)
    checkout.repository.run("update-ref", ref, commit, "0" * len(commit))
    return ref


def refuse_unsavable(checkout: Checkout, standing: Standing, *, has_conflict: bool = False) -> None:
    """Raise CannotSave for what `snapshot` cannot save. has_conflict: an unmerged index is no hindrance."""
    if standing.busy:
        mend = "Finish or abort it there first: git rebase --abort (or git am, merge, cherry-pick --abort)."
        raise CannotSave(checkout.path, [f"{name} is in progress" for name in standing.busy], mend)
    if standing.hidden:
        mend = "Show them to git again: git update-index --no-assume-unchanged --no-skip-worktree FILE"
        raise CannotSave(checkout.path, [f"{name}: hidden from git" for name in standing.hidden], mend)
    unmerged = checkout.repository.run("ls-files", "--unmerged", "-z").paths
    if unmerged and not has_conflict:
        names = dict.fromkeys(record.partition("\t")[2] for record in unmerged)
        mend = "Resolve the conflict there (git add FILE), or give it up (git reset)."
        raise CannotSave(checkout.path, [f"{name}: unmerged" for name in names], mend)
    untracked = checkout.repository.run("ls-files", "-z", "--others", "--exclude-standard").paths
    nested = [path for path in untracked if path.endswith("/")]
    if nested:
        mend = "git cannot store a repository inside another one: move it out of the checkout."
        raise CannotSave(checkout.path, [f"{path}: a git repository of its own" for path in nested], mend)


def _index_tree(checkout: Checkout) -> ObjectId:
    return ObjectId(checkout.repository.run("write-tree").line)


def _work_tree(checkout: Checkout) -> ObjectId:
    """The work tree as git would commit it, with all that HEAD tracks, also where it is ignored now."""
    repository = checkout.repository
    scratch_index = checkout.scratch / "saving"
    index = repository.git_dir / "index"
    if index.exists():
        shutil.copy2(index, scratch_index)
    env = {"GIT_INDEX_FILE": str(scratch_index)}
    tracked = repository.run("ls-tree", "-r", "-z", "--name-only", "HEAD", check=False).paths
    there = [name for name in tracked if _is_file(checkout.path, name)]
    names = b"".join(os.fsencode(name) + b"\0" for name in there)
    repository.run("add", "--all", "--", ".", env=env)
    repository.run("update-index", "--add", "--remove", "-z", "--stdin", env=env, stdin=names)
    return ObjectId(repository.run("write-tree", env=env).line)


def _is_file(root: Path, name: str) -> bool:
    """Whether there is a file or a symlink of this name, in a folder of the checkout's own."""
    path = root / name
    return (path.is_symlink() or path.is_file()) and not is_below_symlink(root, name)


def _commit(repository: Repository, tree: ObjectId, parents: list[ObjectId], message: str) -> ObjectId:
    named = [word for parent in parents for word in ("-p", parent)]
    return ObjectId(repository.run("commit-tree", tree, *named, stdin=message.encode(), env=_IDENTITY).line)


def _free_ref(repository: Repository) -> str:
    stem = f"{SAVED_REFS}/{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}"
    taken, ref = 1, stem
    while repository.resolve(ref):
        taken += 1
        ref = f"{stem}-{taken}"
    return ref
