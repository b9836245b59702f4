"""`skippy-patches record`: of the last build; list, show and diff of all there are."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.completion import record_names
from skippy_patches.cli.options import DEFAULT_RECIPE, SCHEMA_VERSION, Format, FormatOption, RecipeOption
from skippy_patches.cli.session import Session
from skippy_patches.errors import UsageError
from skippy_patches.queue.findings import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.evidence.difference import Difference
    from skippy_patches.evidence.kept import Kept, Shelf
    from skippy_patches.evidence.record import Record


class RecordFormat(enum.StrEnum):
    """How a record is printed."""

    TEXT = "text"
    JSON = "json"
    IN_TOTO = "in-toto"


RecordFormatOption = Annotated[
    RecordFormat,
    typer.Option("--format", help="JSON goes to stdout alone; in-toto: a Statement v1 with SLSA provenance."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(invoke_without_command=True)
    group.callback()(record)
    group.command(
        "list",
        help="Every record: those saved in records/, and that of the last build of each recipe.",
        epilog="Example: skippy-patches record list  # name, commit, recipe, compiler, tests",
    )(list_)
    group.command(
        "show",
        help="A record as it was written. The libraries are not looked at: verify does that.",
        epilog="Example: skippy-patches record show recipe:cpu  # that of the last build of recipe cpu",
    )(show)
    group.command(
        "diff",
        help="Each thing that differs between two records. Exit status 1 when anything does.",
        epilog="Example: skippy-patches record diff recipe:cpu recipe:cpu  # the same: exit status 0",
    )(diff)
    app.add_typer(
        group,
        name="record",
        help="What was built from what, checked against the libraries as they are now; list, show and diff.",
        epilog="Example: skippy-patches record --save  # writes a file in records/, to be committed",
    )


def _name(metavar: str) -> typer.models.ArgumentInfo:
    argument: typer.models.ArgumentInfo = typer.Argument(
        metavar=metavar,
        help="recipe:NAME, a record's name or how it begins, or a path.",
        autocompletion=record_names,
        show_default=False,
    )
    return argument


def record(
    context: typer.Context,
    recipe: RecipeOption = DEFAULT_RECIPE,
    save: Annotated[bool, typer.Option("--save", help="Copy it to records/, to be committed.")] = False,
    label: Annotated[
        str,
        typer.Option(
            "--label",
            metavar="WORD",
            help="With --save: ends the file's name, to keep two builds of one commit.",
            show_default=False,
        ),
    ] = "",
    format_: RecordFormatOption = RecordFormat.TEXT,
) -> None:
    if context.invoked_subcommand is not None:
        if save or label or format_ is not RecordFormat.TEXT:
            raise UsageError(
                f"Options of record go behind the word '{context.invoked_subcommand}', or with none.",
                mend=f"skippy-patches record {context.invoked_subcommand} --help",
            )
        return
    from skippy_patches.cli import stages  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.evidence import kept  # noqa: PLC0415

    if label and not save:
        raise UsageError("--label goes with --save.", mend=f"skippy-patches record --save --label {label}")
    session = Session.of(context)
    project = session.project()
    made = stages.record_of_last_build(project, recipe)
    saved = kept.save(made, kept.folder(project), label) if save else None
    _tell_of_changes(session.terminal, project, made)
    _show(session.terminal, made, format_)
    if saved and format_ is RecordFormat.TEXT:
        session.terminal.line(f"Saved as {saved}")
    elif saved:
        session.terminal.note(f"Saved as {saved}")


def list_(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.evidence import kept  # noqa: PLC0415 - see record

    session = Session.of(context)
    project = session.project()
    shelf = kept.look(project)
    rows = [_row(each) for each in shelf.records]
    if format_ is Format.JSON:
        broken = [{"file": str(each.file), "what": each.what} for each in shelf.broken]
        session.terminal.json({"schema_version": SCHEMA_VERSION, "records": rows, "broken": broken})
    else:
        _list(session.terminal, shelf, rows)
    if shelf.broken:
        raise typer.Exit(1)


def show(
    context: typer.Context,
    name: Annotated[str, _name("RECORD")],
    format_: RecordFormatOption = RecordFormat.TEXT,
) -> None:
    from skippy_patches.evidence import kept  # noqa: PLC0415 - see record

    session = Session.of(context)
    found = kept.find(session.project(), name, session.folder)
    _show(session.terminal, found.record, format_)


def diff(
    context: typer.Context,
    before: Annotated[str, _name("A")],
    after: Annotated[str, _name("B")],
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.evidence import compare, kept  # noqa: PLC0415 - see record

    session = Session.of(context)
    project = session.project()
    sides = [kept.find(project, name, session.folder) for name in (before, after)]
    differences = compare.records(sides[0].record, sides[1].record)
    if format_ is Format.JSON:
        names = {"before": sides[0].name, "after": sides[1].name}
        rows = differences_json(differences)
        session.terminal.json(
            {"schema_version": SCHEMA_VERSION, **names, "is_same": not rows, "differences": rows}
        )
    elif differences:
        print_differences(session.terminal, differences)
    else:
        session.terminal.line("They differ in nothing but times.")
    if differences:
        raise typer.Exit(1)


def differences_json(differences: Sequence[Difference]) -> list[dict[str, Any]]:
    """Rows as docs/json.md describes them."""
    import dataclasses  # noqa: PLC0415 - the other formats do not need it

    return [dataclasses.asdict(each) for each in differences]


def print_differences(terminal: Terminal, differences: Sequence[Difference]) -> None:
    """A line each: part, what became of it, its name, before and after."""
    from skippy_patches.evidence.difference import shortened  # noqa: PLC0415 - see record

    widths = [max(len(text) for text in column) for column in zip(*map(_head, differences), strict=True)]
    for each in differences:
        head = "  ".join(f"{text:<{width}}" for text, width in zip(_head(each), widths, strict=True))
        sides = " -> ".join(text for text in (each.before, each.after) if text is not None)
        terminal.line(printable(f"{head}  {each.name}{f'  {shortened(sides)}' if sides else ''}"))


def _head(each: Difference) -> tuple[str, str]:
    return each.part, each.what


def _show(terminal: Terminal, made: Record, format_: RecordFormat) -> None:
    if format_ is RecordFormat.JSON:
        terminal.json(made.as_json())
    elif format_ is RecordFormat.IN_TOTO:
        from skippy_patches.evidence import statement  # noqa: PLC0415 - see record

        terminal.json(statement.make(made))
    else:
        _print(terminal, made)


def _tell_of_changes(terminal: Terminal, project: Project, made: Record) -> None:
    """On stderr: a record outlives the queue that it is of, and whoever saves it should know."""
    from skippy_patches.evidence import evidencefile, verify  # noqa: PLC0415 - see record
    from skippy_patches.evidence.since import since  # noqa: PLC0415

    changed = since(evidencefile.of_record(made), verify.now(project)).differences
    if changed:
        things = counted(len(changed), "change")
        mend = f"skippy-patches verify recipe:{made.recipe}"
        terminal.note(f"The queue is no longer the one that was built ({things}): {mend}")


def _print(terminal: Terminal, made: Record) -> None:
    from skippy_patches.evidence import compare  # noqa: PLC0415 - see record

    content = made.content
    tests, required = content["tests"], content.get("required_tests")
    terminal.facts(
        [
            ("recipe", _recipe(made)),
            ("upstream", f"{content['upstream']['tag']} {content['upstream']['commit']}".strip()),
            ("patched", content["patched"]["commit"]),
            *((role, _described(tool)) for role, tool in content["toolchain"].items()),
            ("reproducible", compare.reproducible(content)),
            ("tests", _counts(tests) if tests else "none recorded: skippy-patches test"),
            *([("required tests", _counts(required))] if required else []),
        ]
    )
    _sums(terminal, "patches", [(patch["sha256"], patch["file"]) for patch in content["patches"]])
    _sums(terminal, "libraries", [(library["sha256"], library["name"]) for library in content["artifacts"]])


def _recipe(made: Record) -> str:
    """Its name, and the files when it extends others."""
    files = [file["name"] for file in made.content.get("recipe_files", ())]
    return f"{made.recipe} ({', '.join(files)})" if len(files) > 1 else made.recipe


def _described(tool: dict[str, str] | None) -> str:
    return f"{tool['name']} {tool['version']}" if tool else "none"


def _counts(tests: dict[str, Any]) -> str:
    return ", ".join(f"{tests[word]} {word}" for word in ("run", "passed", "failed", "skipped"))


def _sums(terminal: Terminal, heading: str, files: Sequence[tuple[str, str]]) -> None:
    """As sha256sum(1) prints and reads it."""
    if files:
        terminal.line(heading, style="bold")
    for sha256, name in files:
        terminal.line(f"{sha256}  {printable(name)}")


def _row(each: Kept) -> dict[str, Any]:
    content = each.record.content
    tests = content["tests"] or content.get("required_tests")
    return {
        "name": each.name,
        "file": str(each.file),
        "is_saved": each.is_saved,
        "recipe": each.record.recipe,
        "upstream": content["upstream"],
        "patched": content["patched"],
        "patches": len(content["patches"]),
        "platform": content["platform"],
        "cxx": _described(content["toolchain"].get("cxx")),
        "tests": {word: tests[word] for word in ("run", "passed", "failed", "skipped")} if tests else None,
        "finished": content["finished"],
    }


def _list(terminal: Terminal, shelf: Shelf, rows: Sequence[dict[str, Any]]) -> None:
    from skippy_patches.cli.tables import new_table  # noqa: PLC0415 - see record

    table = new_table("record", "patched", "patches", "c++", "tests passed", "finished")
    for row in rows:
        tests = row["tests"]
        passed = f"{tests['passed']} of {tests['run']}" if tests else "none"
        cells = (row["patched"]["commit"][:12], row["patches"], row["cxx"], passed, row["finished"])
        table.add_row(row["name"], *cells)
    if rows:
        terminal.table(table)
    for error in shelf.broken:
        terminal.note(error.what)
    if not rows and not shelf.broken:
        terminal.note("Nothing was recorded: skippy-patches build")
