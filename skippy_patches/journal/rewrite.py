"""One change of the queue's files that happens wholly or not at all, and can be taken back.

Everything that changes, old and new bytes both, is first written down in a temporary folder; then the new
bytes are written beside the files, under names of their own: what the system refuses, it refuses here. The
folder is renamed to `.skippy/rewrite/pending`: from then on the change is made, and whoever finds it carries
it to its end. Afterwards it is kept under the kind's name, for `undo`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.errors import SystemRefused
from skippy_patches.files import make_generated_folder, sync_folder
from skippy_patches.journal import settling, staging
from skippy_patches.journal.errors import (
    CannotBeFinished,
    ChangedMeanwhile,
    JournalBroken,
    NothingToUndo,
    OtherBranch,
    UndoRefused,
    WouldOverwrite,
)
from skippy_patches.journal.plan import FileChange, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter

_FOLDER = "rewrite"
_PENDING = "pending"
_UNFINISHED = "new-"  # what a journal's folder is called before it stands


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Done:
    """A change that was carried out. has_index: the index followed, or nothing of it had to."""

    plan: Plan
    has_index: bool


def carry_out(project: Project, rewrite: Rewrite, reporter: Reporter) -> Done:
    """Make the change. Raises ChangedMeanwhile, WouldOverwrite or IndexBusy, before anything is changed."""
    with _alone(project, reporter) as folder:
        _finish(project, folder)
        plan = Plan(
            kind=rewrite.kind,
            undoes="",
            branch=staging.branch(project),
            files=_changes(project, rewrite),
            staged=staging.moved(project, rewrite.renames, rewrite.files),
        )
        return _make(project, folder, plan)


def finish_pending(project: Project, reporter: Reporter) -> bool:
    """Carry a change to its end that a killed command began; whether there was one.

    Raises ChangedSince, OtherBranch, IndexBusy, CannotBeFinished, JournalBroken.
    """
    folder = project.state / _FOLDER
    begun = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    if not any(name == _PENDING or name.startswith(_UNFINISHED) for name in begun):
        return False
    with _alone(project, reporter):
        if not (folder / _PENDING).exists():
            return False
        reporter.step("Finishing a change of the queue that was interrupted")
        done = _finish(project, folder)
    if done is not None and not done.has_index:
        reporter.step("The index was changed meanwhile and is left alone: stage the patches with git add")
    return True


def undo(project: Project, kind: str, reporter: Reporter) -> Done:
    """Take back the last change of this kind; `plan` is that change as it was made.

    Raises NothingToUndo, and UndoRefused when one of its files was changed since.
    """
    with _alone(project, reporter) as folder:
        _finish(project, folder)
        made = Plan.read(folder / kind)
        if made is None:
            raise NothingToUndo(kind)
        changed = [each.path for each in made.files if settling.content(project.root / each.path) != each.new]
        if changed:
            raise UndoRefused(kind, changed, made.branch, staging.branch(project))
        back = dataclasses.replace(made.reversed(), branch=staging.branch(project))
        return Done(plan=made, has_index=_make(project, folder, back).has_index)


@contextlib.contextmanager
def _alone(project: Project, reporter: Reporter) -> Iterator[Path]:
    """The folder of journals, with the right to change the queue."""
    make_generated_folder(project.state)
    with lock.hold(project.state / f".{_FOLDER}.lock", reporter):
        folder = project.state / _FOLDER
        folder.mkdir(exist_ok=True)
        for unfinished in folder.glob(f"{_UNFINISHED}*"):
            given_up = Plan.read(unfinished)
            if given_up is not None:
                settling.remove_stand_ins(project.root, given_up.files)
            shutil.rmtree(unfinished)
        yield folder


def _changes(project: Project, rewrite: Rewrite) -> tuple[FileChange, ...]:
    """Every file that changes, held against what lies there."""
    moved = {path: settling.content(project.root / path) for path in rewrite.renames}
    wanted = dict(rewrite.files)
    for path, content in moved.items():
        if content is None:
            raise ChangedMeanwhile([path])
        wanted.setdefault(path, (content, None))
    modes = {path: settling.mode(project.root / path) for path in wanted}
    for path, target in rewrite.renames.items():
        before, _ = wanted.get(target, (None, None))
        wanted[target] = (before, moved[path])
        modes[target] = settling.mode(project.root / path)
    found = {path: settling.content(project.root / path) for path in wanted}
    changed = [path for path, (before, _) in wanted.items() if before is not None and found[path] != before]
    if changed:
        raise ChangedMeanwhile(changed)
    in_the_way = [path for path, (before, _) in wanted.items() if before is None and found[path] is not None]
    if in_the_way:
        raise WouldOverwrite(in_the_way)
    return tuple(
        FileChange(
            path=path, old=old, new=new, mode=modes.get(path), old_mode=settling.mode(project.root / path)
        )
        for path, (old, new) in sorted(wanted.items())
        if old != new
    )


def _make(project: Project, folder: Path, plan: Plan) -> Done:
    """Write the journal: its rename is the moment at which the change is made. Then carry it out."""
    staging.refuse_locked(project, plan.staged)
    written = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
    plan.write(written)
    with settling.prepared(project.root, plan.files):
        written.rename(folder / _PENDING)
    sync_folder(folder)
    done = _finish(project, folder)
    assert done is not None  # noqa: S101 - it was just written
    return done


def _finish(project: Project, folder: Path) -> Done | None:
    """Carry out what is pending, if anything is."""
    pending = folder / _PENDING
    plan = Plan.read(pending)
    if plan is None:
        if pending.exists():
            aside = Path(tempfile.mkdtemp(prefix="broken-", dir=folder))
            pending.rename(aside / _PENDING)
            raise JournalBroken(aside)
        return None
    branch = staging.branch(project)
    if branch != plan.branch:
        raise OtherBranch(plan.branch, branch, pending)
    try:
        settling.settle(project.root, plan.files, pending)
    except OSError as error:
        raise CannotBeFinished(SystemRefused(error).what, pending) from error
    has_index = staging.settle(project, plan.staged)
    _keep(folder, plan)
    return Done(plan=plan, has_index=has_index)


def _keep(folder: Path, plan: Plan) -> None:
    """Keep the journal for undo, as the last one of its kind; that of an undo goes, with what it undid."""
    pending = folder / _PENDING
    for obsolete in filter(None, (plan.kind, plan.undoes)):
        shutil.rmtree(folder / obsolete, ignore_errors=True)
    kept = folder / (plan.kind or f"{_UNFINISHED}undone")
    pending.rename(kept)
    if not plan.kind:
        shutil.rmtree(kept)
    sync_folder(folder)
