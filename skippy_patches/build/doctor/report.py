"""What an examination found about one recipe."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from skippy_patches.build.doctor.errors import NotReady
from skippy_patches.build.doctor.finding import WARNING

if TYPE_CHECKING:
    from skippy_patches.build.doctor.finding import Finding
    from skippy_patches.build.launcher import Choice
    from skippy_patches.build.tool import Tool
    from skippy_patches.errors import SkippyError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """findings: the worst first, else in the order of the checks. tools: role and tool of those found.

    not_needed: the requirements that the recipe does not have, so that nothing was looked for. launcher: what
    was chosen; None: that was not done in time.
    """

    recipe: str
    requires: tuple[str, ...]
    not_needed: tuple[str, ...]
    findings: tuple[Finding, ...]
    tools: tuple[tuple[str, Tool], ...]
    launcher: Choice | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Those that stop the build."""
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Those that a build tells."""
        return tuple(finding for finding in self.findings if finding.severity == WARNING)

    @property
    def can_build(self) -> bool:
        """Whether nothing stops it, as far as can be told."""
        return not self.errors

    @property
    def exit_status(self) -> int:
        """How a build would end because of it; 0: it can be built."""
        error = self._error()
        return error.exit_status if error else 0

    def check(self) -> None:
        """Raise NotReady (6) with every error. A single one that a stage has words for is raised as that."""
        if error := self._error():
            raise error

    def _error(self) -> SkippyError | None:
        errors = self.errors
        if len(errors) == 1 and errors[0].error is not None:
            return errors[0].error
        return NotReady(self.recipe, errors) if errors else None

    @property
    def remote(self) -> str:
        """The kind of the store that a build would share objects through ("redis", ...); empty: none."""
        chosen = self.launcher.launcher if self.launcher else None
        return chosen.remote if chosen else ""

    def as_json(self) -> dict[str, Any]:
        """One object of `doctor --format json`."""
        return {
            "recipe": self.recipe,
            "can_build": self.can_build,
            "requires": list(self.requires),
            "not_needed": list(self.not_needed),
            "findings": [finding.as_json() for finding in self.findings],
            "tools": [
                {"role": role, "name": tool.name, "version": tool.version, "path": str(tool.path)}
                for role, tool in self.tools
            ],
        }
