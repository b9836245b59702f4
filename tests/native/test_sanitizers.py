"""The queue's tests are clean under the sanitizers, and a planted bug makes them fail. `pytest -m e2e`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.mutant import Bench, Mutation, project_around

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
LOOP = """\
        for (size_t i = 0; i < size; ++i) {
            state = (state ^ bytes[i])*0x00000100000001b3ull;
"""
# Neither changes a result, so that without a sanitizer every test passes with them.
BUGS = {
    "asan": ("volatile uint8_t beyond = bytes[size]; (void) beyond;", "AddressSanitizer: "),
    "ubsan": (
        "volatile int most = std::numeric_limits<int>::max(); most = most + 1;",
        "runtime error: signed",
    ),
}


@pytest.fixture(scope="module", params=sorted(BUGS))
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The queue, applied, for one of the recipes."""
    return Bench.open(project_around(ROOT), tmp_path_factory.mktemp(request.param), request.param)


def test_the_tests_of_the_queue_are_clean(bench: Bench) -> None:
    done = bench.results("^test-skippy-")

    assert done.required
    assert [row.name for row in done.failures] == []
    assert (done.passed, done.skipped) == (len(done.required), 0)


def test_a_planted_bug_fails(bench: Bench) -> None:
    line, says = BUGS[bench.recipe.name]
    bug = Mutation(
        name="planted",
        file="src/llama-kv-page.cpp",
        old=LOOP,
        new=f"        {line}\n{LOOP}",
        why="It is what the recipe is for.",
        test="test-skippy-kv-page-abi",
    )
    with bench.mutated(bug):
        done = bench.results(f"^{bug.test}$")

    assert [row.name for row in done.failures] == [bug.test]
    assert says in bench.layout.test_log.read_text("utf-8", "replace")
