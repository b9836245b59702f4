from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import ctest, report
from skippy_patches.build.errors import BadPattern, NotBuilt, NoTestsRan, TestsFailed, TestsStopped
from skippy_patches.build.recipe import Exclusion

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.report import TestReport
    from tests.build.conftest import Finished, Listener


@pytest.fixture
def run(finished: Finished, recipe: Recipe, tmp_path: Path) -> Callable[..., TestReport]:
    """Run tests of the finished build, with a folder of its own for the results."""

    def call(pattern: str | None = None, **plan: object) -> TestReport:
        changed = dataclasses.replace(recipe.tests, **plan)  # type: ignore[arg-type]
        layout = dataclasses.replace(finished.bench.layout, folder=tmp_path)
        return ctest.run(finished.built, dataclasses.replace(recipe, tests=changed), layout, pattern=pattern)

    return call


def statuses(done: TestReport) -> dict[str, str]:
    return {row.name: row.status for row in done.rows}


def test_the_recipes_tests(finished: Finished, recipe: Recipe, tmp_path: Path, listener: Listener) -> None:
    layout = dataclasses.replace(finished.bench.layout, folder=tmp_path)

    done = ctest.run(finished.built, recipe, layout, reporter=listener)

    assert statuses(done) == {
        "test-pass": "passed",
        "test-cases": "passed",
        "test-home": "passed",
        "test-no-model": "skipped",
        "test-skip-code": "skipped",
        "test-off": "skipped",
        "test-odd+name[1].(x)": "passed",
    }
    assert (done.run, done.passed, done.failed, done.skipped) == (4, 4, 0, 3)
    reasons = {row.name: row.reason for row in done.rows if row.status == "skipped"}
    assert reasons["test-no-model"].startswith("WARNING: No model file provided.")
    assert reasons["test-skip-code"] == "no GPU here"
    assert reasons["test-off"] == "disabled in its CMakeLists.txt"
    assert [entry.name for entry in done.excluded] == ["test-fail", "test-slow", "test-gone"]
    assert listener.advances[-1] == ("Testing", 7, 7)
    assert report.load(layout.tests) == done
    ctest.check(done, layout)


def test_failures(finished: Finished, run: Callable[..., TestReport]) -> None:
    done = run("fail|slow|gone|pass", exclude=())

    rows = {row.name: row for row in done.rows}
    assert {name: row.status for name, row in rows.items()} == {
        "test-pass": "passed",
        "test-fail": "failed",
        "test-slow": "timeout",
        "test-gone": "not-run",
    }
    assert rows["test-fail"].output.splitlines()[-1] == "wrong answer"
    assert len(rows["test-fail"].output.splitlines()) == 40
    assert rows["test-gone"].reason == "Unable to find executable"
    assert (done.run, done.failed) == (4, 3)
    with pytest.raises(TestsFailed, match=r"3 tests failed: test-fail \(failed\), test-slow") as caught:
        ctest.check(done, finished.bench.layout)
    assert caught.value.exit_status == 7
    assert "wrong answer" in caught.value.why
    assert str(finished.bench.layout.test_log) in caught.value.mend


def test_the_log_holds_the_output_of_every_test(run: Callable[..., TestReport], tmp_path: Path) -> None:
    run("cases")

    assert "3 of 4 passed, 1 skipped" in (tmp_path / "test.log").read_text()


def test_a_run_of_some_tests_leaves_the_whole_result_alone(
    run: Callable[..., TestReport], tmp_path: Path
) -> None:
    whole = run()
    before = (tmp_path / "tests.json").read_bytes()
    part = run("pass")

    assert (whole.pattern, part.pattern) == (None, "pass")
    assert (tmp_path / "tests.json").read_bytes() == before


@pytest.mark.case(28)
@pytest.mark.parametrize(
    ("pattern", "plan", "why"),
    [
        ("nothing-like-it", {}, "No test's name matches 'nothing-like-it'."),
        (None, {"include": "^nothing"}, "matches no test"),
        ("^test-fail$", {}, "test-fail: provokes a failure"),
    ],
)
def test_nothing_to_run_is_a_failure(
    run: Callable[..., TestReport], pattern: str | None, plan: dict[str, object], why: str
) -> None:
    with pytest.raises(NoTestsRan, match="No test ran") as caught:
        run(pattern, **plan)

    assert why in caught.value.why
    assert caught.value.exit_status == 7


def test_a_near_miss_is_suggested(run: Callable[..., TestReport]) -> None:
    with pytest.raises(NoTestsRan) as caught:
        run("test-casse")

    assert caught.value.mend == "Did you mean 'test-cases'?"


@pytest.mark.case(28)
def test_all_skipped_is_nothing_run(finished: Finished, run: Callable[..., TestReport]) -> None:
    done = run("no-model|skip-code")

    assert (done.run, done.skipped) == (0, 2)
    with pytest.raises(NoTestsRan, match="No test ran") as caught:
        ctest.check(done, finished.bench.layout)
    assert "test-skip-code: no GPU here" in caught.value.why


def test_a_required_test_must_not_skip(finished: Finished, run: Callable[..., TestReport]) -> None:
    done = run("pass|skip-code", require=("test-skip-*",))

    assert statuses(done)["test-skip-code"] == "failed"
    with pytest.raises(TestsFailed, match="the recipe requires it, but it skipped: no GPU here"):
        ctest.check(done, finished.bench.layout)


def test_required_tests_are_counted_for_themselves(run: Callable[..., TestReport]) -> None:
    done = run("pass|cases|skip-code", require=("test-pass", "test-skip-*"))

    assert [row.name for row in done.required] == ["test-pass", "test-skip-code"]
    counts = done.required_counts
    assert (counts.run, counts.passed, counts.failed, counts.skipped) == (1, 1, 0, 1)
    assert (done.run, done.failed) == (3, 1)


@pytest.mark.parametrize(
    ("pattern", "whole", "required"),
    [
        (None, True, True),
        ("^test-", True, True),
        ("pass|skip-code", False, True),
        ("pass|cases", False, False),
    ],
)
def test_what_was_run_decides_what_is_kept(
    run: Callable[..., TestReport], tmp_path: Path, pattern: str | None, whole: bool, required: bool
) -> None:
    done = run(pattern, require=("test-pass", "test-skip-*"))

    assert (tmp_path / "tests.json").is_file() == whole
    assert (tmp_path / "required.json").is_file() == required
    assert (done.pattern is None) == whole


def test_nothing_is_kept_of_required_tests_when_there_is_none(
    run: Callable[..., TestReport], tmp_path: Path
) -> None:
    run(require=("test-skippy-*",))

    assert (tmp_path / "tests.json").is_file()
    assert not (tmp_path / "required.json").exists()


def test_an_exclusion_that_is_no_test_is_told(
    finished: Finished, recipe: Recipe, tmp_path: Path, listener: Listener
) -> None:
    layout = dataclasses.replace(finished.bench.layout, folder=tmp_path)
    plan = dataclasses.replace(recipe.tests, exclude=(Exclusion(name="test-homes", reason="misspelt"),))

    done = ctest.run(
        finished.built, dataclasses.replace(recipe, tests=plan), layout, pattern="pass", reporter=listener
    )

    assert done.unknown == ("test-homes",)
    assert done.excluded == ()
    said = "names test-homes, which is no test of this build. Did you mean 'test-home'?"
    assert any(said in step for step in listener.steps)


def test_what_is_not_included_is_not_left_out_either(run: Callable[..., TestReport]) -> None:
    """A recipe that extends another one takes over exclusions of tests that it does not want at all."""
    assert [each.name for each in run(include="pass|slow").excluded] == ["test-slow"]


def test_what_a_test_needs_runs_before_it(run: Callable[..., TestReport]) -> None:
    done = run("odd", needs=(("test-odd+name[1].(x)", "test-pass"), ("test-home", "test-cases")))

    assert list(statuses(done)) == ["test-pass", "test-odd+name[1].(x)"]


def test_a_bad_pattern(run: Callable[..., TestReport]) -> None:
    with pytest.raises(BadPattern, match="not a regular expression"):
        run("test-(")


def test_libraries_that_changed_are_not_tested(finished: Finished, recipe: Recipe, tmp_path: Path) -> None:
    layout = dataclasses.replace(finished.bench.layout, folder=tmp_path)
    first = dataclasses.replace(finished.built.artifacts[0], sha256="0" * 64)
    built = dataclasses.replace(finished.built, artifacts=(first, *finished.built.artifacts[1:]))

    with pytest.raises(NotBuilt) as caught:
        ctest.run(built, recipe, layout)

    assert caught.value.why == "Changed since it was built: libllama.so."


def test_ctest_without_a_result(
    finished: Finished, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = dataclasses.replace(finished.bench.layout, folder=tmp_path)
    monkeypatch.setattr(ctest, "_command", lambda *_: ("sh", "-c", "echo out of luck; exit 9"))

    with pytest.raises(TestsStopped, match="status 9") as caught:
        ctest.run(finished.built, recipe, layout)

    assert caught.value.why == "out of luck"
