"""Makes the patched commit again from the patches, in a scratch repository: the checkout is left alone.

The pin comes from the checkout or from the cache of this machine; nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from skippy_patches.apply.trial import open_trial
from skippy_patches.errors import PatchError, SkippyError
from skippy_patches.evidence.checked import DIFFERS, Checked, compared, unknown
from skippy_patches.evidence.claim import ClaimedTip
from skippy_patches.objectid import ObjectId
from skippy_patches.project_git import ProjectGit
from skippy_patches.queue.commits import read_objects
from skippy_patches.queue.findings import counted
from skippy_patches.queue.patch import SUFFIX, Patch
from skippy_patches.queue.reader import lane_path
from skippy_patches.upstream import pin as pins
from skippy_patches.upstream.errors import NoSource
from skippy_patches.upstream.pin import Pin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skippy_patches.apply.ledger import Row
    from skippy_patches.config import Project
    from skippy_patches.evidence.claim import Claim, ClaimedPatch
    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.cache import Cache

PART = "patched"
_LEDGER = ("commit", "tree", "subject", "files", "insertions", "deletions")  # keys of records, and of Row
_COMMITTER = "The tree is the same: `committer` or `subject_prefix` is another one than then."


def check(
    claim: Claim, project: Project, here: Iterable[Patch], cache: Cache, reporter: Reporter
) -> Iterator[Checked]:
    """The commit and the tree of the patches that the claim names, on its pin; of a record, of each prefix.

    here: the queue; what it has no more is taken from the project's history. Every patch is applied anew.
    """
    found = {patch.sha256: patch for patch in here}
    found |= recover(project, [patch for patch in claim.patches if patch.sha256 not in found])
    wanted = [found[patch.sha256] for patch in claim.patches if patch.sha256 in found]
    lost = [patch for patch in claim.patches if patch.sha256 not in found]
    if lost:
        where = "neither in the queue nor in a commit of the project"
        yield from _unknown(claim, f"these bytes of {_named([each.file for each in lost])} are {where}")
        return
    try:
        rows, error = _apply(claim, project, wanted, cache, reporter)
    except NoSource:
        why = "the pin is neither in the checkout nor in the cache: skippy-patches apply fetches it"
        yield from _unknown(claim, why)
    except (SkippyError, OSError) as trouble:
        yield from _unknown(claim, trouble.what if isinstance(trouble, SkippyError) else str(trouble))
    else:
        yield from _failed(claim, error) if error else _compared(claim, rows)


def _apply(
    claim: Claim, project: Project, patches: Sequence[Patch], cache: Cache, reporter: Reporter
) -> tuple[list[Row], PatchError | None]:
    upstream = project.upstream
    if claim.upstream.commit == upstream.commit:
        pin = pins.read(upstream)
    else:
        pin = Pin(tag="", commit=ObjectId(claim.upstream.commit), tree=None, commit_object=None)
    at_hand = project._replace(upstream=upstream._replace(repository="", mirrors=()))
    with open_trial(at_hand, pin, cache, reporter) as trial:
        rows, error = trial.until_error(patches, anew=True)
        return rows, error


def _compared(claim: Claim, rows: Sequence[Row]) -> Iterator[Checked]:
    recorded = claim.patched
    found = ClaimedTip(rows[-1].commit, rows[-1].tree) if rows else claim.upstream
    is_tree_same = recorded.tree == found.tree
    why = _COMMITTER if is_tree_same else _first_other(claim, rows)
    yield compared(PART, "commit", recorded.commit, found.commit, why)
    if recorded.tree:
        yield compared(PART, "tree", recorded.tree, found.tree)
    if claim.record and rows:
        others = [
            was["file"]
            for was, row in zip(claim.record.content["patches"], rows, strict=True)
            if any(was[key] != getattr(row, key) for key in _LEDGER if key in was)
        ]
        prefixes = f"commit and tree of {counted(len(rows), 'patch', 'patches')}"
        told = f"others of {_named(others)}" if others else prefixes
        yield compared(PART, "every prefix", prefixes, told)


def _first_other(claim: Claim, rows: Sequence[Row]) -> str:
    """The first patch after which the record has another tree."""
    prefixes = claim.record.content["patches"] if claim.record else ()
    for patch, row in zip(prefixes, rows, strict=False):
        if patch["tree"] != row.tree:
            return f"The trees differ from {patch['file']} on."
    return ""


def _failed(claim: Claim, error: PatchError) -> Iterator[Checked]:
    yield Checked(part=PART, name="commit", outcome=DIFFERS, recorded=claim.patched.commit, why=error.what)


def _unknown(claim: Claim, why: str) -> Iterator[Checked]:
    yield unknown(PART, "commit", claim.patched.commit, why)
    if claim.patched.tree:
        yield unknown(PART, "tree", claim.patched.tree, why)


def recover(project: Project, lost: Iterable[ClaimedPatch]) -> dict[str, Patch]:
    """SHA-256 -> patch, of those of `lost` whose bytes any branch or tag ever had in a lane of the queue.

    Empty where there is no repository. Bytes count, not names: a patch may have had another number.
    """
    wanted = {patch.sha256: patch for patch in lost}
    git = ProjectGit.open(project.root)
    if git is None or not wanted:
        return {}
    lanes = [lane_path(project, lane) for lane in project.queue]
    # git-rev-list(1): each object once, as `<id> <path>`, folders and commits too.
    listed = git.run("rev-list", "--all", "--objects", "--", *lanes, check=False)
    if listed.status:
        return {}
    lines = (line.partition(" ") for line in os.fsdecode(listed.stdout).splitlines())
    blobs = [name for name, _, path in lines if path.endswith(SUFFIX)]
    found: dict[str, Patch] = {}
    for content in read_objects(git, blobs, kind=b"blob").values():
        sha256 = hashlib.sha256(content).hexdigest()
        if claimed := wanted.get(sha256):
            found[sha256] = Patch("", claimed.file, claimed.number or 0, content)
    return found


def _named(files: Sequence[str]) -> str:
    more = len(files) - 1
    return f"{files[0]}{f' and {more} more' if more else ''}"
