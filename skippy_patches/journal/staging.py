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
    if old is None or new is None:
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
    if all(found.get(each.path) == each.new for each in changes):
        return True
    if any(found.get(each.path) != each.old for each in changes):
        return False
    lines = [_line(git, each) for each in sorted(changes, key=lambda each: each.new is not None)]
    git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
    return True


def _entries(git: ProjectGit, paths: Iterable[str]) -> dict[str, str]:
    """Path -> `mode id`, of those that are in the index."""
    found = {}
    unmerged = set()
    within = sorted(path for path in paths if not _from_top(git, path).startswith(".."))
    for record in git.run("ls-files", "--stage", "-z", "--", *within).paths if within else ():
        facts, _, path = record.partition("\t")
        mode, object_id, stage = facts.split(" ")
        found[path] = f"{mode} {object_id}"
        if stage != "0":
            unmerged.add(path)
    if unmerged:
        raise UnmergedPatches(sorted(unmerged))
    return found


def _line(git: ProjectGit, change: StagedChange) -> bytes:
    """A line for `git update-index --index-info`, whose paths count from the top; mode 0 removes."""
    gone = "0 " + "0" * len((change.old or "").partition(" ")[2])
    return os.fsencode(f"{change.new or gone}\t{_from_top(git, change.path)}\0")


def _from_top(git: ProjectGit, path: str) -> str:
    return os.path.normpath(git.prefix + path)
