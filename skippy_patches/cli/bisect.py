"""`skippy-patches bisect`."""

from __future__ import annotations

import shlex
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from skippy_patches.bisect.errors import CANNOT_TELL
from skippy_patches.cli.completion import patch_numbers
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session
from skippy_patches.errors import SkippyError, SystemRefused, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.bisect.judge import Failure, Verdict
    from skippy_patches.bisect.result import Commit, Found
    from skippy_patches.cli.console import Terminal
    from skippy_patches.queue.patch import Patch

_STATUSES = {"good": 0, "bad": 1, "skip": CANNOT_TELL}  # git-bisect(1), "bisect run"
_STOP = 128  # from here on git bisect run stops
_USAGE = 2
_MOST_COMMITS = 20


class _Command(TyperCommand):
    """With --once no error may look like an answer: git bisect run takes 1 to 127 for one."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        is_once = "--once" in args
        try:
            return super().make_context(info_name, args, *rest, **extra)
        except Exception as error:  # click's, whose types typer keeps to itself
            if is_once and getattr(error, "exit_code", 0) == _USAGE:
                error.exit_code = _STOP  # type: ignore[attr-defined]  # seen to be there
            raise

    def invoke(self, ctx: Any) -> Any:
        if not ctx.params["once"]:
            return super().invoke(ctx)
        from skippy_patches.bisect.errors import NoAnswer  # noqa: PLC0415 - each command imports its own

        try:
            return super().invoke(ctx)
        except typer.Exit:
            raise
        except SkippyError as error:
            raise NoAnswer(error) from error
        except OSError as error:
            raise NoAnswer(SystemRefused(error)) from error
        except Exception as error:
            traceback.print_exc()
            raise NoAnswer(SkippyError(f"An internal error of skippy-patches: {error}")) from error


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        cls=_Command,
        help="Find the commit of upstream from which patch N no longer applies; nothing is checked out.",
        epilog="Example: skippy-patches bisect 21 --bad b10400  # what upstream broke since the pin",
    )(bisect)


def bisect(  # noqa: PLR0913, PLR0917 - one parameter an option of the command line
    context: typer.Context,
    number: Annotated[
        int, typer.Argument(metavar="N", min=1, autocompletion=patch_numbers, help="The number of the patch.")
    ],
    bad: Annotated[
        str, typer.Option("--bad", metavar="REV", help="A commit on which the patch does not apply.")
    ] = "",
    good: Annotated[
        str,
        typer.Option("--good", metavar="REV", help="An ancestor of it on which it does. Default: the pin."),
    ] = "",
    repository: Annotated[
        Path | None,
        typer.Option(
            "--repository",
            metavar="DIR",
            show_default=False,
            help="A clone of upstream with its history; it is only read. Default: what is configured.",
        ),
    ] = None,
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Take a merge for one commit, not for all it brought.")
    ] = False,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Try one commit of the clone in this folder, with the exit statuses for git bisect run.",
        ),
    ] = False,
    at: Annotated[
        str, typer.Option("--at", metavar="REV", help="With --once: this commit. Default: HEAD.")
    ] = "",
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.apply.stage import select  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.bisect import stage  # noqa: PLC0415
    from skippy_patches.queue import reader  # noqa: PLC0415
    from skippy_patches.upstream.cache import Cache  # noqa: PLC0415

    _check(bad=bad, at=at, once=once, first_parent=first_parent)
    session = Session.of(context)
    project = session.project()
    patches = reader.load(project)
    if once:
        folder = repository or Path.cwd()
        verdict = stage.once(project, patches, number, good=good, at=at, folder=folder)
        _show_verdict(session.terminal, select(project, patches, number)[-1], verdict, format_)
        raise typer.Exit(_STATUSES[verdict.outcome])
    request = stage.Request(
        number=number, good=good, bad=bad, repository=repository, first_parent=first_parent
    )
    with session.terminal.reporter() as reporter:
        found = stage.run(project, patches, request, cache=Cache.default(), reporter=reporter)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, **found.as_json()})
    else:
        _show(session.terminal, found)
    if found.first_bad is None:
        raise typer.Exit(CANNOT_TELL)


def _check(*, bad: str, at: str, once: bool, first_parent: bool) -> None:
    if once and (bad or first_parent):
        raise UsageError("--once tries one commit: --bad and --first-parent are for a search.")
    if at and not once:
        raise UsageError("--at names the commit for --once, and that is not given.")
    if not once and not bad:
        raise UsageError(
            "No --bad is given: a commit of upstream on which the patch does not apply.",
            mend="For example the tag that you want to move to: --bad b10400",
        )


def _show(terminal: Terminal, found: Found) -> None:
    first_bad = found.first_bad
    if first_bad:
        terminal.line(f"{found.patch.path} no longer applies from this commit of upstream on:", style="bold")
        terminal.facts(_facts(first_bad))
    else:
        count = len(found.candidates)
        terminal.line(f"{found.patch.path} was broken by one of these {count} commits:", style="bold")
        _show_candidates(terminal, found.candidates)
        _show_doubt(terminal, found)
    terminal.line("")
    _show_reason(terminal, found.verdict)
    terminal.line("")
    terminal.facts(_ends(found))


def _show_candidates(terminal: Terminal, commits: Sequence[Commit]) -> None:
    for commit in commits[:_MOST_COMMITS]:
        terminal.line(f"  {_short(commit)}")
    if len(commits) > _MOST_COMMITS:
        terminal.line(f"  and {len(commits) - _MOST_COMMITS} more (all of them: --format json)")


def _show_doubt(terminal: Terminal, found: Found) -> None:
    """Why commits were skipped, and what to ask instead."""
    missing = {failure.patch: None for verdict in found.tried for failure in _needed(verdict)}
    for patch in missing:
        terminal.line(f"{patch.name}, which it needs, does not apply on all of them. Find where it broke:")
        terminal.line(f"  skippy-patches bisect {patch.number} --good {found.good} --bad {found.bad}")


def _needed(verdict: Verdict) -> Sequence[Failure]:
    return verdict.left_out if verdict.outcome == "skip" else ()


def _show_reason(terminal: Terminal, verdict: Verdict) -> None:
    if verdict.is_there:
        terminal.line("Upstream has its change there: the patch is not broken, it can be retired.")
    elif verdict.error:
        for line in (verdict.error.why or verdict.error.what).splitlines():
            terminal.line(line)
    for failure in verdict.left_out:
        terminal.line(f"Tried without {failure.patch.name}, which does not apply there.")


def _facts(commit: Commit) -> list[tuple[str, str]]:
    return [
        ("commit", commit.id),
        ("author", f"{commit.author} <{commit.email}>"),
        ("date", commit.date),
        ("subject", commit.subject),
    ]


def _ends(found: Found) -> Iterator[tuple[str, str]]:
    """The commits below, what was tried, and how to see the change."""
    told = {
        "good": "last good",
        "bad": "parent, bad too",  # it broke twice, and was mended in between
        "skip": "parent, skipped",
    }
    for commit, verdict in found.before:
        yield told[verdict.outcome], _short(commit)
    skipped = sum(verdict.outcome == "skip" for verdict in found.tried)
    more = f", {skipped} of them skipped" if skipped else ""
    yield "tried", f"{len(found.tried)} of {found.count} commits{more}"
    if found.first_bad and Path(found.history).is_dir():
        yield "see it", f"git -C {shlex.quote(found.history)} show {found.first_bad.id}"


def _short(commit: Commit) -> str:
    return f"{commit.id} {commit.date[:10]} {commit.subject}"


def _show_verdict(terminal: Terminal, patch: Patch, verdict: Verdict, format_: Format) -> None:
    from skippy_patches.bisect.result import reason_as_json, verdict_as_json  # noqa: PLC0415

    if format_ is Format.JSON:
        answer = {"number": patch.number, "file": patch.name, **verdict_as_json(verdict)}
        terminal.json({"schema_version": SCHEMA_VERSION, **answer, **reason_as_json(verdict)})
        return
    words = {"good": "applies", "bad": "does not apply", "skip": "cannot be tried"}
    terminal.line(f"{patch.path} {words[verdict.outcome]} on {verdict.commit} ({verdict.outcome})")
    if verdict.outcome != "good" or verdict.left_out:
        _show_reason(terminal, verdict)
