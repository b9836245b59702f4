"""The two sides of a merge, and reading their queues as each configures its own."""

from __future__ import annotations

import dataclasses
import posixpath
from typing import TYPE_CHECKING

from skippy_patches.queue.commit_errors import NotConfigured
from skippy_patches.queue.commits import Committed
from skippy_patches.queue.snapshot import ordered
from skippy_patches.review import attributes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skippy_patches.config import Project
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.project_git import ProjectGit
    from skippy_patches.queue.patch import Patch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tip:
    """One side of a merge. name: as it was given, or `folder` or `index`. label: the same for sentences.

    commit: what is merged. known: the commit that people know; for the folder and the index that is HEAD.
    """

    name: str
    label: str
    commit: ObjectId
    known: ObjectId | None

    def as_json(self) -> dict[str, object]:
        """As `check` prints it."""
        return {"name": self.name, "commit": self.known}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads queues from commits that the scratch repository can see. file: the project's configuration.

    seen: see Committed.
    """

    git: ProjectGit
    scratch: Repository
    file: Path
    seen: dict[str, bytes] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    def at(self, revision: str, name: str) -> Committed:
        """The project in a commit or tree."""
        return Committed(
            git=self.scratch,
            revision=revision,
            name=name,
            file=self.file,
            prefix=self.git.prefix,
            seen=self.seen,
        )

    def projects(self, ours: Tip, theirs: Tip) -> tuple[Project, Project]:
        """The project as each side configures it.

        A side without configuration, from before skippy-patches was adopted there, is read by the other's.
        Raises NotConfigured when neither has one.
        """
        found: list[Project] = []
        for one, other in ((ours, theirs), (theirs, ours)):
            try:
                found.append(self.at(one.commit, one.label).project())
            except NotConfigured:
                found.append(self.at(other.commit, other.label).project())
        return found[0], found[1]

    def set_attributes(self, ours: Tip, projects: Iterable[Project]) -> None:
        """Merge as on our side: by its .gitattributes on the way to the files of these projects."""
        commit = self.at(ours.commit, ours.label)
        wanted = {path for project in projects for path in attributes.files(commit, project)}
        information = self.scratch.git_dir / "info"
        information.mkdir(exist_ok=True)
        (information / "attributes").write_bytes(attributes.joined(commit.text_files(wanted)))

    def patches(self, revision: str, name: str, project: Project) -> tuple[Patch, ...]:
        """The patches of a commit in their order, in the lanes of `project`."""
        return ordered(self.at(revision, name).queue(project))

    def patches_at(self, revision: str, name: str, otherwise: Project) -> tuple[Patch, ...]:
        """The same in the lanes that the commit configures, or `otherwise` where it configures none."""
        try:
            project = self.at(revision, name).project()
        except NotConfigured:
            project = otherwise
        return self.patches(revision, name, project)

    def relative(self, paths: Iterable[str]) -> frozenset[str]:
        """Paths from the top of the repository as the project's folder sees them."""
        return frozenset(posixpath.relpath(path, self.git.prefix or ".") for path in paths)
