"""`skippy-patches renumber`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session
from skippy_patches.errors import UsageError

if TYPE_CHECKING:
    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.renumber.plan import Plan

_INDEX_LEFT = "the folder is as it was; the index, changed since, is left alone: git add -A the patches"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Plan numbers that are unique, and keep order and pinned numbers; --write renames the files.",
        epilog="Example: skippy-patches renumber --write"
        "  # without --write: the plan alone, and exit status 1 when it would rename",
    )(renumber)


def renumber(
    context: typer.Context,
    write: Annotated[
        bool, typer.Option("--write", help="Rename the files, in the index, too, as git mv does.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last renumbering that was written.")
    ] = False,
    close_gaps: Annotated[
        bool | None,
        typer.Option(
            "--close-gaps/--keep-gaps",
            help="Make numbers consecutive, or not. Default: closed when the project says gaps: forbid.",
            show_default=False,
        ),
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.renumber import stage  # noqa: PLC0415 - imports much
    from skippy_patches.upstream.cache import Cache  # noqa: PLC0415

    if undo and (write or close_gaps is not None):
        raise UsageError(
            "--undo takes back what was written; it goes with no other choice.",
            mend="skippy-patches renumber --undo",
        )
    session = Session.of(context)
    project = session.project()
    if undo:
        _undo(session, project, format_)
        return
    is_closing = project.gaps == "forbid" if close_gaps is None else close_gaps
    with session.terminal.reporter() as reporter:
        plan = stage.plan(project, close_gaps=is_closing, cache=Cache.default(), reporter=reporter)
        if write:
            stage.write(project, plan, reporter)
    is_written = write and bool(plan.renames)
    if format_ is Format.JSON:
        answer = {"schema_version": SCHEMA_VERSION, **plan.as_json(is_written=is_written)}
        session.terminal.json(answer)
    else:
        _print(session.terminal, plan, is_written=is_written, is_closing=is_closing)
    if plan.renames and not is_written:
        raise typer.Exit(1)


def _undo(session: Session, project: Project, format_: Format) -> None:
    from skippy_patches.renumber import stage  # noqa: PLC0415 - imports much

    with session.terminal.reporter() as reporter:
        done = stage.undo(project, reporter)
    files = sorted(each.path for each in done.plan.files)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, "undone": files, "index": done.has_index})
        return
    both = "folder and index are as they were" if done.has_index else _INDEX_LEFT
    session.terminal.line(f"Taken back: {both}. Files that changed:")
    for file in files:
        session.terminal.line(f"  {file}")


def _print(terminal: Terminal, plan: Plan, *, is_written: bool, is_closing: bool) -> None:
    """The table, what changes, what does not, and what to run next."""
    if not plan.renames:
        closed = ", and no gap can be closed" if is_closing else ""
        terminal.line(f"Nothing to renumber: every number is unique{closed}.")
    else:
        _print_table(terminal, plan)
        terminal.line("")
        terminal.facts([*_changes(plan), *_constants(plan)])
    for note in plan.notes:
        terminal.line(f"note: {note}")
    if plan.gaps and is_closing:
        terminal.line("Gaps that stay:")
        terminal.facts((f"  {gap.numbers}", gap.reason) for gap in plan.gaps)
    elif plan.gaps and not terminal.is_quiet:
        numbers = ", ".join(gap.numbers for gap in plan.gaps)
        terminal.line(f"Gaps are kept: {numbers} (--close-gaps closes them)")
    if plan.renames:
        terminal.line("")
        gaps = " --close-gaps" if is_closing else ""
        again = f"To do it: skippy-patches renumber{gaps} --write"
        terminal.line("Written. To take it back: skippy-patches renumber --undo" if is_written else again)


def _print_table(terminal: Terminal, plan: Plan) -> None:
    from skippy_patches.cli.console import VERBOSE  # noqa: PLC0415
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("old", "new", "why")
    contested = {move.patch.number for move in plan.moves if move.is_rename}
    for move in plan.moves:
        if move.is_rename:
            table.add_row(move.patch.path, move.target, move.reason)
        elif terminal.verbosity >= VERBOSE or move.number in contested:
            table.add_row(move.patch.path, "stays", move.reason)
    terminal.table(table)


def _changes(plan: Plan) -> list[tuple[str, str]]:
    facts = [
        ("changes", f"the names of {len(plan.renames)} of {len(plan.moves)} files"),
        ("", f"queue digest {plan.before} -> {plan.after}"),
        *(("", f"{file}, which lists them") for file in plan.series),
    ]
    if plan.first_difference:
        facts.append(("", f"the commits of the prefixes from {plan.first_difference} on"))
    return facts


def _constants(plan: Plan) -> list[tuple[str, str]]:
    proof = plan.proof
    if proof is None:
        return []
    order = "bytes and order of every patch" if plan.is_order_kept else "the bytes of every patch"
    that_apply = " that apply" if proof.error else ""
    compared = (
        f"{proof.equal} of {len(proof.rows)} prefixes{that_apply}, applied again: same commits and trees"
    )
    facts = [("stays", order)]
    if proof.equal or proof.is_order_kept:
        facts.append(("", compared))
    if proof.is_order_kept and not proof.error:
        facts.append(("", f"the last commit, {proof.rows[-1].commit}"))
    if not (proof.old_error or proof.error):
        facts.append(("", f"the last tree, {proof.rows[-1].tree}"))
    return facts
