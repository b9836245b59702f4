"""`refresh --normalise`: every patch file once in the form that `refresh` writes, the commits unchanged."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply import prefixes
from skippy_patches.apply.ledger import Ledger
from skippy_patches.authoring import history
from skippy_patches.authoring.export import export
from skippy_patches.authoring.message_errors import UnfaithfulExport
from skippy_patches.authoring.refresh import planning
from skippy_patches.authoring.refresh.changes import Action, Plan
from skippy_patches.queue.snapshot import Snapshot

if TYPE_CHECKING:
    from skippy_patches.authoring.refresh.draft import Workshop
    from skippy_patches.progress import Reporter


def plan(workshop: Workshop, unchanged: Plan, snapshot: Snapshot, reporter: Reporter) -> Plan:
    """`unchanged`, the plan of a queue that is as the checkout has it, with every file in the one form.

    Each new file is applied, and must give the very commit that the old one gave: tree, message and author
    are the same then. Raises DoesNotSurvive, UnfaithfulExport.
    """
    rows, _ = prefixes.apply(
        workshop.engine, workshop.pin, unchanged.patches, Ledger(workshop.checkout.ledger)
    )
    commits = history.read(workshop.engine.repository, [row.commit for row in rows])
    changes, patches = [], []
    for at, (change, patch, commit) in enumerate(
        zip(unchanged.changes, unchanged.patches, commits, strict=True)
    ):
        reporter.advance("Exporting", at + 1, len(rows))
        exported = patch._replace(content=export(workshop.bench, commit))
        if exported.content != patch.content:
            parent = rows[at - 1].commit if at else workshop.pin.commit
            if workshop.proven(exported, commit, parent).commit != commit.id:
                raise UnfaithfulExport(commit, "The committer or the parent differs.")
            change = dataclasses.replace(change, action=Action.REWRITTEN, subject=commit.subject)  # noqa: PLW2901
        changes.append(change)
        patches.append(exported)
    names = {patch.path: patch for patch in patches}
    lanes = tuple(
        lane._replace(
            entries=tuple(
                entry._replace(content=names[path].content)
                if (path := f"{lane.path}/{entry.name}") in names
                else entry
                for entry in lane.entries
            )
        )
        for lane in snapshot.lanes
    )
    return Plan(
        changes=tuple(changes),
        patches=tuple(patches),
        rows=tuple(rows),
        held=unchanged.held,
        files=planning.differences(snapshot, Snapshot(snapshot.source, lanes)),
    )
