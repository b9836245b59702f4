"""The journal of a rewrite: every file and index entry before and after, whole, in a folder of its own.

plan.json lists them; the bytes lie beside it, each in a file named by its SHA-256.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from skippy_patches.files import sync_folder, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = "skippy-patches rewrite 1"
_PLAN = "plan.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file's bytes before and after, None where there is no file; with its permissions, None when new."""

    path: str
    old: bytes | None
    new: bytes | None
    mode: int | None
    old_mode: int | None

    def reversed(self) -> FileChange:
        """The change that takes this one back."""
        return FileChange(path=self.path, old=self.new, new=self.old, mode=self.old_mode, old_mode=self.mode)


@dataclasses.dataclass(frozen=True, kw_only=True)
class StagedChange:
    """An index entry before and after: `mode id` as git writes it, `announced`, or None for no entry."""

    path: str
    old: str | None
    new: str | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A rewrite, ready to be carried out. kind: under which it is kept for undo; empty: it is not.

    undoes: the kind that it takes back, or empty. branch: that was checked out in the project's repository,
    empty where none was.
    """

    kind: str
    undoes: str
    branch: str
    files: tuple[FileChange, ...]
    staged: tuple[StagedChange, ...]

    def reversed(self) -> Plan:
        """The plan that takes this one back."""
        return Plan(
            kind="",
            undoes=self.kind,
            branch=self.branch,
            files=tuple(each.reversed() for each in self.files),
            staged=tuple(dataclasses.replace(each, old=each.new, new=each.old) for each in self.staged),
        )

    def write(self, folder: Path) -> None:
        """Write it into an empty folder, down to the disk."""
        contents = [content for each in self.files for content in (each.old, each.new) if content is not None]
        for content in contents:
            write_atomically(folder / _sha256(content), content)
        listed = {
            "format": _FORMAT,
            "kind": self.kind,
            "undoes": self.undoes,
            "branch": self.branch,
            "files": [_file_as_json(each) for each in self.files],
            "staged": [dataclasses.asdict(each) for each in self.staged],
        }
        # ASCII: a name that is not UTF-8 is a surrogate here, and json escapes those.
        write_atomically(folder / _PLAN, json.dumps(listed, indent=0).encode("ascii"))
        sync_folder(folder)

    @classmethod
    def read(cls, folder: Path) -> Plan | None:
        """The plan in `folder`, or None when there is none that is whole. Raises OSError."""
        try:
            listed = json.loads((folder / _PLAN).read_bytes())
            if listed["format"] != _FORMAT:
                return None
            return cls(
                kind=str(listed["kind"]),
                undoes=str(listed["undoes"]),
                branch=str(listed["branch"]),
                files=tuple(_file(folder, each) for each in listed["files"]),
                staged=tuple(StagedChange(**each) for each in listed["staged"]),
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None


def _file_as_json(change: FileChange) -> dict[str, Any]:
    old, new = (None if content is None else _sha256(content) for content in (change.old, change.new))
    return {
        "path": os.fspath(change.path),
        "old": old,
        "new": new,
        "mode": change.mode,
        "old_mode": change.old_mode,
    }


def _file(folder: Path, listed: dict[str, Any]) -> FileChange:
    old, new = (_stored(folder, listed[key]) for key in ("old", "new"))
    return FileChange(
        path=str(listed["path"]), old=old, new=new, mode=listed["mode"], old_mode=listed["old_mode"]
    )


def _stored(folder: Path, name: str | None) -> bytes | None:
    if name is None:
        return None
    content = (folder / name).read_bytes()
    if _sha256(content) != name:
        raise ValueError(f"{name} is not what its name says")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
