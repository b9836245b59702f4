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
        from skippy_patches.authoring import rewrite  # noqa: PLC0415 - each command imports its own stages

        project = config.load(config.find(self.folder))
        with self.terminal.reporter() as reporter:
            rewrite.finish_pending(project, reporter)
        return project
