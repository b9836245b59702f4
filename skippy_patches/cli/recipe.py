"""`skippy-patches recipe`: list, show and diff."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.completion import recipe_names
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skippy_patches.build.explain import Difference, Explained, Stated, Value
    from skippy_patches.cli.console import Terminal

_NOTHING = "(nothing)"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "list",
        help="The recipes there are, with what each requires of a machine.",
        epilog="Example: skippy-patches recipe list  # one line a recipe",
    )(list_)
    group.command(
        "show",
        help="A recipe as it comes out on this platform: each value, where it is said, and why.",
        epilog="Example: skippy-patches recipe show cpu  # what a build with it is told",
    )(show)
    group.command(
        "diff",
        help="In what two recipes differ on this platform, wherever it is said.",
        epilog="Example: skippy-patches recipe diff cpu rpc  # their variables, targets and tests",
    )(diff)
    group.command(
        "add",
        help="Copy a recipe that skippy-patches brings into the project, with all that it extends.",
        epilog="Example: skippy-patches recipe add cpu  # what is there already stays",
    )(add)
    app.add_typer(
        group,
        name="recipe",
        help="Look at recipes, and copy one that is shipped: list, show, diff, add.",
        epilog="Example: skippy-patches recipe show cpu  # each value, and the file that says it",
    )


def _name(metavar: str) -> typer.models.ArgumentInfo:
    argument: typer.models.ArgumentInfo = typer.Argument(
        metavar=metavar, help="recipes/NAME.yaml.", autocompletion=recipe_names, show_default=False
    )
    return argument


def list_(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.build import explain, recipe  # noqa: PLC0415 - each command imports its own stages

    session = Session.of(context)
    folder = session.project().recipes
    known = [explain.explain(folder, name) for name in recipe.names(folder)]
    if format_ is Format.JSON:
        rows = [_head(each) for each in known]
        session.terminal.json({"schema_version": SCHEMA_VERSION, "recipes": rows})
        return
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("recipe", "extends", "requires", "what")
    for each in known:
        requires = ", ".join(each.recipe.requires)
        table.add_row(each.recipe.name, " > ".join(each.parents), requires, each.recipe.description)
    session.terminal.table(table)


def show(
    context: typer.Context,
    name: Annotated[str, _name("NAME")],
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build import explain  # noqa: PLC0415 - each command imports its own stages

    session = Session.of(context)
    shown = explain.explain(session.project().recipes, name)
    if format_ is Format.JSON:
        files = [dataclasses.asdict(file) for file in shown.recipe.files]
        values = [dataclasses.asdict(stated) for stated in shown.values]
        head = {
            "schema_version": SCHEMA_VERSION,
            **_head(shown),
            "platform": dataclasses.asdict(shown.platform),
        }
        session.terminal.json({**head, "files": files, "values": values})
        return
    _print(session.terminal, shown)


def diff(
    context: typer.Context,
    one: Annotated[str, _name("A")],
    other: Annotated[str, _name("B")],
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build import explain  # noqa: PLC0415 - each command imports its own stages

    session = Session.of(context)
    folder = session.project().recipes
    before, after = explain.explain(folder, one), explain.explain(folder, other)
    found = explain.differences(before, after)
    if format_ is Format.JSON:
        rows = [_row(each) for each in found]
        head = {"schema_version": SCHEMA_VERSION, "before": _head(before), "after": _head(after)}
        session.terminal.json({**head, "differences": rows})
        return
    if not found:
        session.terminal.line(f"{one} and {other} say the same.")
        return
    _print_differences(session.terminal, one, other, found)


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a shipped recipe.", show_default=False)],
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build import shipped  # noqa: PLC0415 - each command imports its own stages

    session = Session.of(context)
    folder = session.project().recipes
    added = shipped.add(name, folder)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, **dataclasses.asdict(added)})
        return
    for file in added.written:
        session.terminal.line(f"Wrote {folder / file}")
    for file in added.kept:
        session.terminal.line(f"Kept {folder / file}, which was there")


def _print_differences(terminal: Terminal, one: str, other: str, found: Iterable[Difference]) -> None:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("key", one, other)
    rows = [(each.key, _text(each.before), _text(each.after)) for each in found]
    for row in rows:
        table.add_row(*row)
    if terminal.fits(table):
        terminal.table(table)
        return
    terminal.line(f"key: {one} -> {other}", style="bold")
    for key, before, after in rows:
        terminal.entry(f"{key}: {before} -> {after}")


def _head(shown: Explained) -> dict[str, Any]:
    recipe = shown.recipe
    return {
        "recipe": recipe.name,
        "description": recipe.description,
        "extends": list(shown.parents),
        "requires": list(recipe.requires),
    }


def _row(difference: Difference) -> dict[str, Any]:
    before, after = difference.before, difference.after
    return {
        "key": difference.key,
        "before": before.value if before else None,
        "after": after.value if after else None,
    }


def _print(terminal: Terminal, shown: Explained) -> None:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    recipe, platform = shown.recipe, shown.platform
    terminal.facts(
        [
            ("recipe", recipe.name),
            ("what", recipe.description),
            ("files", ", ".join(file.name for file in recipe.files)),
            ("requires", ", ".join(recipe.requires) or "nothing beside what every build needs"),
            ("platform", f"{platform.system} {platform.machine}"),
        ]
    )
    table = new_table("key", "value", "from", "why")
    for stated in shown.values:
        table.add_row(stated.key, _plain(stated.value), _place(stated), stated.reason)
    if terminal.fits(table):
        terminal.table(table)
        return
    terminal.line("key = value [from], and why", style="bold")
    for stated in shown.values:
        terminal.entry(f"{stated.key} = {_plain(stated.value)} [{_place(stated)}]", stated.reason)


def _place(stated: Stated) -> str:
    if not stated.file:
        return "default"
    return f"{stated.file}:{stated.line}" + (f" ({stated.place})" if stated.place else "")


def _text(stated: Stated | None) -> str:
    return _NOTHING if stated is None else _plain(stated.value)


def _plain(value: Value) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
