"""`skippy-patches list` and `skippy-patches next-number`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from skippy_patches.queue.patch import Patch


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "list",
        help="Show the queue in apply order.",
        epilog="Example: skippy-patches list --format json | jq -r '.patches[].file'",
    )(list_)
    app.command(
        "next-number",
        help="Print the first free number: one more than the highest.",
        epilog="Example: mv my.patch patches/$(skippy-patches next-number)-my.patch",
    )(next_number)


def list_(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.apply.look import look  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.queue import reader  # noqa: PLC0415
    from skippy_patches.queue.message import subject_of  # noqa: PLC0415
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    patches = ordered(reader.read_folder(project))
    commits = [row.commit for row in look(project, patches).rows]
    known: list[str | None] = [*commits, *[None] * (len(patches) - len(commits))]
    subjects = [subject_of(patch, project.subject_prefix) for patch in patches]
    if format_ is Format.JSON:
        rows = [_row(*each) for each in zip(patches, subjects, known, strict=True)]
        session.terminal.json({"schema_version": SCHEMA_VERSION, "patches": rows})
    else:
        session.terminal.table(_table(patches, subjects, known))


def next_number(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.queue import reader, snapshot  # noqa: PLC0415

    session = Session.of(context)
    number = snapshot.free_number(reader.read_folder(session.project()))
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, "next_number": number})
    else:
        session.terminal.line(f"{number:04d}")


def _row(patch: Patch, subject: str, commit: str | None) -> dict[str, object]:
    """One object of `list --format json`. commit: of the prefix that ends here, null before it is applied."""
    return {
        "number": patch.number,
        "lane": patch.lane,
        "file": patch.name,
        "sha256": patch.sha256,
        "subject": subject,
        "commit": commit,
    }


def _table(patches: Sequence[Patch], subjects: Sequence[str], commits: Sequence[str | None]) -> Table:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("number", "file", "subject", "commit")
    for patch, subject, commit in zip(patches, subjects, commits, strict=True):
        table.add_row(f"{patch.number:04d}", patch.path, subject, commit[:12] if commit else "-")
    return table
