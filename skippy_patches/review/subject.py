"""The subject of a review: the merged queue, with the queues that it was made of."""

from __future__ import annotations

import dataclasses
import posixpath
from typing import TYPE_CHECKING

from skippy_patches.errors import ConfigError
from skippy_patches.queue.commit_errors import NotConfigured
from skippy_patches.queue.commits import Committed, deciding_files
from skippy_patches.queue.reader import lane_path
from skippy_patches.queue.snapshot import SERIES, UNMERGED, Snapshot, is_about_patches, ordered
from skippy_patches.review import findings
from skippy_patches.review.findings import Queues
from skippy_patches.review.merging import Merge, merge

if TYPE_CHECKING:
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.findings import Finding
    from skippy_patches.review.sides import Reader, Tip


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    """The merged queue. commit: the merge's tree. base: where the sides parted.

    conflicts: files of the queue, configuration and pin that git could not merge, relative to the project.
    refused: findings about a configuration that cannot be read once it is merged.
    """

    commit: Committed
    base: ObjectId
    project: Project
    snapshot: Snapshot
    queues: Queues
    conflicts: frozenset[str]
    refused: tuple[Finding, ...]


def read(reader: Reader, ours: Tip, theirs: Tip) -> Subject:
    """Merge the two and read all queues.

    Raises UsageError for sides that cannot be merged, NotConfigured, and ConfigError for a side's own.
    """
    our_project, their_project = reader.projects(ours, theirs)
    reader.set_attributes(ours, (our_project, their_project))
    merged = merge(reader.scratch, (ours.label, ours.commit), (theirs.label, theirs.commit))
    commit = reader.at(merged.tree, f"the merge of {ours.label} and {theirs.label}")
    project, refused = _project(commit, merged, our_project)
    conflicts = reader.relative(merged.conflicts)
    snapshot = _with_conflicts(commit.queue(project), conflicts)
    queues = Queues(
        ours=reader.patches(ours.commit, ours.label, our_project),
        theirs=reader.patches(theirs.commit, theirs.label, their_project),
        base=reader.patches_at(merged.bases[0], "the merge base", our_project),
        merged=ordered(snapshot),
        our_label=ours.label,
        their_label=theirs.label,
        pins=tuple(each.upstream.commit for each in (our_project, their_project, project)),
        pin_file=lane_path(project, project.upstream.commit_file or project.file),
    )
    return Subject(
        commit=commit,
        base=merged.bases[0],
        project=project,
        snapshot=snapshot,
        queues=queues,
        conflicts=frozenset(_deciding(conflicts, snapshot, _files(reader, commit, project))),
        refused=tuple(_refused(queues, error, project.file.name) for error in refused),
    )


def _project(
    commit: Committed, merged: Merge, otherwise: Project
) -> tuple[Project, list[ConfigError | NotConfigured]]:
    """The project as the merge configures it, or `otherwise`, with the reason unless that is a conflict."""
    if commit.path(commit.file) in merged.conflicts:
        return otherwise, []
    try:
        return commit.project(), []
    except (NotConfigured, ConfigError) as error:
        return otherwise, [error]


def _refused(queues: Queues, error: ConfigError | NotConfigured, file: str) -> Finding:
    """That a side has a configuration is certain here: else there would be nothing to merge."""
    if isinstance(error, NotConfigured):
        return findings.deleted_configuration(queues, file)
    return findings.configuration(queues, error, file)


def _with_conflicts(snapshot: Snapshot, conflicts: frozenset[str]) -> Snapshot:
    """The queue without the files in conflict: what git leaves of them in the tree is no patch."""
    lanes = []
    for lane in snapshot.lanes:
        prefix = "" if lane.path == "." else f"{lane.path}/"
        entries = [
            entry._replace(kind=UNMERGED, content=b"") if prefix + entry.name in conflicts else entry
            for entry in lane.entries
        ]
        listing = None if prefix + SERIES in conflicts else lane.series
        lanes.append(lane._replace(entries=tuple(entries), series=listing))
    return snapshot._replace(lanes=tuple(lanes))


def _files(reader: Reader, commit: Committed, project: Project) -> frozenset[str]:
    return reader.relative(commit.path(file) for file in deciding_files(project))


def _deciding(conflicts: frozenset[str], snapshot: Snapshot, files: frozenset[str]) -> set[str]:
    """The files in conflict that the queue is made of. What else lies in the repository is not ours."""
    lanes = {lane.path for lane in snapshot.lanes}
    found = set()
    for path in conflicts:
        folder, name = posixpath.split(path)
        is_in_lane = (folder or ".") in lanes and (name == SERIES or is_about_patches(name))
        if is_in_lane or path in files:
            found.add(path)
    return found
