"""`skippy-patches verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skippy_patches.cli.completion import record_names
from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.record import differences_json, print_differences
from skippy_patches.cli.session import Session
from skippy_patches.queue.findings import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.evidence.checked import Checked
    from skippy_patches.evidence.claim import Claim
    from skippy_patches.evidence.origin import Nearest, Origin
    from skippy_patches.evidence.since import Since
    from skippy_patches.evidence.verify import Evidence, Libraries

_STYLES = {"same": "", "differs": "bold red", "unknown": "yellow"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Which record made these libraries, and what changed since? Of a record: is all that can be "
        "computed again the same? Exit status 1 when no record made the bytes, or something differs.",
        epilog="Example: skippy-patches verify --strict .skippy/build/cpu/tree"
        "  # every library in a folder; nothing about its record is left open",
    )(verify)


def verify(
    context: typer.Context,
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A library, a folder of them, a record (file, name, recipe:NAME), a statement or an SBOM.",
            autocompletion=record_names,
            show_default=False,
        ),
    ],
    any_queue: Annotated[
        bool, typer.Option("--any-queue", help="Pin and queue may be others by now: that is told alone.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="What cannot be checked here fails, too: exit status 1.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.evidence import verify as stage  # noqa: PLC0415 - each command imports its own stages

    session = Session.of(context)
    project = session.project()
    target = stage.target(project, path, session.folder)
    if isinstance(target, Path):
        found: Libraries | Evidence = _libraries(session, project, target, format_)
    else:
        found = _evidence(session, project, target, format_)
    if not found.is_good(any_queue=any_queue, strict=strict):
        raise typer.Exit(1)


def _libraries(session: Session, project: Project, place: Path, format_: Format) -> Libraries:
    from skippy_patches.evidence import verify as stage  # noqa: PLC0415 - see verify

    found = stage.libraries(project, place)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, **_libraries_json(found)})
    else:
        _print_libraries(session.terminal, found)
    for error in found.broken:
        session.terminal.note(error.what)
    for name in found.checks:
        for doubt in found.doubts(name) if found.record is None or name != found.record.name else ():
            session.terminal.note(f"{name}: {_distrust(doubt)}")
    return found


def _evidence(session: Session, project: Project, claim: Claim, format_: Format) -> Evidence:
    from skippy_patches.evidence import verify as stage  # noqa: PLC0415 - see verify
    from skippy_patches.upstream.cache import Cache  # noqa: PLC0415

    with session.terminal.reporter() as reporter:
        found = stage.evidence(project, claim, Cache.default(), reporter)
    if format_ is Format.JSON:
        session.terminal.json({"schema_version": SCHEMA_VERSION, **_evidence_json(found)})
    else:
        _print_evidence(session.terminal, found)
    return found


def _print_libraries(terminal: Terminal, found: Libraries) -> None:
    for origin in found.origins:
        _print_origin(terminal, origin, found)
    if found.is_mixed:
        terminal.line(
            "These libraries come from several builds: no single record made them all.", style="bold red"
        )
    if found.record is None or found.since is None:
        return
    content = found.record.record.content
    terminal.line("")
    terminal.facts(
        [
            ("record", str(found.record.file)),
            ("recipe", found.record.record.recipe),
            ("upstream", f"{content['upstream']['tag']} {content['upstream']['commit']}".strip()),
            ("patched", content["patched"]["commit"]),
            ("built", content["finished"]),
            *([("not here", ", ".join(found.missing))] if found.missing else []),
            *_standing(found.checks[found.record.name]),
            ("queue", _about(found.since, len(content["patches"]))),
        ]
    )
    for doubt in found.doubts(found.record.name):
        terminal.line(_distrust(doubt), style="bold red")
    if found.since.differences:
        print_differences(terminal, found.since.differences)


def _standing(checks: Sequence[Checked]) -> Iterator[tuple[str, str]]:
    """What git has of the record, and what cannot be said of it; what differs is told apart."""
    for check in checks:
        if check.outcome == "unknown":
            yield check.name, check.why
        elif check.name == "git" and check.outcome == "same":
            yield check.name, check.recorded


def _distrust(doubt: Checked) -> str:
    return f"This record cannot be trusted: {doubt.found}. {doubt.why}"


def _print_origin(terminal: Terminal, origin: Origin, found: Libraries) -> None:
    known = found.known
    if not origin.matches:
        terminal.line(f"{origin.file}: no record made these bytes", style="bold red")
        terminal.line(f"  sha256 {origin.sha256}, {counted(origin.size, 'byte')}")
        if origin.nearest:
            _print_nearest(terminal, origin.nearest)
        elif known:
            records = counted(known, "record")
            terminal.line(f"  None of {records} has a library called {origin.name}, or one of this size.")
            terminal.line("  Which there are: skippy-patches record list")
        else:
            terminal.line(
                "  There are no records here: skippy-patches build makes one, record --save keeps it."
            )
        return
    match = min(
        origin.matches, key=lambda each: (each.kept is not found.record, bool(found.doubts(each.kept.name)))
    )
    name = "" if match.library == origin.name else f", where it is called {match.library}"
    more = len(origin.matches) - 1
    also = f" (and {counted(more, 'more record')})" if more else ""
    if found.doubts(match.kept.name):
        named = f"only named by {match.kept.name}{name}, which cannot be trusted{also}"
        terminal.line(f"{origin.file}: {named}", style="bold red")
    else:
        name += ", its run path taken out since, as cmake --install does" if match.is_installed else ""
        terminal.line(f"{origin.file}: made by {match.kept.name}{name}{also}")


def _print_nearest(terminal: Terminal, nearest: Nearest) -> None:
    terminal.line(f"  nearest: {nearest.library} of {nearest.kept.name}, {counted(nearest.size, 'byte')}")
    for remark in nearest.remarks:
        terminal.line(f"  - {remark}")


def _about(since: Since, patches: int) -> str:
    """The queue in a line: still that one, or how many things changed since the build."""
    if not since.differences:
        return f"still the same {counted(patches, 'patch', 'patches')} on this pin"
    things = counted(len(since.differences), "change")
    bytes_ = (
        "bytes, order and pin are the same" if since.is_same_content else "other libraries would come out"
    )
    return f"{things} since that build; {bytes_}"


def _print_evidence(terminal: Terminal, found: Evidence) -> None:
    heads = [(each.outcome, each.part, each.name) for each in found.checks]
    widths = [max(len(printable(text)) for text in column) for column in zip(*heads, strict=True)]
    for each in found.checks:
        _print_check(terminal, each, widths)
    if found.since.differences:
        terminal.line("")
        terminal.line("From this evidence to the project as it is:", style="bold")
        print_differences(terminal, found.since.differences)
    terminal.line("")
    terminal.line(
        f"{found.claim.source}: {_summary(found.checks)}", style="" if found.is_match else "bold red"
    )


def _summary(checks: Sequence[Checked]) -> str:
    """How many rows of each outcome."""
    outcomes = [each.outcome for each in checks]
    same, differ, unknown = (outcomes.count(outcome) for outcome in ("same", "differs", "unknown"))
    hint = " (with --strict that fails, too)" if unknown else ""
    verb = "differs" if differ == 1 else "differ"
    return f"{same} the same, {differ} {verb}, {unknown} cannot be checked here{hint}"


def _print_check(terminal: Terminal, check: Checked, widths: Sequence[int]) -> None:
    from skippy_patches.evidence.difference import shortened  # noqa: PLC0415 - see verify

    values = check.recorded
    if check.outcome == "differs" and check.found:
        values = f"{check.recorded} -> {check.found}"
    texts = (check.outcome, check.part, check.name)
    head = "  ".join(f"{printable(text):<{width}}" for text, width in zip(texts, widths, strict=True))
    why = f"  ({check.why})" if check.why else ""
    terminal.line(printable(f"{head}  {shortened(values)}{why}"), style=_STYLES[check.outcome])


def _libraries_json(found: Libraries) -> dict[str, Any]:
    return {
        "kind": "libraries",
        "is_match": found.is_match,
        "is_mixed": found.is_mixed,
        "record": found.record and {"name": found.record.name, "file": str(found.record.file)},
        "checks": _rows(found.checks[found.record.name]) if found.record else [],
        "files": [_origin_json(each, found) for each in found.origins],
        "missing": list(found.missing),
        "queue": found.since and _since_json(found.since),
        "records": found.known,
        "broken": [{"file": str(each.file), "what": each.what} for each in found.broken],
    }


def _origin_json(origin: Origin, found: Libraries) -> dict[str, Any]:
    nearest = origin.nearest
    return {
        "file": str(origin.file),
        "name": origin.name,
        "sha256": origin.sha256,
        "size": origin.size,
        "matches": [
            {
                "record": each.kept.name,
                "library": each.library,
                "is_installed": each.is_installed,
                "is_trusted": not found.doubts(each.kept.name),
            }
            for each in origin.matches
        ],
        "nearest": nearest
        and {
            "record": nearest.kept.name,
            "library": nearest.library,
            "sha256": nearest.sha256,
            "size": nearest.size,
            "remarks": list(nearest.remarks),
        },
    }


def _since_json(since: Since) -> dict[str, Any]:
    return {
        "is_same": not since.differences,
        "is_same_content": since.is_same_content,
        "differences": differences_json(since.differences),
    }


def _rows(checks: Sequence[Checked]) -> list[dict[str, Any]]:
    """As docs/json.md has them."""
    import dataclasses  # noqa: PLC0415 - text does not need it

    return [dataclasses.asdict(each) for each in checks]


def _evidence_json(found: Evidence) -> dict[str, Any]:
    return {
        "kind": found.claim.kind,
        "is_match": found.is_match,
        "file": str(found.claim.source),
        "recipe": found.claim.recipe,
        "checks": _rows(found.checks),
        "queue": _since_json(found.since),
    }
