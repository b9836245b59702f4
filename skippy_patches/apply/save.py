"""Saving a person's work before it is discarded: a commit under refs/skippy/saved/."""

from __future__ import annotations

import datetime
import shutil
from typing import TYPE_CHECKING

from skippy_patches.apply.errors import CannotSave
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from skippy_patches.apply.checkout import Checkout, Standing
    from skippy_patches.git import Repository

SAVED_REFS = "refs/skippy/saved"
_IDENTITY = {
    "GIT_AUTHOR_NAME": "skippy-patches",
    "GIT_AUTHOR_EMAIL": "skippy-patches@localhost",
    "GIT_COMMITTER_NAME": "skippy-patches",
    "GIT_COMMITTER_EMAIL": "skippy-patches@localhost",
}


def save(checkout: Checkout, standing: Standing) -> tuple[str, ObjectId]:
    """Keep HEAD, index, edits and untracked files; return the ref and its commit. Raises CannotSave.

    The commit's tree is the work tree without ignored files, which are left where they are. Its first
    parent is HEAD; a second one holds the index where that differs from both, as git-stash(1) does it.
    """
    _refuse_unsavable(checkout, standing)
    repository = checkout.repository
    index_tree = _index_tree(repository)
    work_tree = _work_tree(checkout)
    parents = [standing.head] if standing.head else []
    if index_tree and index_tree not in (work_tree, repository.resolve("HEAD^{tree}")):
        parents.append(
            _commit(repository, index_tree, parents, "The index, as it was before apply --discard")
        )
    commit = _commit(repository, work_tree, parents, "The work tree, as it was before apply --discard")
    ref = _free_ref(repository)
    repository.run("update-ref", ref, commit, "0" * len(commit))
    return ref, commit


def _refuse_unsavable(checkout: Checkout, standing: Standing) -> None:
    git = f"git -C {checkout.path}"
    if standing.busy:
        mend = f"Finish or abort it there first, for example: {git} rebase --abort (or am, merge ... --abort)"
        raise CannotSave(checkout.path, [f"{name} is in progress" for name in standing.busy], mend)
    if standing.hidden:
        mend = f"Show them to git again: {git} update-index --no-assume-unchanged --no-skip-worktree -- FILE"
        raise CannotSave(checkout.path, [f"{name}: hidden from git" for name in standing.hidden], mend)
    untracked = checkout.repository.run("ls-files", "-z", "--others", "--exclude-standard").paths
    nested = [path for path in untracked if path.endswith("/")]
    if nested:
        mend = "git cannot store a repository inside another one: move it out of the checkout."
        raise CannotSave(checkout.path, [f"{path}: a git repository of its own" for path in nested], mend)


def _index_tree(repository: Repository) -> ObjectId | None:
    """The index as a tree; None when it is unmerged, which no tree can hold."""
    written = repository.run("write-tree", check=False)
    return ObjectId(written.line) if written.status == 0 else None


def _work_tree(checkout: Checkout) -> ObjectId:
    scratch_index = checkout.scratch / "saving"
    checkout.scratch.mkdir(parents=True, exist_ok=True)
    index = checkout.repository.git_dir / "index"
    if index.exists():
        shutil.copy2(index, scratch_index)
    env = {"GIT_INDEX_FILE": str(scratch_index)}
    checkout.repository.run("add", "--all", "--", ".", env=env)
    return ObjectId(checkout.repository.run("write-tree", env=env).line)


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
