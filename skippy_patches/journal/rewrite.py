"""One change of the queue's files that happens wholly or not at all, and can be taken back.

Everything that changes is first written down, old and new bytes both, in a temporary folder that is
fsynced and renamed to `.skippy/rewrite/pending`: from then on the change is made, and whoever finds the
folder carries it to its end. Afterwards the folder is kept under the kind's name, for `undo`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.files import make_generated_folder, remove_unfinished, sync_folder, write_atomically
from skippy_patches.journal import staging
from skippy_patches.journal.errors import (
    ChangedMeanwhile,
    ChangedSince,
    NothingToUndo,
    WouldOverwrite,
)
from skippy_patches.journal.plan import FileChange, Plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter

_FOLDER = "rewrite"
_PENDING = "pending"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rewrite:
    """What shall change. Paths are relative to the project, with `/`.

    kind: the command's name, under which it can be undone. files: path -> bytes before and after; None
    where there is no file. renames: old path -> new path; chains and swaps are fine. A rename moves the
    index entry, too, as git mv does, and leaves edits that are not staged as they are; `files` beside it are
    staged with it where their old bytes are.
    """

    kind: str
    files: Mapping[str, tuple[bytes | None, bytes | None]] = dataclasses.field(default_factory=dict)
    renames: Mapping[str, str] = dataclasses.field(default_factory=dict)


def carry_out(project: Project, rewrite: Rewrite, reporter: Reporter) -> None:
    """Make the change. Raises ChangedMeanwhile, WouldOverwrite or IndexBusy, before anything is changed."""
    with _alone(project, reporter) as folder:
        _finish(project, folder, reporter)
        plan = Plan(
            kind=rewrite.kind,
            undoes="",
            files=_changes(project, rewrite),
            staged=staging.moved(project, rewrite.renames, rewrite.files),
        )
        _begin(project, folder, plan)
        _finish(project, folder, reporter)


def finish_pending(project: Project, reporter: Reporter) -> bool:
    """Carry a change to its end that a killed command began; whether there was one.

    Raises ChangedSince, IndexBusy.
    """
    if not (project.state / _FOLDER / _PENDING).exists():
        return False
    reporter.step("Finishing a change of the queue that was interrupted")
    with _alone(project, reporter) as folder:
        _finish(project, folder, reporter)
    return True


def undo(project: Project, kind: str, reporter: Reporter) -> Plan:
    """Take back the last change of this kind, and return what it had been.

    Raises NothingToUndo, and ChangedMeanwhile when one of its files was changed since.
    """
    with _alone(project, reporter) as folder:
        _finish(project, folder, reporter)
        done = Plan.read(folder / kind)
        if done is None:
            raise NothingToUndo(kind)
        changed = [each.path for each in done.files if _content(project.root / each.path) != each.new]
        if changed:
            raise ChangedMeanwhile(changed)
        _begin(project, folder, done.reversed())
        _finish(project, folder, reporter)
        return done


@contextlib.contextmanager
def _alone(project: Project, reporter: Reporter) -> Iterator[Path]:
    """The folder of journals, with the right to change the queue."""
    make_generated_folder(project.state)
    with lock.hold(project.state / f".{_FOLDER}.lock", reporter):
        folder = project.state / _FOLDER
        folder.mkdir(exist_ok=True)
        for unfinished in folder.glob("new-*"):
            shutil.rmtree(unfinished)
        yield folder


def _changes(project: Project, rewrite: Rewrite) -> tuple[FileChange, ...]:
    """Every file that changes, held against what lies there."""
    moved = {path: _content(project.root / path) for path in rewrite.renames}
    wanted = dict(rewrite.files)
    for path, content in moved.items():
        if content is None:
            raise ChangedMeanwhile([path])
        wanted.setdefault(path, (content, None))
    modes = {path: _mode(project.root / path) for path in wanted}
    for path, target in rewrite.renames.items():
        before, _ = wanted.get(target, (None, None))
        wanted[target] = (before, moved[path])
        modes[target] = _mode(project.root / path)
    found = {path: _content(project.root / path) for path in wanted}
    changed = [path for path, (before, _) in wanted.items() if before is not None and found[path] != before]
    if changed:
        raise ChangedMeanwhile(changed)
    in_the_way = [path for path, (before, _) in wanted.items() if before is None and found[path] is not None]
    if in_the_way:
        raise WouldOverwrite(in_the_way)
    return tuple(
        FileChange(path=path, old=old, new=new, mode=modes.get(path), old_mode=_mode(project.root / path))
        for path, (old, new) in sorted(wanted.items())
        if old != new
    )


def _begin(project: Project, folder: Path, plan: Plan) -> None:
    """Write the journal: the rename is the moment at which the change is made."""
    staging.refuse_locked(project, plan.staged)
    written = Path(tempfile.mkdtemp(prefix="new-", dir=folder))
    plan.write(written)
    written.rename(folder / _PENDING)
    sync_folder(folder)


def _finish(project: Project, folder: Path, reporter: Reporter) -> None:
    pending = folder / _PENDING
    plan = Plan.read(pending)
    if plan is None:
        if pending.exists():  # garbled by the disk: what it was about to do is not known any more
            pending.rename(Path(tempfile.mkdtemp(prefix="broken-", dir=folder)) / _PENDING)
        return
    _settle(project, plan.files, pending)
    if not staging.settle(project, plan.staged):
        reporter.step(
            "The index was changed meanwhile: it is left alone. Stage the patches yourself: git add -A"
        )
    for obsolete in filter(None, (plan.kind, plan.undoes)):
        shutil.rmtree(folder / obsolete, ignore_errors=True)
    if plan.kind:
        pending.rename(folder / plan.kind)
    else:
        pending.rename(folder / "new-undone")
        shutil.rmtree(folder / "new-undone")
    sync_folder(folder)


def _settle(project: Project, files: Collection[FileChange], pending: Path) -> None:
    """Bring every file from its old content to the new one, or see that it is there already."""
    found = {each: _content(project.root / each.path) for each in files}
    changed = [each.path for each, content in found.items() if content not in (each.old, each.new)]
    if changed:
        raise ChangedSince(changed, pending)
    places = [project.root / each.path for each in files]
    for lane in {place.parent for place in places}:
        remove_unfinished(lane, {place.name for place in places})
    for each, content in found.items():
        if each.new is not None and content != each.new:
            write_atomically(project.root / each.path, each.new, mode=each.mode)
    for each in found:
        if each.new is None:
            (project.root / each.path).unlink(missing_ok=True)
    for lane in {place.parent for place in places}:
        sync_folder(lane)


def _content(file: Path) -> bytes | None:
    """The bytes of a regular file; None when nothing is there."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _mode(file: Path) -> int | None:
    return file.stat().st_mode & 0o777 if file.exists() else None
