"""Carries the checks out: side by side, within two seconds, each program started once.

Most of the time goes into waiting for programs to say their version, so the checks run in threads. Those that
are not done in time are left behind and told (`check-unfinished`), with the programs that do not answer.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import TYPE_CHECKING

from skippy_patches.build import ask
from skippy_patches.build.doctor import finding
from skippy_patches.build.doctor.case import LAUNCHER, TOOLKIT, Asked, Case, Memo
from skippy_patches.build.doctor.checks import CHECKS
from skippy_patches.build.doctor.report import Report
from skippy_patches.build.recipefile import REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.build.doctor.checks import Check
    from skippy_patches.build.doctor.finding import Finding
    from skippy_patches.build.doctor.host import Host
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.config import Project

PATIENCE = 2.0  # seconds, before a build
LONG_PATIENCE = 20.0  # when doctor is all that was asked for
_ROLES = ("cmake", "ninja", "c", "cxx")


def examine(
    recipe: Recipe,
    project: Project | None,
    host: Host,
    asked: Asked = Asked(),  # noqa: B008 - is frozen
    *,
    patience: float = PATIENCE,
) -> Report:
    """Look for all that the recipe needs. Raises nothing for what is missing: see Report.check."""
    case = Case(recipe=recipe, project=project, host=host, asked=asked, memo=Memo())
    tasks = [_Task(check=check, case=case) for check in CHECKS if check.is_needed_by(recipe)]
    _carry_out(tasks, time.monotonic() + patience)
    left = [task for task in tasks if task.findings is None]  # once: they go on meanwhile
    found = [each for task in tasks if task not in left for each in task.told()]
    found += _unfinished(recipe, left)
    toolkit = case.memo.known(TOOLKIT)
    tools = [(role, case.memo.known(role)) for role in _ROLES]
    tools += [("cuda", toolkit.nvcc)] if toolkit else []
    choice = case.memo.known(LAUNCHER)
    tools += [("launcher", choice.launcher.tool)] if choice and choice.launcher else []
    return Report(
        recipe=recipe.name,
        requires=recipe.requires,
        not_needed=tuple(word for word in REQUIREMENTS if word not in recipe.requires),
        findings=tuple(sorted(found, key=lambda each: finding.SEVERITIES.index(each.severity))),
        tools=tuple((role, tool) for role, tool in tools if tool is not None),
        launcher=choice,
    )


@dataclasses.dataclass(kw_only=True, eq=False)
class _Task:
    """One check of one recipe. findings: None while it is not done."""

    check: Check
    case: Case
    findings: tuple[Finding, ...] | None = None

    def run(self) -> None:
        """Never raises: a mistake of ours must not keep anybody from building."""
        try:
            self.findings = tuple(self.check.look(self.case))
        except Exception as error:
            self.findings = (
                finding.warning(
                    "check-failed",
                    f"Looking at {self.check.subject} went wrong: {type(error).__name__}: {error}",
                    why="This is a mistake of doctor's, and says nothing about the machine.",
                    mend="Please report it.",
                ),
            )

    def told(self) -> Iterator[Finding]:
        """What it found so far."""
        is_left_alone = self.case.places_itself()
        for each in self.findings or ():
            surely = not is_left_alone or each.error is not None  # ... or a stage looks in the same way
            severity = each.severity if surely or not each.is_error else finding.WARNING
            yield dataclasses.replace(each, severity=severity, needed_by=self.check.needed_by)


def _unfinished(recipe: Recipe, tasks: Sequence[_Task]) -> Iterator[Finding]:
    """One finding for all that was left behind: most often they wait for the same program."""
    if not tasks:
        return
    programs = ask.waiting()
    subjects = [task.check.subject for task in tasks]
    yield finding.warning(
        "check-unfinished",
        f"{'This was' if len(subjects) == 1 else 'These were'} not looked at in time: {', '.join(subjects)}.",
        why=f"No answer yet from: {'; '.join(programs)}" if programs else "The machine is busy.",
        mend=f"Start it by hand to see why, or wait longer: skippy-patches doctor --recipe {recipe.name}",
    )


def _carry_out(tasks: Sequence[_Task], deadline: float) -> None:
    """A thread for each: they wait for processes, and many for the same one, which must not keep others."""
    # Daemons: one that is left behind does not keep the process alive.
    threads = [threading.Thread(target=task.run, daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
