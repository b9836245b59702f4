"""`skippy-patches list` and `skippy-patches next-number`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from skippy_patches.queue.metadata import Field
    from skippy_patches.queue.patch import Patch


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "list",
        help="Show the queue in apply order.",
        epilog="Example: skippy-patches list --verbose  # with what each patch says about its origin",
    )(list_)
    app.command(
        "next-number",
        help="Print the first free number: one more than the highest here and on every branch.",
        epilog="Example: mv my.patch patches/$(skippy-patches next-number)-my.patch  # puts it last",
    )(next_number)


def list_(
    context: typer.Context,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show trailers and DEP-3 fields of each patch, too.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.apply.look import look  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.queue import metadata, reader  # noqa: PLC0415
    from skippy_patches.queue.message import subject_of  # noqa: PLC0415
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    patches = ordered(reader.read_folder(project))
    commits = [row.commit for row in look(project, patches).rows]
    known: list[str | None] = [*commits, *[None] * (len(patches) - len(commits))]
    subjects = [subject_of(patch, project.subject_prefix) for patch in patches]
    fields = metadata.read(patches) if verbose else [None] * len(patches)
    rows = list(zip(patches, subjects, known, fields, strict=True))
    if format_ is Format.JSON:
        answer = {"schema_version": SCHEMA_VERSION, "patches": [_row(*row) for row in rows]}
        session.terminal.json(answer)
    else:
        session.terminal.table(_table(rows))


def next_number(
    context: typer.Context,
    band: Annotated[
        str,
        typer.Option("--band", metavar="NAME", help="The next number of this band of skippy-patches.yaml."),
    ] = "",
    local: Annotated[
        bool, typer.Option("--local", help="Count this folder alone, not the branches.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.queue import claims, reader  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    claimed = () if local else claims.claims(project)
    free = claims.next_free(project, reader.read_folder(project), claimed, band)
    if format_ is Format.JSON:
        claimed_by = [claim.as_json() for claim in free.claimed_by]
        answer = {"schema_version": SCHEMA_VERSION, "next_number": free.number, "claimed_by": claimed_by}
        session.terminal.json(answer)
        return
    with session.terminal.reporter() as reporter:
        for claim in free.claimed_by:
            reporter.step(f"{claim.number:04d} is claimed: {claim.file} on {claims.shown(claim.refs)}")
    session.terminal.line(f"{free.number:04d}")


def _row(patch: Patch, subject: str, commit: str | None, fields: Sequence[Field] | None) -> dict[str, object]:
    """One object of `list --format json`. commit: of the prefix that ends here, null before it is applied."""
    row = {
        "number": patch.number,
        "lane": patch.lane,
        "file": patch.name,
        "sha256": patch.sha256,
        "subject": subject,
        "commit": commit,
    }
    if fields is None:
        return row
    return {**row, "metadata": [{"name": field.name, "value": field.value} for field in fields]}


def _table(rows: Sequence[tuple[Patch, str, str | None, Sequence[Field] | None]]) -> Table:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("number", "file", "subject", "commit")
    for patch, subject, commit, fields in rows:
        table.add_row(f"{patch.number:04d}", patch.path, subject, commit[:12] if commit else "-")
        for field in fields or ():
            table.add_row("", "", f"  {field.name}: {field.value}", "")
    return table
