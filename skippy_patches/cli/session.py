"""What every command begins with: the terminal, the project, and the queue where it is wanted."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import typer

from skippy_patches import config

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.queue.snapshot import Snapshot


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session:
    """The global options, as values."""

    folder: Path
    terminal: Terminal

    @classmethod
    def of(cls, context: typer.Context) -> Session:
        """The session that the callback of the application made."""
        return cast("Session", context.obj)

    def project(self) -> Project:
        """The configuration of the project around the session's folder. Raises ConfigError, UsageError.

        A change of the queue that a killed command began is finished first: nobody shall read half of it.
        """
        project = config.load(config.find(self.folder))
        self._finish_pending(project)
        return project

    def queue(self, *, is_staged: bool) -> tuple[Project, Snapshot]:
        """The project and its queue, from the folders or both from the index; else as `project`."""
        from skippy_patches.queue import reader  # noqa: PLC0415 - each command imports its own stages

        project, snapshot = reader.read(self.folder, is_staged=is_staged)
        if self._finish_pending(project):
            return reader.read(self.folder, is_staged=is_staged)
        return project, snapshot

    def _finish_pending(self, project: Project) -> bool:
        from skippy_patches.journal import rewrite  # noqa: PLC0415 - see queue

        with self.terminal.reporter() as reporter:
            return rewrite.finish_pending(project, reporter)
