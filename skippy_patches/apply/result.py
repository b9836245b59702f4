"""What `apply` hands on: the patched commit and one row a patch."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.objectid import ObjectId

SCHEMA_VERSION = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tip:
    """A commit and its tree."""

    commit: ObjectId
    tree: ObjectId


@dataclasses.dataclass(frozen=True, kw_only=True)
class AppliedPatch:
    """One patch as it was applied. `commit` and `tree` are cumulative: the prefix that ends here.

    file: the name without its lane. sha256: of the file's bytes. files, insertions, deletions: of the
    commit, as `git diff-tree --numstat` counts them (a binary file counts as a file without lines).
    """

    number: int
    file: str
    sha256: str
    subject: str
    commit: ObjectId
    tree: ObjectId
    files: int
    insertions: int
    deletions: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Applied:
    """The queue on the pin. `reused` of the `patches` were taken from an earlier application."""

    upstream: Tip
    upstream_tag: str
    patched: Tip
    queue_digest: str
    checkout: Path
    reused: int
    patches: tuple[AppliedPatch, ...]

    def as_json(self) -> dict[str, Any]:
        """The object that `apply --format json` prints and that records hold; docs/json.md has its fields."""
        return {
            "schema_version": SCHEMA_VERSION,
            "upstream": {"tag": self.upstream_tag, **dataclasses.asdict(self.upstream)},
            "patched": dataclasses.asdict(self.patched),
            "queue_digest": self.queue_digest,
            "checkout": str(self.checkout),
            "applied": len(self.patches),
            "reused": self.reused,
            "patches": [dataclasses.asdict(patch) for patch in self.patches],
        }
