"""What a check found, printed in the format that was asked for."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.options import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.queue.findings import Finding


class ReportFormat(enum.StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


ReportFormatOption = Annotated[
    ReportFormat,
    typer.Option(
        "--format",
        help="github: annotations and a step summary. JSON and SARIF go to stdout alone, as one object.",
    ),
]


def show(
    terminal: Terminal,
    format_: ReportFormat,
    findings: Sequence[Finding],
    *,
    patches: int,
    root: Path,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Print findings about a queue of `patches` patches of the project at `root`.

    more: further fields of the JSON object. github and sarif name files from the top of the repository.
    """
    if format_ is ReportFormat.JSON:
        terminal.json(as_json(findings, patches) | dict(more or {}))
    elif format_ is ReportFormat.TEXT:
        _as_text(terminal, findings, patches)
    elif format_ is ReportFormat.SARIF:
        from skippy_patches.cli.formats import sarif  # noqa: PLC0415 - one format is asked for

        terminal.json(sarif.log(findings, prefix=_prefix(root)))
    else:
        _for_github(terminal, findings, patches, _prefix(root))


def as_json(findings: Sequence[Finding], patches: int) -> dict[str, Any]:
    """The object of `check --format json`."""
    errors = sum(finding.is_error for finding in findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "patches": patches,
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": [finding._asdict() for finding in findings],
    }


def _as_text(terminal: Terminal, findings: Sequence[Finding], patches: int) -> None:
    """As the hook prints it; quiet: errors and nothing else."""
    from skippy_patches.queue.findings import summarise  # noqa: PLC0415 - see show

    show_findings(terminal, findings)
    if not terminal.is_quiet:
        terminal.line(summarise(findings, patches), style="bold")


def show_findings(terminal: Terminal, findings: Sequence[Finding]) -> None:
    """Each finding as text; quiet: errors alone."""
    from skippy_patches.queue.findings import describe  # noqa: PLC0415 - see show

    for finding in findings:
        if finding.is_error or not terminal.is_quiet:
            head, _, rest = describe(finding).partition("\n")
            terminal.line(head, style="red" if finding.is_error else "yellow")
            if rest:
                terminal.line(rest)


def _for_github(terminal: Terminal, findings: Sequence[Finding], patches: int, prefix: str) -> None:
    from skippy_patches.cli.formats import github  # noqa: PLC0415 - see show

    told = [finding for finding in findings if finding.is_error or not terminal.is_quiet]
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    for line in github.commands(told, patches, prefix=prefix, summary=bool(summary)):
        print(line)  # a command is one: neither coloured nor cut
    if summary:
        try:
            github.append_summary(Path(summary), findings, patches, prefix=prefix)
        except OSError as error:  # what was found decides the exit status, not where it could not be told
            said = error.strerror or type(error).__name__
            terminal.note(f"The summary {summary}, of $GITHUB_STEP_SUMMARY, was not written: {said}.")


def _prefix(root: Path) -> str:
    """The project's folder in its repository, as `a/b/`; empty at the top, and outside a repository."""
    from skippy_patches.project_git import ProjectGit  # noqa: PLC0415 - see show

    repository = ProjectGit.open(root)
    return repository.prefix if repository else ""
