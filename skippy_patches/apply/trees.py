"""Trees held against the work tree: what stands there, and whose it is."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.objectid import EMPTY_TREE, ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.git import Repository


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """A tree: its entries, and those whose files are different in the work tree.

    entries: path -> `mode id`, as git writes them.
    """

    entries: Mapping[str, str]
    different: frozenset[str]

    def agrees(self, root: Path, name: str) -> bool:
        """Whether the work tree holds `name` as this tree does: the same content, or nothing."""
        if name in self.entries:
            return name not in self.different
        path = root / name
        return is_below_symlink(root, name) or not (path.is_symlink() or path.is_file())


def view(checkout: Checkout, tree: ObjectId) -> View:
    """Compare `tree` with the work tree, in an index of its own."""
    if tree == EMPTY_TREE:
        return View(entries={}, different=frozenset())
    index = {"GIT_INDEX_FILE": str(checkout.scratch / "view")}
    repository = checkout.repository
    (checkout.scratch / "view").unlink(missing_ok=True)
    repository.run("read-tree", tree, env=index)
    repository.run("update-index", "-q", "--refresh", env=index, check=False)
    different = repository.run("diff-files", "--name-only", "-z", env=index).paths
    return View(entries=entries(repository, tree), different=frozenset(different))


def entries(repository: Repository, tree: ObjectId) -> dict[str, str]:
    """Path -> `mode id` of every file in `tree`."""
    if tree == EMPTY_TREE:
        return {}
    found = {}
    for record in repository.run("ls-tree", "-r", "-z", "--full-tree", tree).paths:
        facts, _, path = record.partition("\t")
        mode, _, object_id = facts.split(" ")
        found[path] = f"{mode} {object_id}"
    return found


def index_entries(repository: Repository) -> dict[str, str]:
    """Path -> `mode id` of the index; an unmerged path has a stage behind it, and so is no tree's."""
    found = {}
    for record in repository.run("ls-files", "--stage", "-z").paths:
        facts, _, path = record.partition("\t")
        mode, object_id, stage = facts.split(" ")
        found[path] = f"{mode} {object_id}" if stage == "0" else f"{mode} {object_id} {stage}"
    return found


def blocked(root: Path, wanted: Iterable[str], known: frozenset[str]) -> list[str]:
    """Which of the files `wanted` cannot be put into the work tree without removing somebody's.

    known: the files of all trees that the move may remove or replace. In the way is whatever else stands at
    a wanted file's place, in place of one of its folders, or below it where it is a folder today.
    """
    return [name for name in wanted if any(_obstacles(root, name, known))]


def _obstacles(root: Path, name: str, known: frozenset[str]) -> Iterator[str]:
    for parent in Path(name).parents:
        folder = root / parent
        if parent != Path() and (folder.is_symlink() or (folder.exists() and not folder.is_dir())):
            if str(parent) not in known:
                yield str(parent)
            return  # nothing of ours is behind it
    path = root / name
    if path.is_dir() and not path.is_symlink():
        yield from (each for each in _files_below(root, path) if each not in known)
    elif os.path.lexists(path) and name not in known:
        yield name


def _files_below(root: Path, folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        links = [each for each in folders if Path(place, each).is_symlink()]
        for each in (*files, *links):
            yield str(Path(place, each).relative_to(root))


def is_below_symlink(root: Path, name: str) -> bool:
    """Whether a folder on the way to `name` is a symlink: what is behind it is not the checkout's."""
    return any((root / parent).is_symlink() for parent in Path(name).parents if parent != Path())
