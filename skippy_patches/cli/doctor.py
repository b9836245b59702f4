"""`skippy-patches doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from skippy_patches.cli.options import (
    DEFAULT_RECIPE,
    SCHEMA_VERSION,
    CudaArchOption,
    Format,
    FormatOption,
    JobsOption,
    LauncherOption,
    RecipeCommand,
    RecipeOption,
)
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from skippy_patches.build.doctor.report import Report
    from skippy_patches.cli.console import Terminal

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        cls=RecipeCommand,
        help="Look for all that a recipe needs of this machine. It ends as a build would: 6, not ready.",
        epilog="Example: skippy-patches doctor --recipe cpu  # what is missing, why, and its cure",
    )(doctor)


def doctor(
    context: typer.Context,
    recipe: RecipeOption = DEFAULT_RECIPE,
    cuda_arch: CudaArchOption = "",
    jobs: JobsOption = None,
    launcher: LauncherOption = "auto",
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build.doctor.case import Asked  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.build.doctor.examination import LONG_PATIENCE  # noqa: PLC0415
    from skippy_patches.cli import stages  # noqa: PLC0415

    session = Session.of(context)
    asked = Asked(launcher=launcher, jobs=jobs, architectures=cuda_arch)
    report = stages.examine(session.project(), recipe, asked, patience=LONG_PATIENCE)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, **report.as_json()})
    else:
        _print(session.terminal, report)
    if not report.can_build:
        raise typer.Exit(report.exit_status)


def _print(terminal: Terminal, report: Report) -> None:
    for finding in report.findings:
        terminal.line(f"{finding.severity}: {finding.what} [{finding.code}]", style=_STYLES[finding.severity])
        for line in finding.details:
            terminal.line(f"    {line}")
    rows = [(role, f"{tool.name} {tool.version}, {tool.path}") for role, tool in report.tools]
    terminal.facts([*rows, *([("shared", f"objects, through {report.remote}")] if report.remote else [])])
    if report.not_needed:
        terminal.line(f"Not looked for, because the recipe needs none: {', '.join(report.not_needed)}")
    verdict = "can be built" if report.can_build else "cannot be built"
    terminal.line(f"Recipe '{report.recipe}' {verdict} on this machine.", style="bold")
