"""Every fault of mutations.py is found by the test that it names. Minutes: `pytest -m e2e`."""

from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches.build.report import FAILED, PASSED, TIMEOUT
from tests.native.mutant import Bench, Mutation, project_around
from tests.native.mutations import MUTATIONS

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The queue, applied."""
    return Bench.open(project_around(ROOT), tmp_path_factory.mktemp("mutants"))


def outcome(bench: Bench, test: str) -> str:
    (row,) = bench.results(f"^{test}$").rows
    assert not row.has_skipped, row.reason
    return row.status


@pytest.mark.parametrize("test", sorted({mutation.test for mutation in MUTATIONS}))
def test_without_a_fault_the_test_passes(bench: Bench, test: str) -> None:
    assert outcome(bench, test) == PASSED


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_fault_is_found(bench: Bench, mutation: Mutation) -> None:
    """An endless loop is a fault that was found, too; an edit that does not compile is a broken edit."""
    with bench.mutated(mutation):
        found = outcome(bench, mutation.test)
    assert found in {FAILED, TIMEOUT}, f"{mutation.test} passes with this fault. {mutation.why}"


def test_afterwards_everything_passes_again(bench: Bench) -> None:
    """So it was the edits that made the tests fail, and not what was left of one."""
    for test in sorted({mutation.test for mutation in MUTATIONS}):
        assert outcome(bench, test) == PASSED
