"""The stage: two commits in, what their merge does to the queue out."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

from skippy_patches.objectid import hash_object
from skippy_patches.project_git import ProjectGit
from skippy_patches.queue import claims as claiming
from skippy_patches.queue.check import check_project
from skippy_patches.queue.commits import resolve
from skippy_patches.review import findings, subject, tried
from skippy_patches.review.errors import NotARepository
from skippy_patches.review.order import follow
from skippy_patches.review.ours import Desk, head_of
from skippy_patches.review.scratch import open_scratch
from skippy_patches.review.sides import Reader, Tip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.config import Project
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.claims import Claim
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.patch import Patch
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.review.findings import Queues
    from skippy_patches.review.subject import Subject
    from skippy_patches.review.tried import Tried
    from skippy_patches.upstream.cache import Cache


@dataclasses.dataclass(frozen=True, kw_only=True)
class Review:
    """What a merge does to the queue.

    patches: how many the merged queue has. found: every finding about it. claims: by branches that are part
    of neither side, of files that neither side has.
    """

    ours: Tip
    theirs: Tip
    base: ObjectId
    patches: int
    found: tuple[Finding, ...]
    tried: Tried
    claims: tuple[Claim, ...]

    def as_json(self) -> dict[str, object]:
        """As `check` prints it."""
        return {
            "ours": self.ours.as_json(),
            "theirs": self.theirs.as_json(),
            "base": self.base,
            "patches": self.patches,
            "applies": self.tried.applies,
            "commit": self.tried.commit,
            "tree": self.tried.tree,
            "commute": [each.as_json() for each in self.tried.commutes],
            "claims": [claim.as_json() for claim in self.claims],
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reviewer:
    """Reviews merges of one project. wants_apply: whether to try if the merged queue applies to its pin."""

    reader: Reader
    project: Project
    claims: tuple[Claim, ...]
    wants_apply: bool
    cache: Cache
    reporter: Reporter

    def named(self, name: str) -> Tip:
        """The side that a person calls `name`: a branch, a tag, an id, `A...B` for their merge base.

        Raises NoSuchCommit, NotACommit, NoMergeBase.
        """
        commit = resolve(self.reader.git, name)
        return Tip(name=name, label=name, commit=commit, known=commit)

    def lying(self, snapshot: Snapshot, *, is_staged: bool) -> Tip:
        """The side that lies in the folder, or in the index, on top of HEAD."""
        desk = Desk(git=self.reader.git, scratch=self.reader.scratch, project=self.project)
        name = "index" if is_staged else "folder"
        commit = desk.commit(snapshot, is_staged=is_staged)
        return Tip(name=name, label=f"the {name}", commit=commit, known=head_of(self.reader.git))

    def review(self, ours: Tip, theirs: Tip) -> Review:
        """Merge the two on trial. Raises UsageError, ConfigError for sides that cannot be merged or read."""
        merged = subject.read(self.reader, ours, theirs)
        attempt = (
            tried.attempt(merged, self.cache, self.reporter) if self.wants_apply else tried.leave_out(merged)
        )
        claims = self._other_claims(ours, theirs, merged.queues)
        return Review(
            ours=ours,
            theirs=theirs,
            base=merged.base,
            patches=len(merged.queues.merged),
            found=tuple(sorted(_found(merged, attempt, claims), key=_position)),
            tried=attempt,
            claims=claims,
        )

    def _other_claims(self, ours: Tip, theirs: Tip, queues: Queues) -> tuple[Claim, ...]:
        """Claims by branches that are part of neither side, of files that neither side has.

        A branch that is merged into a side holds an older state of it, and its numbers are its own.
        """
        ends = [f"--merged={tip.known}" for tip in (ours, theirs) if tip.known]
        listed = self.reader.git.run("for-each-ref", "--format=%(refname)", *ends, *claiming.BRANCHES)
        inside = frozenset(listed.text.splitlines())
        known = (*queues.ours, *queues.theirs, *queues.merged)
        files = {patch.path for patch in known}
        blobs = {hash_object("blob", content) for content in {patch.content for patch in known}}
        others = (
            dataclasses.replace(claim, refs=tuple(ref for ref in claim.refs if ref not in inside))
            for claim in self.claims
            if claim.file not in files and claim.blob not in blobs
        )
        return tuple(claim for claim in others if claim.refs)


@contextlib.contextmanager
def open_reviewer(
    project: Project, *, wants_apply: bool, cache: Cache, reporter: Reporter
) -> Iterator[Reviewer]:
    """A reviewer with a scratch repository, gone afterwards.

    Raises NotARepository, OtherObjectFormat.
    """
    git = ProjectGit.open(project.root)
    if git is None:
        raise NotARepository(project.root)
    with open_scratch(git) as scratch:
        yield Reviewer(
            reader=Reader(git=git, scratch=scratch, file=project.file),
            project=project,
            claims=claiming.claims(project, git),
            wants_apply=wants_apply,
            cache=cache,
            reporter=reporter,
        )


def _found(merged: Subject, attempt: Tried, claims: Sequence[Claim]) -> Iterator[Finding]:
    for finding in check_project(merged.snapshot, merged.project):
        if finding.code != "unmerged":  # told as a conflict of this merge
            told = findings.with_sides(finding, merged.queues, attempt.commutes)
            yield findings.in_merge(told, merged.queues)
    yield from findings.conflicts(merged.queues, merged.conflicts)
    yield from merged.refused
    if not merged.conflicts:  # else the order is not decided yet
        yield from findings.order(merged.queues)
    yield from findings.claimed(claims, _new(merged.queues))
    yield from attempt.found


def _new(queues: Queues) -> list[Patch]:
    """Patches of our side that the base does not have, or has under another number."""
    before = follow(queues.ours, queues.base)
    return [
        patch
        for patch in queues.ours
        if patch.path not in before or before[patch.path].number != patch.number
    ]


def _position(finding: Finding) -> tuple[bytes, int, bool, str, str]:
    """By file, errors first; what is about no file comes last."""
    file = os.fsencode(finding.files[0]) if finding.files else b"\xff"
    return file, finding.line or 0, not finding.is_error, finding.code, finding.what
