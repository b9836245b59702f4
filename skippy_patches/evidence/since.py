"""What changed since a build: is the queue still that queue, on that pin?"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.evidence import queuediff
from skippy_patches.evidence.difference import CHANGED, Difference, mappings
from skippy_patches.queue.patch import content_digest, digest

if TYPE_CHECKING:
    from skippy_patches.evidence.claim import Claim
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Now:
    """Pin and queue as the project has them, also where the queue could not be applied."""

    pin: ObjectId
    patches: tuple[Patch, ...]

    @property
    def digest(self) -> str:
        """With names: what a new number changes."""
        return digest(self.patches)

    @property
    def content_digest(self) -> str:
        """Without them."""
        return content_digest(patch.sha256 for patch in self.patches)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Since:
    """is_same_content: the same bytes of patches, in the same order, on the same pin; names may be others."""

    is_same_content: bool
    differences: tuple[Difference, ...]


def since(claim: Claim, now: Now) -> Since:
    """From what was built to what is here."""
    found = [
        *mappings("pin", {"commit": claim.upstream.commit}, {"commit": now.pin}),
        *queuediff.compare(claim.patches, queuediff.claimed(now.patches)),
    ]
    recorded = claim.queue_digest or now.digest
    if not any(each.part == queuediff.PART for each in found) and recorded != now.digest:
        found.append(
            Difference(
                part=queuediff.PART, name="lane", what=CHANGED, before=recorded, after=now.digest
            )  # the folder is all that is left
        )
    is_same_pin = claim.upstream.commit == now.pin
    is_same_queue = content_digest(patch.sha256 for patch in claim.patches) == now.content_digest
    return Since(is_same_content=is_same_pin and is_same_queue, differences=tuple(found))
