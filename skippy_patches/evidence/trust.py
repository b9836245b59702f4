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
from skippy_patches.evidence import kept, record, shape
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
        place = folder(self.project)
        if file.parent.resolve() != place.resolve():
            return
        name = file.name
        if file.is_symlink() or place.is_symlink():
            yield unknown(
                PART, "git", name, "it is behind a link: git has where that leads, not what it says"
            )
        elif self._committed is None:
            yield unknown(PART, "git", name, "the project is in no git repository: nothing shows an edit")
        elif name not in self._committed:
            yield unknown(PART, "git", name, "it is not committed: nothing shows an edit")
        elif self._committed[name]:
            yield Checked(part=PART, name="git", outcome=SAME, recorded="as it was committed")
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
    def _committed(self) -> Mapping[str, bool] | None:
        """Name -> whether it is as in HEAD, of the files that HEAD has in records/; None: there is no git."""
        try:
            git = ProjectGit.open(self.project.root)
        except SkippyError:
            return None
        if git is None:
            return None
        # git-ls-tree(1), git-diff-index(1): names relative to the folder, each with a NUL behind it.
        listed = git.run("ls-tree", "-z", "--name-only", "HEAD", f"{RECORDS_FOLDER}/", check=False)
        differing = git.run(
            "diff", "-z", "--name-only", "--relative", "--no-renames", "--no-ext-diff", "HEAD", "--",
            RECORDS_FOLDER, check=False,
        )  # fmt: skip
        if listed.status or differing.status:  # nothing was ever committed
            return {}
        changed = _names(differing.stdout)
        return {name: name not in changed for name in _names(listed.stdout)}


def _names(listed: bytes) -> frozenset[str]:
    """Of what lies in records/ itself."""
    names = [os.fsdecode(name).removeprefix(f"{RECORDS_FOLDER}/") for name in listed.split(b"\0")]
    return frozenset(name for name in names if name and "/" not in name)


def is_last_build(project: Project, file: Path) -> bool:
    """Whether it is the record that a recipe's last build left in its folder."""
    builds = project.state / "build"
    return Layout(folder=file.parent).record == file and file.parent.parent.resolve() == builds.resolve()


def _itself(made: Record, file: Path) -> Checked:
    """Whether it agrees with itself, and with its file's name."""
    found = list(shape.contradictions(made.content))
    if file.parent.name == RECORDS_FOLDER and not kept.is_name(file.stem, made):
        found.append(f"its file should be called {made.slug}.json, or {made.slug}-LABEL.json")
    return Checked(
        part=PART,
        name="agrees with itself",
        outcome=DIFFERS if found else SAME,
        recorded=file.name,
        found="; ".join(found),
        why=_EDITED if found else "",
    )
