"""`skippy-patches test`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

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
    from skippy_patches.build.report import TestReport
    from skippy_patches.cli.console import Terminal

_STYLES = {"passed": "green", "skipped": "yellow"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        cls=RecipeCommand,
        help="Apply and build if needed, run ctest one test after the other, and record the result.",
        epilog="Example: skippy-patches test -R kv-page  # the tests whose name matches",
    )(test)


def test(
    context: typer.Context,
    recipe: RecipeOption = DEFAULT_RECIPE,
    pattern: Annotated[
        str | None,
        typer.Option("-R", "--tests-regex", metavar="REGEX", help="Only tests whose name matches."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Every prefix of the queue, up to the first that breaks.")
    ] = False,
    cuda_arch: CudaArchOption = "",
    jobs: JobsOption = None,
    launcher: LauncherOption = "auto",
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build import ctest  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.build.doctor.case import Asked  # noqa: PLC0415
    from skippy_patches.build.layout import Layout  # noqa: PLC0415
    from skippy_patches.cli import each as prefixes  # noqa: PLC0415
    from skippy_patches.cli import stages  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    asked = Asked(launcher=launcher, jobs=jobs, architectures=cuda_arch)
    if each:
        prefixes.run(session, project, recipe, asked, pattern=pattern, format_=format_)
        return
    report = stages.test(session, project, recipe, asked, pattern=pattern)
    if format_ is Format.JSON:
        session.terminal.json(_as_json(report))
    else:
        _print(session.terminal, report)
    ctest.check(report, Layout.of(project.state, recipe))


def _as_json(report: TestReport) -> dict[str, Any]:
    rows = [
        {"name": r.name, "status": r.status, "seconds": r.seconds, "reason": r.reason} for r in report.rows
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "recipe": report.recipe,
        "commit": report.commit,
        "run": report.run,
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "required": dataclasses.asdict(report.required_counts),
        "tests": rows,
        "excluded": [{"name": each.name, "reason": each.reason} for each in report.excluded],
    }


def _print(terminal: Terminal, report: TestReport) -> None:
    from rich.text import Text  # noqa: PLC0415

    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("test", "result", "seconds", "")
    for row in report.rows:
        status = Text(row.status, style=_STYLES.get(row.status, "bold red"))
        table.add_row(row.name, status, f"{row.seconds:.2f}", row.reason)
    terminal.table(table)
    terminal.line(
        f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped, "
        f"{len(report.excluded)} left out by the recipe",
        style="bold",
    )
    if report.required:
        counts = report.required_counts
        terminal.line(
            f"Of the tests that the recipe requires: {counts.passed} passed, {counts.failed} failed, "
            f"{counts.skipped} skipped"
        )
