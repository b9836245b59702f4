"""What `test` hands on: one row a test, and which bytes they were run on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from skippy_patches.build import stored
from skippy_patches.build.errors import StoredFileBroken
from skippy_patches.build.recipe import Exclusion
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from pathlib import Path

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
TIMEOUT = "timeout"
NOT_RUN = "not-run"
FAILURES = frozenset({FAILED, TIMEOUT, NOT_RUN})


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestRow:
    """One test. status: one of the words above. reason: why it is not simply passed. output: its end.

    is_required: the recipe wants it to run. has_skipped: it did nothing; then a required test has failed.
    """

    __test__: ClassVar[bool] = False  # not a test class, whatever pytest thinks of the name

    name: str
    status: str
    seconds: float
    reason: str
    output: str
    is_required: bool = False
    has_skipped: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counts:
    """Tests that did something, passed or failed, and tests that did nothing."""

    run: int
    passed: int
    failed: int
    skipped: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestReport:
    """A run of ctest on one build.

    libraries: name -> sha256 of what the tests were run on. pattern: the user's -R, or None when it left no
    test of the recipe out. excluded: the recipe's exclusions that are tests of this build. unknown: names in
    the recipe that are no test. started, finished: UTC, ISO 8601.
    """

    __test__: ClassVar[bool] = False

    recipe: str
    commit: ObjectId
    libraries: tuple[tuple[str, str], ...]
    pattern: str | None
    rows: tuple[TestRow, ...]
    excluded: tuple[Exclusion, ...]
    unknown: tuple[str, ...]
    started: str
    finished: str

    @property
    def passed(self) -> int:
        """Tests that ran and passed."""
        return sum(row.status == PASSED for row in self.rows)

    @property
    def failed(self) -> int:
        """Tests that failed, timed out or could not start."""
        return len(self.failures)

    @property
    def skipped(self) -> int:
        """Tests that did nothing, by their own account."""
        return sum(row.status == SKIPPED for row in self.rows)

    @property
    def run(self) -> int:
        """Tests with a result: passed and failed."""
        return self.passed + self.failed

    @property
    def failures(self) -> tuple[TestRow, ...]:
        """The rows that fail the run."""
        return tuple(row for row in self.rows if row.status in FAILURES)

    @property
    def required(self) -> tuple[TestRow, ...]:
        """The rows of the tests that the recipe requires: those of the queue itself."""
        return tuple(row for row in self.rows if row.is_required)

    @property
    def required_counts(self) -> Counts:
        """Of the required tests alone. One that skipped fails the run, and is counted as what it was."""
        rows = [row for row in self.required if not row.has_skipped]
        passed = sum(row.status == PASSED for row in rows)
        skipped = len(self.required) - len(rows)
        return Counts(run=len(rows), passed=passed, failed=len(rows) - passed, skipped=skipped)


def save(report: TestReport, file: Path) -> None:
    """Write `tests.json` or `required.json` (see Layout)."""
    content = dataclasses.asdict(report) | {"libraries": dict(report.libraries)}
    stored.write(file, content)


def load(file: Path) -> TestReport | None:
    """Read what `save` wrote; None when no such run has been made. Raises StoredFileBroken (3)."""
    mend = f"Test again: skippy-patches test --recipe {file.parent.name}"
    content = stored.read(file, mend)
    if content is None:
        return None
    try:
        return _report(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoredFileBroken(file, f"{type(error).__name__} at {error}", mend) from error


def _report(content: dict[str, Any]) -> TestReport:
    return TestReport(
        recipe=content["recipe"],
        commit=ObjectId(content["commit"]),
        libraries=tuple(content["libraries"].items()),
        pattern=content["pattern"],
        rows=tuple(TestRow(**row) for row in content["rows"]),
        excluded=tuple(Exclusion(**entry) for entry in content["excluded"]),
        unknown=tuple(content["unknown"]),
        started=content["started"],
        finished=content["finished"],
    )
