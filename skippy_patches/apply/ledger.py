"""The ledger of prefixes: which commit came of the pin and the first n patches.

A prefix's key hashes everything that decides its commit: pin, committer, options and the bytes of every
patch so far. Names and numbers do not enter a commit, so they do not enter the key, and a row outlives a
renumber. The ledger lives in the checkout's git dir, beside the objects that it names.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING

from skippy_patches.files import write_atomically
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skippy_patches.config import Identity
    from skippy_patches.queue.patch import Patch

_FORMAT = "skippy-patches ledger 1"
_MOST_ROWS = 5000  # a row is about 300 bytes; the oldest go first


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """The commit that a prefix ends in, with what its last patch changed (`git diff --numstat`)."""

    commit: ObjectId
    tree: ObjectId
    subject: str
    files: int
    insertions: int
    deletions: int


def prefix_keys(
    base: ObjectId, committer: Identity, subject_prefix: str, patches: Iterable[Patch]
) -> tuple[str, ...]:
    """One key a patch: SHA-256 in hexadecimal, each over the key before it and the patch's bytes."""
    start = "\0".join((_FORMAT, base, committer.name, committer.email, subject_prefix))
    key = hashlib.sha256(start.encode()).hexdigest()
    keys = []
    for patch in patches:
        key = hashlib.sha256(f"{key}\0{patch.sha256}".encode()).hexdigest()
        keys.append(key)
    return tuple(keys)


class Ledger:
    """Rows by prefix key, oldest first."""

    def __init__(self, file: Path) -> None:
        """Read `file`; a missing or damaged one is an empty ledger, which costs time and nothing else."""
        self._file = file
        self._has_grown = False
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            rows = stored["rows"] if stored["format"] == _FORMAT else {}
            self._rows = {key: _row(value) for key, value in rows.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._rows = {}

    def longest(self, keys: Iterable[str]) -> list[Row]:
        """The rows of the longest prefix that was applied before."""
        found = []
        for key in keys:
            if key not in self._rows:
                break
            found.append(self._rows[key])
        return found

    def add(self, key: str, row: Row) -> None:
        """Remember `row`; `save` writes it down."""
        self._rows[key] = row
        self._has_grown = True

    def save(self) -> None:
        """Write what was added, atomically, without the oldest rows when there are many."""
        if not self._has_grown:
            return
        newest = list(self._rows.items())[-_MOST_ROWS:]
        rows = {key: dataclasses.asdict(row) for key, row in newest}
        write_atomically(self._file, json.dumps({"format": _FORMAT, "rows": rows}, indent=0).encode())


def _row(value: dict[str, str | int]) -> Row:
    return Row(
        commit=ObjectId(str(value["commit"])),
        tree=ObjectId(str(value["tree"])),
        subject=str(value["subject"]),
        files=int(value["files"]),
        insertions=int(value["insertions"]),
        deletions=int(value["deletions"]),
    )
