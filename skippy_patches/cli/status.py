"""`skippy-patches status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from skippy_patches.cli.options import SCHEMA_VERSION, Format, FormatOption
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.look import View
    from skippy_patches.cli.console import Terminal
    from skippy_patches.config import Project
    from skippy_patches.evidence.record import Record
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.patch import Patch

_IN_WORDS = {
    "missing": "not there yet: skippy-patches apply makes it",
    "interrupted": "an apply was killed while it moved the work tree: the next one finishes that",
    "editing": "an edit of {file} is stopped here: skippy-patches continue, or edit --abort",
    "foreign": "holds work that is not in the queue",
    "outdated": "holds another queue, or a part of this one: skippy-patches apply",
    "applied": "holds this queue",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Show how queue, checkout, builds and evidence stand to each other.",
        epilog="Example: skippy-patches status --format json > status.json  # for a program",
    )(status)


def status(context: typer.Context, format_: FormatOption = Format.TEXT) -> None:
    from skippy_patches.apply.look import look  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.evidence import record  # noqa: PLC0415
    from skippy_patches.queue import reader  # noqa: PLC0415
    from skippy_patches.queue.check import check_project  # noqa: PLC0415
    from skippy_patches.queue.findings import summarise  # noqa: PLC0415
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    session = Session.of(context)
    project = session.project()
    snapshot = reader.read_folder(project)
    patches = ordered(snapshot)
    findings = check_project(snapshot, project)
    view = look(project, patches)
    builds = [_build(each, view) for each in record.existing(project.state)]
    facts = _as_json(project, patches, findings, view, builds)
    if format_ is Format.JSON:
        session.terminal.json(facts)
    else:
        _print(session.terminal, facts, summarise(findings, len(patches)))


def _as_json(
    project: Project,
    patches: Sequence[Patch],
    findings: Sequence[Finding],
    view: View,
    builds: list[dict[str, Any]],
) -> dict[str, Any]:
    from skippy_patches.queue.patch import digest  # noqa: PLC0415

    errors = sum(finding.is_error for finding in findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "upstream": {"tag": project.upstream.tag, "commit": project.upstream.commit},
        "queue": {
            "patches": len(patches),
            "digest": digest(patches),
            "errors": errors,
            "warnings": len(findings) - errors,
        },
        "checkout": {
            "path": str(project.checkout),
            "state": view.state,
            "commit": view.head,
            "foreign": list(view.foreign),
            "editing": _stopped(view),
        },
        "builds": builds,
    }


def _stopped(view: View) -> dict[str, Any] | None:
    """The edit that is stopped: at which file, and whether a patch behind it is in conflict."""
    stopped = view.stopped
    return {"file": stopped.patch, "conflict": stopped.picked is not None} if stopped else None


def _build(made: Record, view: View) -> dict[str, Any]:
    """One build. current: it is of the commit that the queue gives now."""
    tests, required = made.content["tests"], made.content.get("required_tests")
    commit = made.content["patched"]["commit"]
    return {
        "recipe": made.recipe,
        "commit": commit,
        "current": view.state == "applied" and commit == view.head,
        "tests": _counts(tests),
        "required_tests": _counts(required),
    }


def _counts(tests: dict[str, Any] | None) -> dict[str, Any] | None:
    return {word: tests[word] for word in ("run", "passed", "failed", "skipped")} if tests else None


def _print(terminal: Terminal, facts: dict[str, Any], queue: str) -> None:
    checkout = facts["checkout"]
    terminal.facts(
        [
            ("pin", f"{facts['upstream']['tag']} {facts['upstream']['commit']}".strip()),
            ("queue", queue),
            ("checkout", f"{checkout['path']}: {_state(checkout)}"),
            *(("", line) for line in checkout["foreign"]),
            *((f"build {build['recipe']}", _about(build)) for build in facts["builds"]),
        ]
    )


def _state(checkout: dict[str, Any]) -> str:
    return _IN_WORDS[checkout["state"]].format(**(checkout["editing"] or {}))


def _about(build: dict[str, Any]) -> str:
    tests = build["tests"] or build["required_tests"]
    which = "tests" if build["tests"] else "required tests"
    tested = f"{tests['passed']} of {tests['run']} {which} passed" if tests else "not tested"
    age = "of this queue" if build["current"] else "of another commit: skippy-patches build"
    return f"{build['commit'][:12]}, {age}, {tested}"
