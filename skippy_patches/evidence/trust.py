"""Whether a record can be believed: what speaks against it before anything that it names is looked at.

A record is no signature. What is seen here is whether it contradicts itself, its file's name, the build
beside it, or what git has of it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import TYPE_CHECKING

from skippy_patches.build import result
from skippy_patches.build.layout import Layout
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import record, shape
from skippy_patches.evidence.checked import DIFFERS, SAME, Checked, unknown
from skippy_patches.evidence.kept import RECORDS_FOLDER, folder
from skippy_patches.project_git import ProjectGit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from skippy_patches.config import Project
    from skippy_patches.evidence.record import Record

PART = "record"
_EDITED = "Somebody edited it: what it says was not made by one build."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judge:
    """Looks at records of one project; git is asked once, and only when a saved record is looked at."""

    project: Project

    def check(self, made: Record, file: Path) -> tuple[Checked, ...]:
        """A row for all that can be held against the record in `file`; where one differs, it is false."""
        return (_itself(made, file), *self._build(made, file), *self._history(file))

    def _build(self, made: Record, file: Path) -> Iterator[Checked]:
        """The record of a last build against what the build itself left in its folder."""
        if not is_last_build(self.project, file):
            return
        try:
            differing = record.unlike(made, result.load(Layout(folder=file.parent)))
        except SkippyError as error:
            yield unknown(PART, "build beside it", file.name, error.what.rstrip("."))
            return
        yield Checked(
            part=PART,
            name="build beside it",
            outcome=DIFFERS if differing else SAME,
            recorded=file.name,
            found=f"other {', '.join(differing)}" if differing else "",
            why="Somebody edited it, or the build was interrupted." if differing else "",
        )

    def _history(self, file: Path) -> Iterator[Checked]:
        """A saved record against HEAD: git history is all that shows an edit."""
        if file.parent.resolve() != folder(self.project).resolve():
            return
        name = file.name
        if file.is_symlink():
            yield unknown(PART, "git", name, "it is a link: git has where it leads, not what it says")
            return
        if self._status is None:
            yield unknown(PART, "git", name, "the project is in no git repository: nothing shows an edit")
            return
        state = self._status.get(name, "")
        if not state:
            yield Checked(part=PART, name="git", outcome=SAME, recorded="as it was committed")
        elif state[0] in "?!A":
            yield unknown(PART, "git", name, "it is not committed: nothing shows an edit")
        else:
            yield Checked(
                part=PART,
                name="git",
                outcome=DIFFERS,
                recorded=name,
                found="changed since it was committed",
                why=f"See what: git diff HEAD -- {RECORDS_FOLDER}/{name}",
            )

    @functools.cached_property
    def _status(self) -> Mapping[str, str] | None:
        """Name -> the letters of git-status(1), of what in records/ is not as in HEAD; None: no git."""
        options = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored")
        try:
            git = ProjectGit.open(self.project.root)
            answer = git.run("status", *options, "--", RECORDS_FOLDER, check=False) if git else None
        except SkippyError:
            return None
        if answer is None or answer.status:
            return None
        lines = [os.fsdecode(line) for line in answer.stdout.split(b"\0") if line]
        return {line[3:].rpartition("/")[2]: line[:2] for line in lines}


def is_last_build(project: Project, file: Path) -> bool:
    """Whether it is the record that a recipe's last build left in its folder."""
    builds = project.state / "build"
    return Layout(folder=file.parent).record == file and file.parent.parent.resolve() == builds.resolve()


def _itself(made: Record, file: Path) -> Checked:
    """Whether it agrees with itself, and with its file's name."""
    found = list(shape.contradictions(made.content))
    if file.parent.name == RECORDS_FOLDER and not record.is_name(file.stem, made):
        found.append(f"its file should be called {made.slug}.json, or {made.slug}-LABEL.json")
    return Checked(
        part=PART,
        name="agrees with itself",
        outcome=DIFFERS if found else SAME,
        recorded=file.name,
        found="; ".join(found),
        why=_EDITED if found else "",
    )
