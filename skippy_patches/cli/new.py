"""`skippy-patches new`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Begin a patch: an empty commit of yours on top of the queue, to be filled.",
        epilog='Example: skippy-patches new "kv: count pages" --band mtp  # with the next number of a band',
    )(new)


def new(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="What the patch does, in a line.")],
    number: Annotated[
        int | None,
        typer.Option(
            "--number", metavar="N", min=1, max=9999, show_default=False, help="The number it gets."
        ),
    ] = None,
    band: Annotated[
        str,
        typer.Option(
            "--band",
            metavar="NAME",
            show_default=False,
            help="It gets the next number of this band (bands:).",
        ),
    ] = "",
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.authoring import new as stage  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.upstream import pin  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    request = stage.Request(subject=subject, number=number or 0, band=band)
    with session.terminal.reporter() as reporter:
        begun = stage.begin(project, pin.read(project.upstream), request, reporter=reporter)
    if format_ is Format.JSON:
        answer = {"file": begun.file, "commit": begun.commit, "checkout": str(begun.checkout)}
        session.terminal.json({"schema_version": SCHEMA_VERSION, **answer})
        return
    git = f"git -C {shlex.quote(str(begun.checkout))}"
    session.terminal.line(f"Began {begun.file}: commit {begun.commit.short}, which is empty still.")
    session.terminal.line(f"Fill it:   the files in {begun.checkout}, then {git} commit --all --amend")
    session.terminal.line("           (git add new files first)")
    session.terminal.line("Then:      skippy-patches refresh")
