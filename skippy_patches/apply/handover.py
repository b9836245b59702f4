"""From an author's commits to the queue's own: `refresh` has written the patch files, now the refs follow.

The trees are the same, so that no file and no index entry changes. The note of what is to happen is written
before the patch files are; whoever finds it, and the queue that it names, finishes it. So a kill between
the two leaves neither commits that look foreign nor a queue that looks changed.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from skippy_patches.apply import save
from skippy_patches.apply.checkout import APPLIED_REF, BRANCH
from skippy_patches.files import sync_folder, write_atomically
from skippy_patches.objectid import ObjectId
from skippy_patches.queue.patch import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Handover:
    """queue: the digest of the patches that will be written. tip: of the author. commit: what they give."""

    queue: str
    tip: ObjectId
    commit: ObjectId


def announce(checkout: Checkout, handover: Handover) -> None:
    """Write the note; `settle` acts on it once the queue is the one that it names."""
    write_atomically(checkout.handover, json.dumps(dataclasses.asdict(handover)).encode())


def settle(checkout: Checkout, patches: Iterable[Patch]) -> str | None:
    """Point branch and refs at the queue's commits, if a refresh that wrote `patches` has not done so.

    The ref under which the author's commits were saved; None when there was nothing to do or they are the
    same. Commits that were added since stay: then only our own ref follows.

    patches: the queue as it is now, read with the checkout locked and after a change of files that was killed
    was finished. A note of another queue is then one of files that were never written, and goes; an older
    reading of the queue would take a good note with it.
    """
    handover = _load(checkout)
    if handover is None:
        return None
    saved = None
    if handover.queue == digest(patches):
        repository = checkout.repository
        updates = f"update {APPLIED_REF} {handover.commit}\n"
        if repository.resolve(BRANCH) == handover.tip != handover.commit:
            saved = save.keep(checkout, handover.tip)
            updates += f"update {BRANCH} {handover.commit} {handover.tip}\n"
        repository.run("update-ref", "-m", "skippy-patches refresh", "--stdin", stdin=updates.encode())
    checkout.handover.unlink()
    sync_folder(checkout.own)
    return saved


def _load(checkout: Checkout) -> Handover | None:
    try:
        found = json.loads(checkout.handover.read_text(encoding="utf-8"))
        return Handover(queue=found["queue"], tip=ObjectId(found["tip"]), commit=ObjectId(found["commit"]))
    except (OSError, ValueError, KeyError, TypeError):
        checkout.handover.unlink(missing_ok=True)  # one that cannot be read is none
        return None
