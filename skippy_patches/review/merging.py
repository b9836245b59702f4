"""Two commits merged as git merges them, without a work tree."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING

from skippy_patches.git import run_anywhere
from skippy_patches.objectid import ObjectId
from skippy_patches.review.errors import GitTooOld, MergeFailed, ShallowHistory, UnrelatedHistories

if TYPE_CHECKING:
    from skippy_patches.git import Repository

_OLDEST = (2, 38)  # has merge-tree --write-tree


@dataclasses.dataclass(frozen=True, kw_only=True)
class Merge:
    """tree: of the merge commit. bases: where the two parted, several after criss-cross merges.

    conflicts: paths from the top of the repository that git leaves for a person to resolve; in the tree
    they have git's conflict markers, or one side's content.
    """

    tree: ObjectId
    bases: tuple[ObjectId, ...]
    conflicts: frozenset[str]


def merge(repository: Repository, ours: tuple[str, ObjectId], theirs: tuple[str, ObjectId]) -> Merge:
    """Merge two commits, each with its name for messages.

    Raises UnrelatedHistories, ShallowHistory (both: no merge base), GitTooOld and MergeFailed.
    """
    names, commits = (ours[0], theirs[0]), (ours[1], theirs[1])
    bases = repository.run("merge-base", "--all", *commits, check=False)
    if bases.status:
        is_shallow = (repository.git_dir / "shallow").exists()
        raise ShallowHistory(*names) if is_shallow else UnrelatedHistories(*names)
    done = repository.run("merge-tree", "--write-tree", "-z", "--no-messages", *commits, check=False)
    if done.status > 1 or not done.stdout:
        _check_version()
        raise MergeFailed(*names, done.stderr)
    tree, *stages = done.stdout.rstrip(b"\0").split(b"\0")
    return Merge(
        tree=ObjectId(tree.decode("ascii")),
        bases=tuple(ObjectId(line) for line in bases.text.splitlines()),
        conflicts=frozenset(os.fsdecode(stage.partition(b"\t")[2]) for stage in stages),
    )


def _check_version() -> None:
    match = re.search(r"(\d+)\.(\d+)\S*", run_anywhere("version").line)
    if match and (int(match[1]), int(match[2])) < _OLDEST:
        raise GitTooOld(match[0])
