"""Commits on another parent, in memory: 3-way merges of trees, never of patch text.

Text can land in the wrong one of several equal blocks (CASES 15); a merge knows where the commit made its
change, because it has the tree that the commit was made on.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.authoring import history
from skippy_patches.authoring.export import slug
from skippy_patches.git import GitFailed
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.authoring.history import Commit
    from skippy_patches.config import Identity
    from skippy_patches.git import Repository

_OURS = "yours"  # names the side of the conflict markers that the author made
_CONFLICTS = 1  # git merge-tree's status
# git's defaults, said: nothing else counts in the bench.
_SETTINGS = ("merge.renames=true", "merge.directoryRenames=conflict", "merge.conflictStyle=merge")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Merged:
    """The tree of a merge; files in conflict have conflict markers in it.

    stages: of the paths in conflict, `mode id stage<TAB>path`; empty when it is clean.
    """

    tree: ObjectId
    stages: tuple[bytes, ...]

    @property
    def sides(self) -> dict[bytes, frozenset[int]]:
        """The paths in conflict, each with the numbers of its stages."""
        found: dict[bytes, frozenset[int]] = {}
        for line in self.stages:
            entry, _, path = line.partition(b"\t")
            found[path] = found.get(path, frozenset()) | {int(entry.rpartition(b" ")[2])}
        return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Replayed:
    """How far it went. left_out: of which nothing remained. picked: the one in conflict, with `merged`."""

    tip: ObjectId
    left_out: tuple[Commit, ...]
    rest: tuple[ObjectId, ...] = ()
    picked: Commit | None = None
    merged: Merged | None = None


def replay(bench: Repository, tip: ObjectId, rest: Sequence[ObjectId], committer: Identity) -> Replayed:
    """Put the commits of `rest` onto `tip`, up to the first conflict. A commit that fits as it is stays."""
    commits = history.read(bench, rest)
    started = history.read(bench, [tip, *(commit.parents[0] for commit in commits)])
    trees = {commit.id: commit.tree for commit in (*started, *commits)}
    left_out: list[Commit] = []
    for at, commit in enumerate(commits):
        if commit.parents == (tip,):
            tip = commit.id
            continue
        ours = trees[tip]
        merged = _merge(bench, ours, commit, trees[commit.parents[0]])
        if merged.stages:
            return Replayed(
                tip=tip, left_out=tuple(left_out), rest=tuple(rest[at + 1 :]), picked=commit, merged=merged
            )
        if merged.tree == ours:
            left_out.append(commit)
        else:
            tip = history.make(bench, commit, tree=merged.tree, parents=[tip], committer=committer)
            trees[tip] = merged.tree
    return Replayed(tip=tip, left_out=tuple(left_out))


def merge(bench: Repository, tip: ObjectId, commit: Commit) -> Merged:
    """What `commit` changes, put onto `tip`. The same input gives the same tree."""
    ours, base = history.read(bench, [tip, commit.parents[0]])
    return _merge(bench, ours.tree, commit, base.tree)


def _merge(bench: Repository, ours: ObjectId, commit: Commit, base: ObjectId) -> Merged:
    """The same for the tree of the tip; base: the tree of the commit's parent."""
    if base == ours:
        return Merged(tree=commit.tree, stages=())
    # git 2.39's merge-tree takes no --merge-base; so our side, too, is made on the commit's parent.
    side = history.make(bench, commit, tree=ours, parents=commit.parents)
    merged = _merge_tree(bench, side, commit.id)
    if not merged.stages:
        return merged
    # Again, for markers that tell a person which side is which: they are called as the branches are.
    theirs = f"{commit.id.short}-{slug(commit.subject)}".removesuffix(".lock")
    for name, made in ((_OURS, side), (theirs, commit.id)):
        bench.run("update-ref", f"refs/heads/{name}", made)
    return _merge_tree(bench, _OURS, theirs)


def _merge_tree(bench: Repository, ours: str, theirs: str) -> Merged:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    command = (*settings, "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
    done = bench.run(*command, check=False)
    if done.status not in (0, _CONFLICTS):
        raise GitFailed(command, done.status, done.stdout, done.stderr)
    first, *stages = done.stdout.rstrip(b"\0").split(b"\0")
    return Merged(tree=ObjectId(first.decode()), stages=tuple(stages) if done.status else ())
