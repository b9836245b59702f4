"""`skippy-patches refresh`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.completion import patch_numbers
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from rich.table import Table

    from skippy_patches.authoring.refresh.changes import Plan
    from skippy_patches.authoring.refresh.stage import Outcome
    from skippy_patches.cli.console import Terminal

_HELP = "Turn the commits in the checkout back into patch files. An unchanged patch keeps its bytes."
_EPILOG = "Example: skippy-patches refresh --dry-run  # shows what would be written, and writes nothing"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(help=_HELP, epilog=_EPILOG)(refresh)


def refresh(
    context: typer.Context,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="N",
            autocompletion=patch_numbers,
            help="Delete the file of patch N, whose commit is gone; repeatable. Its name will do, too.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan alone; exit status 1 when a file would change.")
    ] = False,
    normalise: Annotated[
        bool,
        typer.Option("--normalise", help="Write every patch anew in the one form, the commits unchanged."),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.authoring.refresh import stage  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.authoring.refresh.errors import NormaliseAlone, UnnamedDrops  # noqa: PLC0415
    from skippy_patches.upstream import pin  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    request = stage.Request(drop=tuple(drop or ()), normalise=normalise, dry_run=dry_run)
    try:
        with session.terminal.reporter() as reporter:
            outcome = stage.refresh(project, pin.read(project.upstream), request, reporter=reporter)
    except (UnnamedDrops, NormaliseAlone) as error:
        _show_plan(session.terminal, error.plan, format_)
        raise
    if format_ is Format.JSON:
        session.terminal.json(_as_json(outcome.plan, is_written=outcome.is_written, saved=outcome.saved))
    else:
        _print(session.terminal, outcome, dry_run=dry_run)
    if dry_run and outcome.plan.has_changes:
        raise typer.Exit(1)


def _show_plan(terminal: Terminal, plan: Plan, format_: Format) -> None:
    if format_ is Format.JSON:
        terminal.json(_as_json(plan, is_written=False, saved=None))
    else:
        terminal.table(_table(plan))


def _as_json(plan: Plan, *, is_written: bool, saved: str | None) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "changed": plan.has_changes,
        "written": is_written,
        "patches": [change.as_json() for change in plan.changes],
        "saved": saved,
    }


def _print(terminal: Terminal, outcome: Outcome, *, dry_run: bool) -> None:
    plan = outcome.plan
    if plan.has_changes:
        terminal.table(_table(plan))
    if not plan.has_changes:
        terminal.line(
            f"Up to date: the patch files are what the commits give ({plan.summary() or 'no patch'})"
        )
    elif dry_run:
        terminal.line(f"Would write: {plan.summary()}")
    else:
        terminal.line(
            f"Wrote: {plan.summary()}. The checkout is at {outcome.commit.short}, as apply makes it."
        )
    if outcome.saved:
        terminal.line(f"Your own commits are kept as {outcome.saved}")
        terminal.line(f"  look at them:  git -C {shlex.quote(str(outcome.checkout))} log {outcome.saved}")


def _table(plan: Plan) -> Table:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("", "number", "file", "was", "subject")
    for change in plan.changes:
        was = "" if change.before in (None, change.path) else change.before
        table.add_row(change.action, f"{change.number:04d}", change.path, was, change.subject)
    return table
