"""An edit that is stopped in the checkout: `edit N` was said, and not yet `continue` or `edit --abort`.

The file that tells of it changes in the same journaled step as the work tree (move.py), so that a kill
leaves both as they were before or both as they are after. authoring/edit/sequence.py makes these values;
here they are only kept, so that `apply` does not run over them.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = "skippy-patches edit 1"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stopped:
    """Where an edit stands.

    patch: its file, for people. at: the commit that `edit` stopped at. original: the commit of the whole
    queue, before. rest: commits that are still to be replayed. picked: the commit whose replay is in
    conflict; None while the author works on the patch itself. base: what the conflict is on top of. marked:
    a commit of the files with conflict markers, on `base`, until the index tells of the conflict. left_out:
    commits of which nothing remained. is_ending: `edit --abort` was said. queue: the digest of the patches
    that the edit began from; empty where it is not known.
    """

    number: int
    patch: str
    at: ObjectId
    original: ObjectId
    rest: tuple[ObjectId, ...]
    picked: ObjectId | None = None
    base: ObjectId | None = None
    marked: ObjectId | None = None
    left_out: tuple[ObjectId, ...] = ()
    is_ending: bool = False
    queue: str = ""

    def text(self) -> str:
        """As the file holds it."""
        return json.dumps({"format": _FORMAT, **dataclasses.asdict(self)})

    def has_work(self, tip: ObjectId | None) -> bool:
        """Whether the author has begun: the branch, at `tip`, is not where `edit` put it."""
        return self.picked is not None or self.is_ending or tip not in (self.at, self.original)


def load(file: Path) -> Stopped | None:
    """What `file` tells; None when there is none. A garbled one is none: the commits are still there."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT:
            return None
        return Stopped(
            number=int(found["number"]),
            patch=str(found["patch"]),
            at=ObjectId(found["at"]),
            original=ObjectId(found["original"]),
            rest=_ids(found["rest"]),
            picked=_id(found["picked"]),
            base=_id(found["base"]),
            marked=_id(found["marked"]),
            left_out=_ids(found["left_out"]),
            is_ending=bool(found["is_ending"]),
            queue=str(found.get("queue", "")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _ids(texts: list[str]) -> tuple[ObjectId, ...]:
    return tuple(ObjectId(text) for text in texts)


def _id(text: str | None) -> ObjectId | None:
    return ObjectId(text) if text else None
