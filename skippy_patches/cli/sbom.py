"""`skippy-patches sbom`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.completion import record_names
from skippy_patches.cli.options import DEFAULT_RECIPE, RecipeOption
from skippy_patches.cli.session import Session
from skippy_patches.errors import UsageError

if TYPE_CHECKING:
    from skippy_patches.evidence.record import Record


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="What was built and from what, as a bill of materials in CycloneDX 1.6. Needs the extra `sbom`.",
        epilog="Example: skippy-patches sbom --output llama.cdx.json  # of the last build of recipe cpu",
    )(sbom)


def sbom(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="[RECORD]",
            help="recipe:NAME, a record's name or how it begins, or a path. Default: the last build of "
            "--recipe, checked against its libraries.",
            autocompletion=record_names,
            show_default=False,
        ),
    ] = "",
    recipe: RecipeOption = DEFAULT_RECIPE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there, not to stdout.")
    ] = None,
) -> None:
    from skippy_patches.cli.console import json_text  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.evidence import sbom as documents  # noqa: PLC0415
    from skippy_patches.files import write_atomically  # noqa: PLC0415

    session = Session.of(context)
    file = session.folder / output if output else None
    if file and (file.is_dir() or not file.name):
        raise UsageError(f"{file} is a folder.", mend="Name a file in it: --output llama.cdx.json")
    made = documents.make(_record(session, name, recipe))
    documents.check(made)
    if file is None:
        session.terminal.json(made)
        return
    write_atomically(file, f"{json_text(made)}\n".encode())
    session.terminal.line(f"Written to {file}")


def _record(session: Session, name: str, recipe: str) -> Record:
    from skippy_patches.cli import stages  # noqa: PLC0415 - see sbom
    from skippy_patches.evidence import kept  # noqa: PLC0415

    project = session.project()
    if name:
        return kept.find(project, name, session.folder).record
    return stages.record_of_last_build(project, recipe)
