"""`skippy-patches init`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.authoring.adopt import REPOSITORY, adopt
from skippy_patches.cli.formats.show import ReportFormat, as_json, show
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.stage import Outcome
    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.observe import Observation


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Adopt a queue that is there already: write skippy-patches.yaml, check, and apply once.",
        epilog="Example: skippy-patches init --queue patches --pin upstream.txt"
        "  # writes skippy-patches.yaml and nothing else",
    )(init)


def init(
    context: typer.Context,
    queue: Annotated[str, typer.Option("--queue", metavar="DIR", help="The folder that holds the patches.")],
    pin: Annotated[
        str,
        typer.Option(
            "--pin", metavar="SHA|FILE", help="The full SHA of the pin, or the one-line file that holds it."
        ),
    ],
    repository: Annotated[
        str, typer.Option("--repository", metavar="URL", help="Where the pin is fetched from.")
    ] = REPOSITORY,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.queue import observe, reader  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.queue.check import check_project  # noqa: PLC0415
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    session = Session.of(context)
    project = adopt(session.folder, queue=queue, pin=pin, repository=repository)
    snapshot = reader.read_folder(project)
    patches = ordered(snapshot)
    findings = check_project(snapshot, project)
    observations = observe.observe(patches)
    if format_ is Format.TEXT:
        _print(session.terminal, project, findings, observations, len(patches))
    is_sound = not any(finding.is_error for finding in findings)
    outcome, error = _apply(session, project) if is_sound else (None, None)
    if format_ is Format.JSON:
        session.terminal.json(_as_json(project, findings, observations, outcome, error, len(patches)))
    else:
        _print_end(session.terminal, outcome, is_sound=is_sound)
    if error is not None:
        raise error
    if not is_sound:
        raise typer.Exit(1)


def _apply(session: Session, project: Project) -> tuple[Outcome | None, SkippyError | None]:
    """As `apply` does it. What stops it is told last: the configuration stands all the same."""
    from skippy_patches.apply.stage import Request  # noqa: PLC0415 - see init
    from skippy_patches.cli import stages  # noqa: PLC0415

    try:
        return stages.apply(session, project, Request()), None
    except SkippyError as error:
        return None, error


def _print(
    terminal: Terminal,
    project: Project,
    findings: Sequence[Finding],
    observations: Sequence[Observation],
    patches: int,
) -> None:
    from skippy_patches.queue.findings import counted  # noqa: PLC0415 - see init

    terminal.line(f"Wrote {project.file}: the queue on {project.upstream.commit}")
    show(terminal, ReportFormat.TEXT, findings, patches=patches, root=project.root)
    if not patches:
        terminal.line("It has no patches yet. To begin one: skippy-patches new SUBJECT")
        return
    if not observations:
        terminal.line("Every patch was exported in the same way, and under the name of its subject.")
        return
    terminal.line("What is remarkable about it, and no error:")
    for each in observations:
        noun = ("hole", "holes") if each.code == "gap" else ("patch", "patches")
        terminal.line(f"  {counted(each.count, *noun)}: {each.what} [{each.code}]")
        for example in each.examples:
            terminal.line(f"    {example}")
    terminal.line(
        "Nothing was rewritten. To export every patch again in one format, once, as a step of its own: "
        "skippy-patches refresh --normalise"
    )


def _print_end(terminal: Terminal, outcome: Outcome | None, *, is_sound: bool) -> None:
    from skippy_patches.cli import stages  # noqa: PLC0415 - see init

    if outcome is not None:
        terminal.line(f"Applied {stages.described(outcome.applied)}")
    elif not is_sound:
        terminal.line("Not applied: mend the errors, then: skippy-patches apply")


def _as_json(
    project: Project,
    findings: Sequence[Finding],
    observations: Sequence[Observation],
    outcome: Outcome | None,
    error: SkippyError | None,
    patches: int,
) -> dict[str, Any]:
    from skippy_patches.cli import stages  # noqa: PLC0415 - see init

    commit_file = project.upstream.commit_file
    return {
        "schema_version": SCHEMA_VERSION,
        "file": str(project.file),
        "upstream": {
            "repository": project.upstream.repository,
            "commit": project.upstream.commit,
            "commit_file": str(commit_file) if commit_file else None,
        },
        "check": as_json(findings, patches),
        "observations": [
            {"code": each.code, "count": each.count, "what": each.what, "examples": list(each.examples)}
            for each in observations
        ],
        "applied": stages.as_json(outcome.applied, outcome.saved) if outcome else None,
        "error": {"what": error.what, "why": error.why, "mend": error.mend} if error else None,
    }
