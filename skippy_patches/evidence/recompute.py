"""Computes again what a claim says of pin, queue, recipe and libraries; tools are machine.py's."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import artifacts
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import queuediff
from skippy_patches.evidence.checked import DIFFERS, SAME, Checked, compared, unknown
from skippy_patches.queue.patch import content_digest
from skippy_patches.upstream import pin as pins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.config import Project
    from skippy_patches.evidence.claim import Claim
    from skippy_patches.evidence.since import Now

_OTHERS = "The digest is that of this queue, and the patches beside it are others: somebody edited it."
_RENAMED = "numbers or names are others."
_MOVED = "the folder of the queue was another one, or somebody edited this digest."


def pin(claim: Claim, project: Project) -> Iterator[Checked]:
    """The pin's commit, and its tree as the commit object names it."""
    upstream = project.upstream
    moved = "The pin of the project has moved since."
    yield compared("pin", "commit", claim.upstream.commit, upstream.commit, moved)
    tag = claim.record.content["upstream"]["tag"] if claim.record else ""
    if tag and upstream.tag and claim.upstream.commit == upstream.commit:
        yield compared("pin", "tag", tag, upstream.tag, "One commit, and two names for it.")
    if not claim.upstream.tree:
        return
    if claim.upstream.commit != upstream.commit:
        yield unknown("pin", "tree", claim.upstream.tree, "the project has another pin")
        return
    try:
        tree = pins.read(upstream).tree
    except SkippyError as error:
        yield unknown("pin", "tree", claim.upstream.tree, error.what)
        return
    if tree is None:
        yield unknown("pin", "tree", claim.upstream.tree, "upstream.commit_object is not configured")
    else:
        yield compared("pin", "tree", claim.upstream.tree, tree)


def queue(claim: Claim, now: Now) -> Iterator[Checked]:
    """The digests of the queue, without names and with them."""
    recorded = content_digest(patch.sha256 for patch in claim.patches)
    is_same = recorded == now.content_digest
    why = "The patches are others, or in another order."
    yield compared("queue", "bytes and order", recorded, now.content_digest, why)
    if not claim.queue_digest:
        yield unknown("queue", "names, too", "", "their digest is not in it")
        return
    is_renamed = claim.patches != queuediff.claimed(now.patches)
    if is_same:
        why = f"Bytes and order are the same: {_RENAMED if is_renamed else _MOVED}"
    row = compared("queue", "names, too", claim.queue_digest, now.digest, why)
    if row.outcome == SAME and is_renamed:
        row = dataclasses.replace(row, outcome=DIFFERS, found="", why=_OTHERS)
    yield row


def recipe(claim: Claim, project: Project) -> Iterator[Checked]:
    """The bytes of every file that the recipe was made of."""
    if not claim.recipe_files:
        yield unknown("recipe", "files", claim.recipe, "their hashes are not in it")
    for name, recorded in claim.recipe_files:
        file = _inside(project.recipes, name)
        if file is None:
            yield Checked(
                part="recipe", name=name, outcome=DIFFERS, recorded=recorded,
                why=f"There is no such file in {project.recipes}.",
            )  # fmt: skip
        else:
            yield hashed("recipe", name, recorded, file)


def hashed(part: str, name: str, recorded: str, file: Path, why: str = "") -> Checked:
    """A file's SHA-256 against the recorded one; unknown where it cannot be read."""
    try:
        return compared(part, name, recorded, artifacts.sha256(file), why)
    except OSError as error:
        return unknown(part, name, recorded, f"{file}: {error.strerror or error}")


def _inside(folder: Path, name: str) -> Path | None:
    """The file `name` of `folder`; none where the name leads out of it."""
    file = folder / name
    is_below = not Path(name).is_absolute() and ".." not in Path(name).parts
    return file if is_below and os.path.isfile(file) else None  # noqa: PTH113 - for a name that none can have
