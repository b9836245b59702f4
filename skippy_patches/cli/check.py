"""`skippy-patches check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.queue.findings import Finding


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Find everything that is wrong with the queue: numbers, names, envelopes, diffs, safety.",
        epilog="Example: skippy-patches check --staged looks at what the next commit will hold.",
    )(check)


def check(
    context: typer.Context,
    staged: Annotated[
        bool, typer.Option("--staged", help="Read the index of the project's repository, not the folder.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.queue import reader  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.queue.check import check as check_queue  # noqa: PLC0415
    from skippy_patches.queue.check import policy_of  # noqa: PLC0415
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    session = Session.of(context)
    project, snapshot = reader.read(session.folder, is_staged=staged)
    findings = check_queue(snapshot, policy_of(project))
    count = len(ordered(snapshot))
    if format_ is Format.JSON:
        session.terminal.json(_as_json(findings, count))
    else:
        _print(session.terminal, findings, count)
    if any(finding.is_error for finding in findings):
        raise typer.Exit(1)


def _as_json(findings: Sequence[Finding], patches: int) -> dict[str, Any]:
    errors = sum(finding.is_error for finding in findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "patches": patches,
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": [finding._asdict() for finding in findings],
    }


def _print(terminal: Terminal, findings: Sequence[Finding], patches: int) -> None:
    """As the hook prints it; quiet: errors and nothing else."""
    from skippy_patches.queue.findings import describe, summarise  # noqa: PLC0415

    for finding in findings:
        if finding.is_error or not terminal.is_quiet:
            head, _, rest = describe(finding).partition("\n")
            terminal.line(head, style="red" if finding.is_error else "yellow")
            if rest:
                terminal.line(rest)
    if not terminal.is_quiet:
        terminal.line(summarise(findings, patches), style="bold")
