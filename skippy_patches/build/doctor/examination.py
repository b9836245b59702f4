"""Carries the checks out: side by side, within two seconds, each program started once.

Most of the time goes into waiting for programs to say their version, so the checks run in threads. One that
is not done in time is left behind and told (`check-unfinished`); what it remembers it remembers all the same.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
import time
from typing import TYPE_CHECKING

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
_THREADS = 8  # they wait for processes
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
    found = [each for task in tasks for each in task.told()]
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


@dataclasses.dataclass(kw_only=True)
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
        """What it found, or that it was left behind."""
        findings = self.findings
        if findings is None:
            findings = (
                finding.warning(
                    "check-unfinished",
                    f"Looking at {self.check.subject} was not done in time, and is left out.",
                    why="The machine is busy, or a program there does not answer.",
                    mend=f"Wait for it: skippy-patches doctor --recipe {self.case.recipe.name}",
                ),
            )
        is_left_alone = self.case.places_itself()
        for each in findings:
            surely = not is_left_alone or each.error is not None  # ... or a stage looks in the same way
            severity = each.severity if surely or not each.is_error else finding.WARNING
            yield dataclasses.replace(each, severity=severity, needed_by=self.check.needed_by)


def _carry_out(tasks: Sequence[_Task], deadline: float) -> None:
    todo: queue.SimpleQueue[_Task] = queue.SimpleQueue()
    for task in tasks:
        todo.put(task)

    def work() -> None:
        while time.monotonic() < deadline:
            try:
                task = todo.get_nowait()
            except queue.Empty:
                return
            task.run()

    # Daemons: one that is left behind does not keep the process alive.
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(_THREADS, len(tasks)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
