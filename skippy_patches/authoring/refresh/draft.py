"""The patch files to be, made in memory and applied one after the other from the pin out of their bytes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.authoring import history, roundtrip
from skippy_patches.authoring.export import export
from skippy_patches.authoring.message_errors import EmptyCommit, UnfaithfulExport
from skippy_patches.authoring.refresh.errors import RestDoesNotApply
from skippy_patches.errors import PatchError
from skippy_patches.progress import Silent
from skippy_patches.queue.patch import Patch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.apply.engine import IndexEngine
    from skippy_patches.apply.ledger import Row
    from skippy_patches.authoring.history import Commit
    from skippy_patches.authoring.refresh.places import Place
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.pin import Pin


class Progress(Silent):
    """How far it is, without what the engine says of each patch that it tries."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def advance(self, label: str, done: int, total: int | None) -> None:
        """Say it."""
        self._reporter.advance(label, done, total)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Known:
    """A patch of the queue as it was applied last: its commit, and the row of its prefix.

    on: the tree of the commit's parent; None where that is not known.
    """

    commit: Commit
    row: Row
    on: ObjectId | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Workshop:
    """What patches are made and tried with. bench: see bench.py. known: by path of today."""

    pin: Pin
    checkout: Checkout
    engine: IndexEngine
    bench: Repository
    known: Mapping[str, Known]

    def draft(
        self, places: Sequence[Place], files: Sequence[tuple[str, str]]
    ) -> list[tuple[Patch, Row | None]]:
        """A patch and its row for each place; files: lane and name of each.

        A patch keeps its bytes when they give the author's commit on the new parent. A row is None for a
        patch that is not checked out and stands on what it stood on before. Raises DoesNotSurvive,
        RestDoesNotApply, UnfaithfulExport.
        """
        tree = self._tree_of_pin()
        _refuse_empty(places, tree)
        drafts: list[tuple[Patch, Row | None]] = []
        parent = self.pin.commit
        last = list(self.known.values())[-1].row.commit if self.known else self.pin.commit
        for count, (place, (lane, name)) in enumerate(zip(places, files, strict=True)):
            self.engine.reporter.advance("Checking", count + 1, len(places))
            row: Row | None
            if place.commit is not None:
                patch, row = self._checked_out(place, place.commit, lane, name, parent, tree)
            else:
                assert place.patch is not None  # noqa: S101 - it is one or the other
                patch = Patch(lane, name, place.number, place.patch.content)
                row = None if parent == last else self._behind(patch, place, places, parent)
            parent, tree = (row.commit, row.tree) if row else (parent, tree)
            drafts.append((patch, row))
        return drafts

    def _tree_of_pin(self) -> ObjectId | None:
        return self.engine.repository.resolve(f"{self.pin.commit}^{{tree}}")

    def _checked_out(
        self, place: Place, commit: Commit, lane: str, name: str, parent: ObjectId, tree: ObjectId | None
    ) -> tuple[Patch, Row]:
        if place.patch is not None:
            patch = Patch(lane, name, place.number, place.patch.content)
            row = self._kept(patch, self.known.get(place.patch.path), commit, parent, tree)
            if row is not None:
                return patch, row
        patch = Patch(lane, name, place.number, export(self.bench, commit))
        return patch, self.proven(patch, commit, parent)

    def _kept(
        self, patch: Patch, known: Known | None, commit: Commit, parent: ObjectId, tree: ObjectId | None
    ) -> Row | None:
        """The row of the old bytes on the new parent, when they give the author's commit.

        tree: of the parent. On one like the old parent's they give what they gave, and are not tried.
        """
        if known and (known.commit.parents == (parent,) or (tree and known.on == tree)):
            if known.commit.content != commit.content:
                return None
            return known.row if known.commit.parents == (parent,) else self._again(known, parent)
        try:
            row = self.engine.apply(parent, patch)
        except PatchError:
            return None
        return row if self._commit_of(row).content == commit.content else None

    def _again(self, known: Known, parent: ObjectId) -> Row:
        """The row that the engine would make of the same patch, the same tree and another parent."""
        committer = self.engine.options.committer
        made = history.make(
            self.engine.repository, known.commit, tree=known.row.tree, parents=[parent], committer=committer
        )
        return dataclasses.replace(known.row, commit=made)

    def proven(self, patch: Patch, commit: Commit, parent: ObjectId) -> Row:
        """The row of an exported patch, once it is seen to give the author's commit."""
        subject_prefix = self.engine.options.subject_prefix
        try:
            row = self.engine.apply(parent, patch)
        except PatchError as error:
            roundtrip.check(commit, patch, subject_prefix)
            raise UnfaithfulExport(commit, str(error)) from error
        made = self._commit_of(row)
        if made.content != commit.content:
            roundtrip.check(commit, patch, subject_prefix)
            raise UnfaithfulExport(commit, f"It gives commit {made.id}, tree {made.tree}, not {commit.tree}.")
        return row

    def _behind(self, patch: Patch, place: Place, places: Sequence[Place], parent: ObjectId) -> Row:
        try:
            return self.engine.apply(parent, patch)
        except PatchError as error:
            last = [each.name for each in places if each.commit is not None]
            raise RestDoesNotApply(place.name, last[-1] if last else "the pin", str(error)) from error

    def _commit_of(self, row: Row) -> Commit:
        return history.read(self.engine.repository, [row.commit])[0]


def _refuse_empty(places: Sequence[Place], tree: ObjectId | None) -> None:
    """Raise EmptyCommit for a commit with the tree of the one before it; tree: of the pin."""
    for place in places:
        if place.commit is not None:
            if place.commit.tree == tree:
                raise EmptyCommit(place.commit, place.patch.path if place.patch else "")
            tree = place.commit.tree
