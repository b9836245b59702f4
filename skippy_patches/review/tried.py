"""Whether the merged queue applies to the merged pin, as far as that can be tried."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply.trial import open_trial
from skippy_patches.errors import ConfigError, UsageError
from skippy_patches.git import GitRefused
from skippy_patches.queue.commits import Committed, deciding_files
from skippy_patches.queue.reader import lane_path
from skippy_patches.review import findings
from skippy_patches.review.application import Commute, apply_all, commutes, untried
from skippy_patches.upstream import pin as pins
from skippy_patches.upstream.errors import NoSource

if TYPE_CHECKING:
    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.findings import Finding
    from skippy_patches.review.subject import Subject
    from skippy_patches.upstream.cache import Cache
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tried:
    """applies: None when it was not tried. commit, tree: what the whole queue gives, when it applies."""

    found: tuple[Finding, ...] = ()
    applies: bool | None = None
    commit: ObjectId | None = None
    tree: ObjectId | None = None
    commutes: tuple[Commute, ...] = ()


def leave_out(subject: Subject) -> Tried:
    """Nothing was tried, as asked."""
    return Tried(commutes=untried(subject.queues.merged, "--no-apply was given."))


def attempt(subject: Subject, cache: Cache, reporter: Reporter) -> Tried:
    """Apply the merged queue in its order, and each two colliding patches in both orders.

    Not tried are a merge with conflicts, and one whose pin can be had from nowhere: the latter is a finding.
    """
    patches = subject.queues.merged
    if subject.conflicts or subject.refused:
        return Tried(commutes=untried(patches, "the merge has to be resolved first."))
    if any(lane.link for lane in subject.snapshot.lanes):
        return Tried(commutes=untried(patches, "not all of the queue can be read."))
    try:
        pin = _pin(subject.commit, subject.project)
    except ConfigError as error:
        file = subject.project.upstream.commit_object or subject.project.file
        found = findings.unusable_pin(subject.queues, error, lane_path(subject.project, file))
        return Tried(found=(found,), commutes=untried(patches, "the pin cannot be read."))
    try:
        return _apply(subject, pin, cache, reporter)
    except GitRefused:
        raise
    except (NoSource, UsageError) as error:
        found = findings.not_applied(subject.queues, error)
        return Tried(found=(found,), commutes=untried(patches, "the pin cannot be had here."))


def _apply(subject: Subject, pin: Pin, cache: Cache, reporter: Reporter) -> Tried:
    patches = subject.queues.merged
    with open_trial(subject.project, pin, cache, reporter) as trial:
        applied = apply_all(trial, patches)
        pairs = commutes(trial, patches, applied)
        if applied.error:
            refused = findings.does_not_apply(subject.queues, patches[len(applied.rows)], applied.error)
            return Tried(found=(refused,), applies=False, commutes=pairs)
        commit = applied.rows[-1].commit if applied.rows else pin.commit
        tree = trial.repository.resolve(f"{commit}^{{tree}}")
        return Tried(applies=True, commit=commit, tree=tree, commutes=pairs)


def _pin(commit: Committed, project: Project) -> Pin:
    """The pin, with the commit object as the merge has it. Raises ConfigError."""
    file = project.upstream.commit_object
    if file is None or file not in deciding_files(project):
        return pins.read(project.upstream)
    content = commit.content(file)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        if content is not None:
            copy.write_bytes(content)
        return pins.read(project.upstream._replace(commit_object=copy))
