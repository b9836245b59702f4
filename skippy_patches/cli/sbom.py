"""`skippy-patches sbom`."""

from __future__ import annotations

from typing import Annotated

import typer

from skippy_patches.cli.completion import record_names
from skippy_patches.cli.options import DEFAULT_RECIPE, RecipeOption
from skippy_patches.cli.output import Output, OutputOption
from skippy_patches.cli.session import Session


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
    output: OutputOption = None,
) -> None:
    from skippy_patches.build.layout import Layout  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.cli import stages  # noqa: PLC0415
    from skippy_patches.cli.console import json_text  # noqa: PLC0415
    from skippy_patches.evidence import kept  # noqa: PLC0415
    from skippy_patches.evidence import sbom as documents  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    found = kept.find(project, name, session.folder) if name else None
    source = found.file if found else Layout.of(project.state, recipe).record
    where = Output.of(session.folder, output, kept=(source, kept.folder(project)))
    made = documents.make(found.record if found else stages.record_of_last_build(project, recipe))
    documents.check(made)
    where.write(json_text(made), session.terminal)
