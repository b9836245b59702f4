"""`skippy-patches record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.options import DEFAULT_RECIPE, Format, FormatOption, RecipeOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from skippy_patches.cli.console import Terminal
    from skippy_patches.evidence.record import Record

RECORDS_FOLDER = "records"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Show what was built from what, checked against the libraries as they are now.",
        epilog="Example: skippy-patches record --save, then commit the file in records/.",
    )(record)


def record(
    context: typer.Context,
    recipe: RecipeOption = DEFAULT_RECIPE,
    save: Annotated[bool, typer.Option("--save", help="Copy it to records/, to be committed.")] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.cli import stages  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.evidence import record as records  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    made = stages.record_again(session, project, recipe)
    saved = records.save(made, project.root / RECORDS_FOLDER) if save else None
    if format_ is Format.JSON:
        session.terminal.json(made.as_json())
        return
    _print(session.terminal, made)
    if saved:
        session.terminal.line(f"Saved as {saved}")


def _print(terminal: Terminal, made: Record) -> None:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    content = made.content
    table = new_table("", "")
    table.show_header = False
    table.add_row("recipe", content["recipe"])
    table.add_row("upstream", f"{content['upstream']['tag']} {content['upstream']['commit']}")
    table.add_row("patched", content["patched"]["commit"])
    for patch in content["patches"]:
        table.add_row(f"  {patch['number']:04d}", f"{patch['sha256']}  {patch['file']}")
    for name, tool in content["toolchain"].items():
        table.add_row(name, f"{tool['name']} {tool['version']}" if tool else "none")
    tests = content["tests"]
    counts = (
        ", ".join(f"{tests[word]} {word}" for word in ("run", "passed", "failed", "skipped")) if tests else ""
    )
    table.add_row("tests", counts or "none recorded: skippy-patches test")
    for artifact in content["artifacts"]:
        table.add_row(artifact["name"], artifact["sha256"])
    terminal.out.print(table)
