"""What a merge does to a queue, as findings: each names the merge it is about."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from skippy_patches.queue.claims import shown
from skippy_patches.queue.findings import ERROR, Finding, error, warning
from skippy_patches.review.application import beginning
from skippy_patches.review.order import PrefixChange, inversions, prefix_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skippy_patches.errors import ConfigError, PatchError, SkippyError
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.claims import Claim
    from skippy_patches.queue.patch import Patch
    from skippy_patches.review.application import Commute

_MOST_NAMED = 3
_AGAIN = "Build, measure and record again after the merge."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Queues:
    """The four queues of a merge, in apply order, and the labels of its sides.

    pins: ours, theirs, the merge's. pin_file: the file that holds it, relative to the project.
    """

    ours: tuple[Patch, ...]
    theirs: tuple[Patch, ...]
    base: tuple[Patch, ...]
    merged: tuple[Patch, ...]
    our_label: str
    their_label: str
    pins: tuple[ObjectId, ...]
    pin_file: str

    @property
    def label(self) -> str:
        """Of the merge."""
        return f"the merge of {self.our_label} and {self.their_label}"


def order(queues: Queues) -> Iterator[Finding]:
    """Inversions and changed prefixes."""
    for inversion in inversions(queues.ours, queues.theirs, queues.base, queues.merged):
        behind = _named([patch.name for patch in inversion.behind])
        yield warning(
            "order-inversion",
            (inversion.patch.path, *(patch.path for patch in inversion.behind)),
            f"sorts before {behind} in {queues.label}, and was authored after",
            why="One side renumbered, or took a number, below a patch that this one was made on top of.",
            mend="Merge or rebase first, then renumber so that the order is the one that it was made in.",
        )
    our_pin, their_pin, pin = queues.pins
    for label, other, patches, before in (
        (queues.our_label, queues.their_label, queues.ours, our_pin),
        (queues.their_label, queues.our_label, queues.theirs, their_pin),
    ):
        change = prefix_change(patches, queues.merged)
        if before != pin:
            yield _other_pin(queues, label, other, before)
        elif change:
            now = change.now or change.patch
            yield warning(
                "prefix-change",
                (now.path, *((change.cause.path,) if change.cause and change.cause != now else ())),
                _changed(change, label, other),
                why="Its commit and those of all patches behind it change: builds of them and their evidence"
                f" from {label} are of another llama.cpp.",
                mend=_AGAIN,
            )


def _other_pin(queues: Queues, label: str, other: str, before: ObjectId) -> Finding:
    return warning(
        "prefix-change",
        (queues.pin_file,),
        f"the pin is not what it is in {label}: {other} changes it, from {before} to {queues.pins[-1]}",
        why=f"The commits of all patches change: builds and evidence from {label} are of another llama.cpp.",
        mend=_AGAIN,
    )


def _changed(change: PrefixChange, label: str, other: str) -> str:
    if change.now is None:
        return f"is not what it is in {label}: {other} drops it"
    if change.cause is None or change.cause.path == change.now.path:
        return f"is not what it is in {label}: {other} changes it"
    return f"stands on something else than in {label}: {change.cause.name} of {other} comes before it"


def conflicts(queues: Queues, paths: Iterable[str]) -> Iterator[Finding]:
    """A finding a path (relative to the project) that git could not merge."""
    for path in sorted(paths, key=os.fsencode):
        yield error(
            "merge-conflict",
            (path,),
            f"conflicts in {queues.label}",
            why="Both sides change, rename or delete it, or the folder it is in, and git cannot tell what it"
            " should be.",
            mend=f"Merge {queues.their_label}, resolve the conflict and check again.",
        )


def with_sides(finding: Finding, queues: Queues, commutes: Sequence[Commute]) -> Finding:
    """A duplicate number with which side brings which file, and whether the patches commute."""
    if finding.code != "duplicate-number":
        return finding
    brought = [_brought(queues, path) for path in finding.files]
    verdicts = [
        each.described() for each in commutes if {each.first.path, each.second.path} <= {*finding.files}
    ]
    why = "\n".join((f"In {queues.label}: {'; '.join(brought)}.", finding.why, *verdicts))
    mend = (
        "Merge, then: skippy-patches renumber --write keeps the order, and the numbers that evidence names.\n"
        "Or rename one before; the next number that no branch has: skippy-patches next-number"
    )
    return finding._replace(why=why, mend=mend)


def _brought(queues: Queues, path: str) -> str:
    is_ours, is_theirs = (path in {patch.path for patch in side} for side in (queues.ours, queues.theirs))
    if is_ours == is_theirs:
        return f"{path} is on both sides"
    return f"{path} comes from {queues.our_label if is_ours else queues.their_label}"


def claimed(claims: Sequence[Claim], new: Iterable[Patch]) -> Iterator[Finding]:
    """Numbers of `new`, patches of our side, that other branches use for another file."""
    for patch in new:
        others = [claim for claim in claims if claim.number == patch.number and claim.file != patch.path]
        if others:
            where = "; ".join(f"{claim.file} on {shown(claim.refs)}" for claim in others[:_MOST_NAMED])
            more = len(others) - _MOST_NAMED
            yield warning(
                "claimed-number",
                (patch.path,),
                f"number {patch.number:04d} is claimed for another patch: {where}"
                + (f" and {more} more" if more > 0 else ""),
                why="Both merge cleanly, and then the number names two patches.",
                mend="Take a free one: skippy-patches next-number",
            )


def does_not_apply(queues: Queues, patch: Patch, refused: PatchError) -> Finding:
    """The first patch of the merged queue that does not apply."""
    return error(
        "does-not-apply",
        (patch.path,),
        f"{refused.what.removesuffix(f': {patch.path}')}, in {queues.label}",
        why=beginning(refused.why),
        mend="Merge or rebase, mend the patch on top of the ones that now come before it, and check again.",
    )


def not_applied(queues: Queues, reason: SkippyError) -> Finding:
    """It is not known whether the merged queue applies."""
    return warning(
        "not-applied",
        (),
        f"whether {queues.label} applies was not tried: {reason.what}",
        why=reason.why,
        mend=f"{reason.mend}\nTo leave it out on purpose: --no-apply",
    )


def configuration(queues: Queues, refused: ConfigError, file: str) -> Finding:
    """skippy-patches.yaml makes no sense once it is merged. file: its name."""
    what = f"cannot be used in {queues.label}: {refused.fact}"
    return error("merged-configuration", (file,), what, line=refused.line, why=refused.why, mend=refused.mend)


def deleted_configuration(queues: Queues, file: str) -> Finding:
    """One side deletes skippy-patches.yaml, and the other has it as it was."""
    return error(
        "merged-configuration",
        (file,),
        f"is gone in {queues.label}: one side deletes it, or moves it elsewhere",
        why="The other side left it as it was, so git merges that without a word, and no project is left.",
        mend=f"Decide whether it shall go. Else, once merged: git checkout REF -- {file}",
    )


def unusable_pin(queues: Queues, refused: ConfigError, file: str) -> Finding:
    """The pin's commit object makes no sense once it is merged. file: its path, relative to the project."""
    what = f"cannot be used in {queues.label}: {refused.fact}"
    return error("merged-configuration", (file,), what, why=refused.why, mend=refused.mend)


def in_merge(finding: Finding, queues: Queues) -> Finding:
    """A folder of the queue that the merge lacks is an error when a side has patches: they are gone there."""
    if finding.code == "missing-lane" and (queues.ours or queues.theirs):
        return finding._replace(severity=ERROR)
    return finding


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
