"""What doctor stops a build with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.build.doctor.finding import Finding


class NotReady(BuildError):
    """The machine lacks what the recipe needs. Says all of it, each with its cure."""

    def __init__(self, recipe: str, findings: Sequence[Finding]) -> None:
        count = "1 thing is" if len(findings) == 1 else f"{len(findings)} things are"
        super().__init__(
            f"Recipe '{recipe}' cannot be built on this machine: {count} missing or wrong.",
            why="\n".join(line for finding in findings for line in _lines(finding)),
            mend=f"For the same and more, warnings too: skippy-patches doctor --recipe {recipe}",
        )
        self.findings = tuple(findings)
        known = {finding.error.exit_status if finding.error else self.exit_status for finding in findings}
        if len(known) == 1:
            self.exit_status = known.pop()  # type: ignore[misc]  # a mistake in the recipe is no lack of the machine


def _lines(finding: Finding) -> Iterator[str]:
    """The fact, and indented below it why it matters and what to do."""
    yield f"- {finding.what} [{finding.code}]"
    yield from (f"    {line}" for line in finding.details)
