"""`skippy-patches edit` and `skippy-patches continue`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.completion import patch_numbers
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from skippy_patches.authoring.edit.abort import Aborted
    from skippy_patches.authoring.edit.sequence import Begun, Continued
    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        help="Stop the checkout at patch N, to amend, split or drop it; `continue` has the rest follow.",
        epilog="Example: skippy-patches edit 21  # stops the checkout at patch 0021",
    )(edit)
    app.command(
        "continue",
        help="Replay the patches behind the edited one onto what you made of it; after a conflict, go on.",
        epilog="Example: skippy-patches continue && skippy-patches refresh  # then writes the files",
    )(continue_)


def edit(
    context: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(metavar="N", min=0, autocompletion=patch_numbers, help="The number of the patch."),
    ] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="Give the edit up: save what is there, go back to the queue.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    session = Session.of(context)
    project = session.project()
    if abort == (number is not None):
        raise typer.BadParameter("name a patch number, or --abort")
    if number is None:
        _abort(session, project, format_)
    else:
        _edit(session, project, number, format_)


def continue_(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.authoring.edit import sequence  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.upstream import pin  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    with session.terminal.reporter() as reporter:
        done = sequence.continue_(project, pin.read(project.upstream), reporter=reporter)
    if format_ is Format.JSON:
        left_out = [
            {"file": each.patch or None, "commit": each.commit.id, "subject": each.commit.subject}
            for each in done.left_out
        ]
        answer = {
            "commit": done.commit,
            "changed": done.is_changed,
            "queue_changed": not done.is_current,
            "left_out": left_out,
        }
        session.terminal.json({"schema_version": SCHEMA_VERSION, **answer})
    else:
        _print_continued(session.terminal, done)


def _edit(session: Session, project: Project, number: int, format_: Format) -> None:
    from skippy_patches.authoring.edit import sequence  # noqa: PLC0415
    from skippy_patches.upstream import pin  # noqa: PLC0415

    with session.terminal.reporter() as reporter:
        done = sequence.edit(project, pin.read(project.upstream), number, reporter=reporter)
    if format_ is Format.JSON:
        stopped = {"file": done.stopped.patch, "commit": done.stopped.at, "behind": len(done.stopped.rest)}
        answer = {"stopped": stopped, "checkout": str(done.checkout)}
        session.terminal.json({"schema_version": SCHEMA_VERSION, **answer})
    else:
        _print_edited(session.terminal, done)


def _print_edited(terminal: Terminal, done: Begun) -> None:
    from skippy_patches.queue.findings import counted  # noqa: PLC0415

    stopped = done.stopped
    git = f"git -C {shlex.quote(str(done.checkout))}"
    waiting = counted(len(stopped.rest), "patch", "patches")
    terminal.line(f"Stopped at {stopped.patch}, commit {stopped.at.short}; behind it: {waiting}.")
    terminal.line(f"Change it:   the files in {done.checkout}, then {git} commit --all --amend")
    terminal.line(
        f"Split it:    {git} reset HEAD^, then commit in parts (the first with -c {stopped.at.short})"
    )
    terminal.line(f"Drop it:     {git} reset --hard HEAD^")
    terminal.line("Then:        skippy-patches continue (or edit --abort)")


def _abort(session: Session, project: Project, format_: Format) -> None:
    from skippy_patches.authoring.edit import abort  # noqa: PLC0415

    with session.terminal.reporter() as reporter:
        done = abort.abort(project, reporter=reporter)
    if format_ is Format.JSON:
        answer = {"commit": done.commit, "saved": done.saved, "checkout": str(done.checkout)}
        session.terminal.json({"schema_version": SCHEMA_VERSION, **answer})
    else:
        _print_aborted(session.terminal, done)


def _print_aborted(terminal: Terminal, done: Aborted) -> None:
    terminal.line(f"The checkout holds the whole queue again, commit {done.commit.short}.")
    if done.saved:
        git = f"git -C {shlex.quote(str(done.checkout))}"
        terminal.line(f"What was there is saved as {done.saved}")
        terminal.line(f"  look at it:    {git} log --stat {done.saved}")


def _print_continued(terminal: Terminal, done: Continued) -> None:
    for each in done.left_out:
        named = each.patch or f"commit {each.commit.id.short}"
        terminal.line(
            f'{named} is retired and left out: nothing remained of "{each.commit.subject}".'
            " What it does is there already, or you left it out."
        )
    if not done.is_changed:
        terminal.line(f"Nothing was changed: the checkout holds the queue, commit {done.commit.short}.")
        return
    drops = "".join(f" --drop {each.patch.rpartition('/')[2][:4]}" for each in done.left_out if each.patch)
    terminal.line(f"The rest is replayed, up to commit {done.commit.short}.")
    if done.is_current:
        terminal.line(f"Write it into the queue: skippy-patches refresh{drops}")
        return
    terminal.line("The patch files were changed since the edit began (a pull, or an edit of one of them).")
    terminal.line(
        "They have to be put back before these commits can be written: skippy-patches refresh says how"
    )
