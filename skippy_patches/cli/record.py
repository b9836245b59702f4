"""`skippy-patches record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.options import DEFAULT_RECIPE, Format, FormatOption, RecipeOption
from skippy_patches.cli.session import Session
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.evidence.record import Record

RECORDS_FOLDER = "records"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Show what was built from what, checked against the libraries as they are now.",
        epilog="Example: skippy-patches record --save  # writes a file in records/, to be committed",
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
    content = made.content
    tests, required = content["tests"], content.get("required_tests")
    terminal.facts(
        [
            ("recipe", _recipe(made)),
            ("upstream", f"{content['upstream']['tag']} {content['upstream']['commit']}".strip()),
            ("patched", content["patched"]["commit"]),
            *((role, _described(tool)) for role, tool in content["toolchain"].items()),
            ("tests", _counts(tests) if tests else "none recorded: skippy-patches test"),
            *([("required tests", _counts(required))] if required else []),
        ]
    )
    _sums(terminal, "patches", [(patch["sha256"], patch["file"]) for patch in content["patches"]])
    _sums(terminal, "libraries", [(library["sha256"], library["name"]) for library in content["artifacts"]])


def _recipe(made: Record) -> str:
    """Its name, and the files when it extends others."""
    files = [file["name"] for file in made.content.get("recipe_files", ())]
    return f"{made.recipe} ({', '.join(files)})" if len(files) > 1 else made.recipe


def _described(tool: dict[str, str] | None) -> str:
    return f"{tool['name']} {tool['version']}" if tool else "none"


def _counts(tests: dict[str, Any]) -> str:
    return ", ".join(f"{tests[word]} {word}" for word in ("run", "passed", "failed", "skipped"))


def _sums(terminal: Terminal, heading: str, files: Sequence[tuple[str, str]]) -> None:
    """As sha256sum(1) prints and reads it."""
    if files:
        terminal.line(heading, style="bold")
    for sha256, name in files:
        terminal.line(f"{sha256}  {printable(name)}")
