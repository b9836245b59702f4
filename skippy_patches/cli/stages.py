"""The stages as the commands call them: each reads what it needs and hands its value on."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

from skippy_patches import config
from skippy_patches.apply import stage, stamp
from skippy_patches.apply.errors import ConfigurationChanged
from skippy_patches.apply.stage import Request
from skippy_patches.build import cmake, ctest, cudasetup, recipe, report, reproduced, toolchain
from skippy_patches.build import each as each_prefix
from skippy_patches.build import launcher as launchers
from skippy_patches.build.doctor import examination
from skippy_patches.build.doctor.host import Host
from skippy_patches.build.layout import Layout
from skippy_patches.cli import console
from skippy_patches.evidence import record
from skippy_patches.files import make_generated_folder
from skippy_patches.journal import rewrite
from skippy_patches.queue import reader
from skippy_patches.queue.findings import counted
from skippy_patches.upstream import pin as pins
from skippy_patches.upstream.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.result import Applied
    from skippy_patches.apply.stage import Outcome
    from skippy_patches.build.doctor.case import Asked
    from skippy_patches.build.doctor.report import Report as DoctorReport
    from skippy_patches.build.engine import Launcher
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.reproduce import Reproduction
    from skippy_patches.build.result import Built
    from skippy_patches.build.toolchain import Toolchain
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


def build(session: Session, project: Project, name: str, asked: Asked) -> tuple[Applied, Built]:
    """Apply the whole queue, build recipe `name`, and write the record of it."""
    _, applied, built = _build(session, project, name, asked)
    return applied, built


def _build(session: Session, project: Project, name: str, asked: Asked) -> tuple[Recipe, Applied, Built]:
    """The same; and the recipe as this machine builds it."""
    layout = Layout.of(project.state, name)
    with session.terminal.reporter() as reporter:
        front = _look(project, name, asked, reporter)
        chosen, tools = _equipped(project, name, layout, front, asked.architectures, reporter)
    applied = apply(session, project, Request()).applied
    with session.terminal.reporter() as reporter:
        built = cmake.build(
            applied, chosen, tools, layout, launcher=front, jobs=asked.jobs, reporter=reporter
        )
        record.check_source(applied, name)
        _record(applied, built, layout, reporter)
    return chosen, applied, built


def reproduce(session: Session, project: Project, of: tuple[Applied, Built], asked: Asked) -> Reproduction:
    """Build the same once more, elsewhere, compare, and record that it is the same.

    It may differ: `check` of the answer raises then. What it takes was looked for before the first build,
    which was asked for twice.
    """
    from skippy_patches.build import reproduce as second  # noqa: PLC0415 - hardly ever asked for

    applied, built = of
    layout = Layout.of(project.state, built.recipe)
    with session.terminal.reporter() as reporter:
        done = second.compare(
            project,
            (pins.read(project.upstream), reader.load(project)),
            built,
            lambda there, layout: _equipped(there, built.recipe, layout, None, asked.architectures, reporter),
            jobs=asked.jobs,
            cache=Cache.default(),
            reporter=reporter,
        )
        reproduced.save(done, layout)
        _record(applied, built, layout, reporter)
    return done


def examine(
    project: Project, name: str, asked: Asked, *, patience: float, is_apart: bool = False
) -> DoctorReport:
    """What doctor finds about a build. is_apart: it takes place elsewhere than in the project's folders.

    What is asked for and means nothing anywhere is raised as it is: BadLauncher, UnknownRecipe, NotForCuda,
    NotAnArchitecture (2).
    """
    launchers.check_name(asked.launcher)
    chosen = recipe.load(project.recipes, name)
    cudasetup.check_asked(chosen, asked.architectures)
    asked = dataclasses.replace(asked, cache=project.cache)
    where = None if is_apart else project
    return examination.examine(chosen, where, Host.current(), asked, patience=patience)


def _look(
    project: Project, name: str, asked: Asked, reporter: Reporter, *, is_apart: bool = False
) -> Launcher | None:
    """Say what may go wrong, and raise what surely does (NotReady, 6), before anything is fetched.

    Returns the launcher, so that the servers behind it are asked once.
    """
    report = examine(project, name, asked, patience=examination.PATIENCE, is_apart=is_apart)
    report.check()
    for finding in report.warnings:
        reporter.step(f"warning: {finding.what} [{finding.code}]")
        for line in finding.details:
            reporter.detail(f"    {line}")
    if report.launcher is None:  # that was not done in time
        return launchers.find(asked.launcher, project.cache, reporter=reporter)
    return report.launcher.launcher


def _equipped(
    project: Project,
    name: str,
    layout: Layout,
    launcher: Launcher | None,
    cuda_arch: str,
    reporter: Reporter,
) -> tuple[Recipe, Toolchain]:
    """The recipe as this machine builds it, and with what: mistakes are found before anything is fetched."""
    chosen = recipe.load(project.recipes, name)
    tools = toolchain.find(launcher)
    make_generated_folder(project.state)
    return cudasetup.equip(chosen, tools, layout, architectures=cuda_arch, reporter=reporter)


def test(session: Session, project: Project, name: str, asked: Asked, *, pattern: str | None) -> TestReport:
    """Build first, so that what is tested is what the queue says; then run ctest and record it.

    The report may hold failures: `ctest.check` raises for them once they are shown.
    """
    ctest.check_pattern(pattern)
    chosen, applied, built = _build(session, project, name, asked)
    layout = Layout.of(project.state, name)
    with session.terminal.reporter() as reporter:
        tested = ctest.run(built, chosen, layout, pattern=pattern, reporter=reporter)
        _record(applied, built, layout, reporter)
    return tested


def question(
    project: Project, name: str, asked: Asked, *, pattern: str | None, reporter: Reporter
) -> each_prefix.Question:
    """What `test --each` asks at every prefix. What is misspelt fails before anything is built."""
    ctest.check_pattern(pattern)
    layout = each_prefix.layout(project, name)
    front = _look(project, name, asked, reporter, is_apart=True)
    chosen, tools = _equipped(project, name, layout, front, asked.architectures, reporter)
    return each_prefix.Question(
        recipe=chosen, toolchain=tools, launcher=front, pattern=pattern, jobs=asked.jobs
    )


def each(project: Project, asked: each_prefix.Question, reporter: Reporter) -> Iterator[each_prefix.Prefix]:
    """Every prefix of the queue of now, up to the first that breaks."""
    pin, patches = pins.read(project.upstream), reader.load(project)
    yield from each_prefix.run(project, pin, patches, asked, cache=Cache.default(), reporter=reporter)


def record_of_last_build(project: Project, name: str) -> Record:
    """The record that the last build of recipe `name` left, checked against the libraries as they are now."""
    layout = Layout.of(project.state, name)
    if not layout.built.exists():
        recipe.load(project.recipes, name)  # a misspelt name is told as that
    return record.of_last_build(layout)


def _record(applied: Applied, built: Built, layout: Layout, reporter: Reporter) -> Record:
    results = record.Results(
        whole=report.load(layout.tests),
        required=report.load(layout.required),
        reproduced=reproduced.load(layout),
    )
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
