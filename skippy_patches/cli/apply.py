"""`skippy-patches apply`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.completion import patch_numbers
from skippy_patches.cli.options import Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from skippy_patches.apply.stage import Outcome

_HELP = "Put the queue on the pin: the same commit on every machine."
_EPILOG = "Example: skippy-patches apply --to 21  # checks out the build of patch 0021"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(help=_HELP, epilog=_EPILOG)(apply)


def apply(
    context: typer.Context,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            metavar="N",
            min=0,
            autocompletion=patch_numbers,
            help="Stop after patch number N; 0 is the pin alone.",
        ),
    ] = None,
    discard: Annotated[
        bool,
        typer.Option(
            "--discard", help="Save edits and commits of yours in the checkout to a ref, then go on."
        ),
    ] = False,
    verify_with_git: Annotated[
        bool,
        typer.Option(
            "--verify-with-git", help="Apply everything again with git am and compare every commit."
        ),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.apply.stage import Request  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.cli import stages  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    request = Request(to=to, discard=discard, verify_with_git=verify_with_git)
    outcome = stages.apply(session, project, request)
    if format_ is Format.JSON:
        session.terminal.json(stages.as_json(outcome.applied, outcome.saved))
    else:
        _print(session, outcome, verified=verify_with_git)


def _print(session: Session, outcome: Outcome, *, verified: bool) -> None:
    from skippy_patches.cli import stages  # noqa: PLC0415

    applied = outcome.applied
    if outcome.saved:
        git = f"git -C {shlex.quote(str(applied.checkout))}"
        name = outcome.saved.rpartition("/")[2]
        session.terminal.line(f"Saved what was in the checkout as {outcome.saved}")
        session.terminal.line(f"  look at it:    {git} show --stat {outcome.saved}")
        session.terminal.line(f"  get it back:   {git} switch --create saved-{name} {outcome.saved}")
    if verified:
        session.terminal.line("Verified: git am makes the same commits.")
    if outcome.moved:
        reused = f", {applied.reused} of them from before" if applied.reused else ""
        session.terminal.line(f"Applied {stages.described(applied)}{reused}")
    elif outcome.saved:
        session.terminal.line(f"Restored {stages.described(applied)}")
    else:
        session.terminal.line(stages.up_to_date(applied))
