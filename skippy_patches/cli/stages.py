"""The stages as the commands call them: each reads what it needs and hands its value on."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from skippy_patches import config
from skippy_patches.apply import stage, stamp
from skippy_patches.apply.errors import ConfigurationChanged
from skippy_patches.apply.stage import Request
from skippy_patches.build import cmake, ctest, recipe, report, result, toolchain
from skippy_patches.build import each as each_prefix
from skippy_patches.build.layout import Layout
from skippy_patches.cli import console
from skippy_patches.evidence import record
from skippy_patches.journal import rewrite
from skippy_patches.queue import reader
from skippy_patches.queue.findings import counted
from skippy_patches.upstream import pin as pins
from skippy_patches.upstream.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.result import Applied
    from skippy_patches.apply.stage import Outcome
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.result import Built
    from skippy_patches.cli.session import Session
    from skippy_patches.config import Project
    from skippy_patches.evidence.record import Record
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.pin import Pin


def apply(session: Session, project: Project, request: Request) -> Outcome:
    """Queue and pin into the checkout; after a whole apply, the stamp that answers the next one."""
    inputs: str | None = None
    with session.terminal.reporter() as reporter:

        def load() -> tuple[Pin, Sequence[Patch]]:
            nonlocal inputs
            rewrite.finish_pending(project, reporter)
            before = _inputs(project)
            pin, patches = pins.read(project.upstream), reader.load(project)
            read = _inputs(project, patches)
            inputs = before if before == read else None  # else something changed while it was read
            if config.load(project.file) != project:
                raise ConfigurationChanged(project.file)
            return pin, patches

        outcome = stage.apply(project, load, request, cache=Cache.default(), reporter=reporter)
    if request.to is None and outcome.fingerprint and inputs and inputs == _inputs(project):
        _write_stamp(project, outcome.applied, inputs, outcome.fingerprint)
    return outcome


def build(
    session: Session, project: Project, name: str, *, launcher: str, jobs: int | None
) -> tuple[Applied, Built]:
    """Apply the whole queue, build recipe `name`, and write the record of it."""
    chosen = recipe.load(project.recipes, name)  # a misspelt recipe fails before anything is fetched
    tools = toolchain.find(launcher)
    applied = apply(session, project, Request()).applied
    layout = Layout.of(project.state, name)
    with session.terminal.reporter() as reporter:
        built = cmake.build(applied, chosen, tools, layout, jobs=jobs, reporter=reporter)
        _record(applied, built, layout, reporter)
    return applied, built


def test(
    session: Session,
    project: Project,
    name: str,
    *,
    launcher: str,
    jobs: int | None,
    pattern: str | None,
) -> TestReport:
    """Build first, so that what is tested is what the queue says; then run ctest and record it.

    The report may hold failures: `ctest.check` raises for them once they are shown.
    """
    applied, built = build(session, project, name, launcher=launcher, jobs=jobs)
    layout = Layout.of(project.state, name)
    with session.terminal.reporter() as reporter:
        chosen = recipe.load(project.recipes, name)
        tested = ctest.run(built, chosen, layout, pattern=pattern, reporter=reporter)
        _record(applied, built, layout, reporter)
    return tested


def question(
    project: Project, name: str, *, launcher: str, jobs: int | None, pattern: str | None
) -> each_prefix.Question:
    """What `test --each` asks at every prefix. What is misspelt fails before anything is built."""
    ctest.check_pattern(pattern)
    return each_prefix.Question(
        recipe=recipe.load(project.recipes, name),
        toolchain=toolchain.find(launcher),
        pattern=pattern,
        jobs=jobs,
    )


def each(project: Project, asked: each_prefix.Question, reporter: Reporter) -> Iterator[each_prefix.Prefix]:
    """Every prefix of the queue of now, up to the first that breaks."""
    pin, patches = pins.read(project.upstream), reader.load(project)
    yield from each_prefix.run(project, pin, patches, asked, cache=Cache.default(), reporter=reporter)


def record_again(session: Session, project: Project, name: str) -> Record:
    """The record of the last build, made again from what the stages left, and checked against the files."""
    recipe.load(project.recipes, name)
    layout = Layout.of(project.state, name)
    built = result.load(layout)
    applied = apply(session, project, Request()).applied
    with session.terminal.reporter() as reporter:
        return _record(applied, built, layout, reporter)


def _record(applied: Applied, built: Built, layout: Layout, reporter: Reporter) -> Record:
    results = record.Results(whole=report.load(layout.tests), required=report.load(layout.required))
    made = record.make(applied, built, results, reporter=reporter)
    record.write(made, layout)
    return made


def up_to_date(applied: Applied) -> str:
    """The line that says that there was nothing to do."""
    return f"Up to date: {described(applied)}"


def described(applied: Applied) -> str:
    """The result of an apply in a line."""
    on = applied.upstream_tag or applied.upstream.commit.short
    return f"{counted(len(applied.patches), 'patch', 'patches')} on {on}, commit {applied.patched.commit}"


def as_json(applied: Applied, saved: str | None) -> dict[str, object]:
    """What `apply --format json` prints."""
    return {**applied.as_json(), "saved": saved}


def _inputs(project: Project, patches: Sequence[Patch] = ()) -> str | None:
    """The digest of everything that goes into an apply; None when some of it cannot be read.

    patches: those that were read, in place of what lies there now.
    """
    known = {f"{project.root}/{patch.path}": patch.content for patch in patches}
    try:
        return stamp.inputs(str(project.root), os.environ, _watched(project), known)
    except (OSError, ValueError):
        return None


def _watched(project: Project) -> list[str]:
    upstream = project.upstream
    places = (project.file, upstream.commit_file, upstream.commit_object, *project.queue)
    return [str(each) for each in places if each]


def _write_stamp(project: Project, applied: Applied, inputs: str, fingerprint: str) -> None:
    whole = {**as_json(applied, None), "reused": len(applied.patches)}
    with contextlib.suppress(OSError):  # a stamp only saves time
        stamp.write(
            str(project.root),
            inputs=inputs,
            checkout=str(applied.checkout),
            watched=_watched(project),
            fingerprint=fingerprint,
            printed=(up_to_date(applied), console.json_text(whole)),
        )
