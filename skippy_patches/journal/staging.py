"""The index of the project's repository, when patches are renamed: what `git mv` would do, in one step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.journal.errors import IndexBusy, UnmergedPatches
from skippy_patches.journal.plan import StagedChange
from skippy_patches.project_git import ProjectGit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skippy_patches.config import Project


# Entries of the index that hold no content yet, and how git marks them (CE_INTENT_TO_ADD).
_ANNOUNCED = "announced"
_EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_INTENT_TO_ADD = 0x20000000


def branch(project: Project) -> str:
    """The branch that is checked out in the project's repository; empty for none, or without one."""
    git = ProjectGit.open(project.root)
    if git is None:
        return ""
    return git.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False).line


def moved(
    project: Project, renames: Mapping[str, str], files: Mapping[str, tuple[bytes | None, bytes | None]]
) -> tuple[StagedChange, ...]:
    """The entries that follow `renames` (paths relative to the project), and `files` with them.

    What is not tracked stays so; of the files, those follow whose old bytes are what is staged. Without
    renames the index is left alone. Raises UnmergedPatches.
    """
    git = ProjectGit.open(project.root)
    if git is None or not renames:
        return ()
    involved = {*renames, *renames.values()}
    entries = _entries(git, involved | files.keys())
    after: dict[str, str | None] = {path: None for path in entries if path in renames}
    after |= {renames[path]: entry for path, entry in entries.items() if path in renames}
    followers = entries.keys() & (files.keys() - involved)
    after |= {path: _written(git, path, entries[path], *files[path]) for path in followers}
    return tuple(
        StagedChange(path=path, old=entries.get(path), new=entry)
        for path, entry in sorted(after.items())
        if entries.get(path) != entry
    )


def _written(git: ProjectGit, path: str, entry: str, old: bytes | None, new: bytes | None) -> str:
    """The entry with the new bytes, when it holds the old ones; else as it is."""
    if old is None or new is None or entry == _ANNOUNCED:
        return entry
    mode, _, object_id = entry.partition(" ")
    hashed = ("hash-object", "--stdin", f"--path={path}")
    if git.run(*hashed, stdin=old).line != object_id:
        return entry
    return f"{mode} {git.run(*hashed, '-w', stdin=new).line}"


def refuse_locked(project: Project, changes: Sequence[StagedChange]) -> None:
    """Raise IndexBusy when the index is to change and another git works on it."""
    git = ProjectGit.open(project.root) if changes else None
    if git is not None and (lock := git.git_dir / "index.lock").exists():
        raise IndexBusy(lock)


def settle(project: Project, changes: Sequence[StagedChange]) -> bool:
    """Bring the index to the new entries; False when a person changed them meanwhile: it is left alone."""
    git = ProjectGit.open(project.root) if changes else None
    if git is None:
        return not changes
    refuse_locked(project, changes)
    found = _entries(git, [each.path for each in changes])
    if all(found.get(each.path) == each.old for each in changes):
        lines = [_line(git, each) for each in sorted(changes, key=lambda each: _is_entry(each.new))]
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
    elif any(found.get(each.path) != each.new for each in changes if each.new != _ANNOUNCED):
        return False
    announced = [each.path for each in changes if each.new == _ANNOUNCED]
    if announced:
        git.run("add", "--intent-to-add", "--force", "--", *announced)
    return True


def _entries(git: ProjectGit, paths: Iterable[str]) -> dict[str, str]:
    """Path -> `mode id`, or _ANNOUNCED, of those that are in the index. Raises UnmergedPatches."""
    found = {}
    unmerged = set()
    within = sorted(path for path in paths if not _from_top(git, path).startswith(".."))
    for record in git.run("ls-files", "--stage", "-z", "--", *within).paths if within else ():
        facts, _, path = record.partition("\t")
        mode, object_id, stage = facts.split(" ")
        is_announced = object_id == _EMPTY_BLOB and _is_announced(git, path)
        found[path] = _ANNOUNCED if is_announced else f"{mode} {object_id}"
        if stage != "0":
            unmerged.add(path)
    if unmerged:
        raise UnmergedPatches(sorted(unmerged))
    return found


def _is_announced(git: ProjectGit, path: str) -> bool:
    """Whether the file was only announced, by `git add --intent-to-add`: the flags of ls-files(1) --debug."""
    flags = git.run("ls-files", "--debug", "--", path).text.rpartition("flags: ")[2].strip()
    return bool(int(flags or "0", 16) & _INTENT_TO_ADD)


def _is_entry(entry: str | None) -> bool:
    return entry not in (None, _ANNOUNCED)


def _line(git: ProjectGit, change: StagedChange) -> bytes:
    """A line for `git update-index --index-info`, whose paths count from the top; mode 0 removes."""
    gone = f"0 {'0' * len(_EMPTY_BLOB)}"
    entry = change.new if _is_entry(change.new) else gone
    return os.fsencode(f"{entry}\t{_from_top(git, change.path)}\0")


def _from_top(git: ProjectGit, path: str) -> str:
    return os.path.normpath(git.prefix + path)
