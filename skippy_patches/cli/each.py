"""`skippy-patches test --each`: what was found at every prefix, and how it is shown."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from skippy_patches.cli.options import SCHEMA_VERSION, Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.build.doctor.case import Asked
    from skippy_patches.build.each import Prefix
    from skippy_patches.cli.console import Terminal
    from skippy_patches.cli.session import Session
    from skippy_patches.config import Project

_STYLES = {"tested": "green", "built": "yellow", "broken": "bold red"}
_COUNTS = ("run", "passed", "failed", "skipped")


def run(
    session: Session,
    project: Project,
    recipe: str,
    asked: Asked,
    *,
    pattern: str | None,
    format_: Format,
) -> None:
    """Build and test every prefix, show them all, and raise what breaks the first that breaks."""
    from skippy_patches.build import each  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.cli import stages  # noqa: PLC0415

    prefixes: list[Prefix] = []
    with session.terminal.reporter() as reporter:
        question = stages.question(project, recipe, asked, pattern=pattern, reporter=reporter)
        for prefix in stages.each(project, question, reporter):
            reporter.step(f"{prefix.patch.name}: {_told(prefix)}")
            prefixes.append(prefix)
    if format_ is Format.JSON:
        session.terminal.json(_as_json(recipe, prefixes))
    else:
        _print(session.terminal, prefixes)
    each.check(prefixes, question, each.layout(project, recipe))


def _told(prefix: Prefix) -> str:
    words = [prefix.outcome]
    if prefix.built is not None:
        words.append(f"{prefix.built.compiled} files compiled")
    if prefix.tests is not None:
        words += [f"{getattr(prefix.tests, word)} {word}" for word in _COUNTS[1:]]
    return ", ".join(words)


def _as_json(recipe: str, prefixes: Sequence[Prefix]) -> dict[str, Any]:
    """first_broken: the file of the patch, or null."""
    broken = next((prefix.patch.name for prefix in prefixes if prefix.error), None)
    return {
        "schema_version": SCHEMA_VERSION,
        "recipe": recipe,
        "first_broken": broken,
        "prefixes": [_row(prefix) for prefix in prefixes],
    }


def _row(prefix: Prefix) -> dict[str, Any]:
    tests, error = prefix.tests, prefix.error
    return {
        "number": prefix.patch.number,
        "file": prefix.patch.name,
        "commit": prefix.applied.patched.commit if prefix.applied else None,
        "outcome": prefix.outcome,
        "compiled": prefix.built.compiled if prefix.built else None,
        "tests": {word: getattr(tests, word) for word in _COUNTS} if tests else None,
        "required": dataclasses.asdict(tests.required_counts) if tests else None,
        "error": {"exit_status": error.exit_status, "what": error.what, "why": error.why} if error else None,
    }


def _print(terminal: Terminal, prefixes: Sequence[Prefix]) -> None:
    from rich.text import Text  # noqa: PLC0415

    from skippy_patches.cli.tables import new_table  # noqa: PLC0415

    table = new_table("prefix up to", "result", "compiled", "passed", "failed", "skipped")
    for prefix in prefixes:
        tests = prefix.tests
        counts = [str(getattr(tests, word)) if tests else "" for word in _COUNTS[1:]]
        compiled = str(prefix.built.compiled) if prefix.built else ""
        outcome = Text(prefix.outcome, style=_STYLES[prefix.outcome])
        table.add_row(prefix.patch.name, outcome, compiled, *counts)
    terminal.table(table)
