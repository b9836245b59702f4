"""Runs the tests that the recipe names, one after the other, on the libraries that were built."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import artifacts, environment, junit, mount, process, report
from skippy_patches.build.errors import (
    BadPattern,
    NotBuilt,
    NoTestsRan,
    TestsFailed,
    TestsNotListed,
    TestsStopped,
)
from skippy_patches.build.report import NOT_RUN, TestReport, TestRow
from skippy_patches.build.result import now
from skippy_patches.progress import Silent
from skippy_patches.yamlfile import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.build.layout import Layout
    from skippy_patches.build.mount import Place
    from skippy_patches.build.recipe import Exclusion, Recipe
    from skippy_patches.build.result import Built
    from skippy_patches.progress import Reporter

LABEL = "Testing"
OUTPUT_SIZE = 1 << 18  # bytes of each test's output that are looked at; the middle of more is left out
BUILD = "{build}"  # in the values of the recipe's environment: cmake's folder
_DONE = re.compile(r"\s*(\d+)/(\d+) Test +#\d+: ")
_SPECIAL = re.compile(r"([.\[\]^$*+?()|\\])")  # CMake's regular expressions, string(REGEX)


def run(
    built: Built,
    recipe: Recipe,
    layout: Layout,
    *,
    pattern: str | None = None,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> TestReport:
    """Run the recipe's tests, or those of them in whose name the regular expression `pattern` is found.

    A whole run is kept in `tests.json`, one of all tests that the recipe requires in `required.json`. Failed
    tests raise nothing here: `check` does. Raises NoTestsRan when nothing is selected, NotBuilt when the
    libraries are not those of `built`, TestsStopped.
    """
    with layout.locked(reporter), tempfile.TemporaryDirectory(prefix="skippy-home-") as home:
        if names := artifacts.changed(built.artifacts):
            raise NotBuilt(recipe.name, layout.built, f"Changed since it was built: {', '.join(names)}.")
        place = mount.of(built.method, built.source, built.tree)
        extra = tuple(
            (name, value.replace(BUILD, str(place.tree))) for name, value in recipe.tests.environment
        )
        variables = environment.for_tests(Path(home), extra)
        known = _list(built, place, variables)
        selected = _select(known, recipe, pattern)
        places = _places(known, selected, recipe, layout)
        for file in places:
            file.unlink(missing_ok=True)  # a run that is interrupted leaves no result
        unknown = _unknown(known, recipe, reporter)
        started = now()
        rows = _run(built, place, recipe, layout, selected, variables, reporter)
        finished = TestReport(
            recipe=recipe.name,
            commit=built.patched.commit,
            libraries=tuple((artifact.name, artifact.sha256) for artifact in built.artifacts),
            pattern=None if layout.tests in places else pattern,
            rows=rows,
            excluded=_left_out(known, recipe),
            unknown=unknown,
            started=started,
            finished=now(),
        )
        for file in places:
            report.save(finished, file)
    return finished


def check(done: TestReport, layout: Layout) -> None:
    """Raise TestsFailed when a test failed, timed out or could not start; NoTestsRan when all skipped."""
    if done.failures:
        raise TestsFailed([(row.name, row.reason, row.output) for row in done.failures], layout.test_log)
    if not done.passed:
        skipped = "\n".join(f"{row.name}: {row.reason}" for row in done.rows)
        raise NoTestsRan(f"All {done.skipped} of them skipped.\n{skipped}")


def _list(built: Built, place: Place, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The names of every test that cmake wrote down, in order (ctest(1), --show-only=json-v1)."""
    ctest = str(built.toolchain.ctest.path)
    line = [*place.front, ctest, "--test-dir", str(place.tree), "--show-only=json-v1"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=dict(variables))
    try:
        return tuple(test["name"] for test in json.loads(done.stdout)["tests"])
    except (ValueError, KeyError, TypeError) as error:
        raise TestsNotListed(done.stderr or done.stdout, built.tree) from error


def _select(known: tuple[str, ...], recipe: Recipe, pattern: str | None) -> tuple[str, ...]:
    if not known:
        raise NoTestsRan("This build has no tests.", "Set LLAMA_BUILD_TESTS: ON in the recipe.")
    plan = recipe.tests
    excluded = {exclusion.name: exclusion for exclusion in plan.exclude}
    included = [name for name in known if re.search(plan.include, name)]
    wanted = [name for name in included if _matches(pattern, name)]
    selected = {name for name in wanted if name not in excluded}
    if selected:
        selected |= {needed for name, needed in plan.needs if name in selected}
        return tuple(name for name in known if name in selected)
    if wanted:
        raise NoTestsRan(_excluded([excluded[name] for name in wanted], recipe))
    if pattern is None:
        raise NoTestsRan(f"`include: {plan.include}` of {recipe.file} matches no test.")
    raise NoTestsRan(f"No test's name matches '{pattern}'.", suggest(pattern, known))


def _places(
    known: tuple[str, ...], selected: tuple[str, ...], recipe: Recipe, layout: Layout
) -> tuple[Path, ...]:
    """Where the results are kept: of a whole run, whatever was asked for, and of all required tests."""
    everything = _select(known, recipe, None)
    required = {name for name in everything if recipe.tests.is_required(name)}
    places = [layout.tests] if selected == everything else []
    return (*places, *([layout.required] if required and required <= set(selected) else []))


def check_pattern(pattern: str | None) -> None:
    """Raise BadPattern unless it is a regular expression."""
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise BadPattern(pattern or "", str(error)) from None


def _matches(pattern: str | None, name: str) -> bool:
    check_pattern(pattern)
    return pattern is None or re.search(pattern, name) is not None


def _excluded(exclusions: list[Exclusion], recipe: Recipe) -> str:
    lines = [f"{exclusion.name}: {exclusion.reason}" for exclusion in exclusions]
    return "\n".join([f"Every test that matches is left out by {recipe.file}:", *lines])


def _left_out(known: tuple[str, ...], recipe: Recipe) -> tuple[Exclusion, ...]:
    """The exclusions that keep a test of this build from running; `include` may leave it out anyway."""
    included = {name for name in known if re.search(recipe.tests.include, name)}
    return tuple(exclusion for exclusion in recipe.tests.exclude if exclusion.name in included)


def _unknown(known: tuple[str, ...], recipe: Recipe, reporter: Reporter) -> tuple[str, ...]:
    """Names that are no test: misspelt, or gone upstream. The test that was meant runs, and tells."""
    excluded = [exclusion.name for exclusion in recipe.tests.exclude]
    needs = [name for pair in recipe.tests.needs for name in pair]
    names = tuple(name for name in dict.fromkeys((*excluded, *needs)) if name not in known)
    for name in names:
        reporter.step(f"{recipe.file} names {name}, which is no test of this build. {_near(name, known)}")
    return names


def _near(name: str, known: tuple[str, ...]) -> str:
    text = suggest(name, known)
    return text if text.startswith("Did") else ""


def _run(
    built: Built,
    place: Place,
    recipe: Recipe,
    layout: Layout,
    selected: tuple[str, ...],
    variables: Mapping[str, str],
    reporter: Reporter,
) -> tuple[TestRow, ...]:
    def listen(line: str) -> None:
        reporter.detail(line)
        if match := _DONE.match(line):
            reporter.advance(LABEL, int(match[1]), int(match[2]))

    reporter.step(f"Testing: {len(selected)} tests, one after the other")
    layout.junit.unlink(missing_ok=True)
    with layout.test_log.open("wb") as log:
        line = _command(built, place, recipe, layout, selected)
        status, tail = process.run(line, environment=variables, log=log, folder=built.tree, listen=listen)
        last = built.tree / "Testing" / "Temporary" / "LastTest.log"  # every test's whole output
        if last.is_file():
            log.write(last.read_bytes())
    try:
        rows = junit.read(layout.junit, recipe.tests)
    except (OSError, ValueError) as error:
        raise TestsStopped(status, tail[-junit.OUTPUT_LINES :], layout.test_log) from error
    seen = {row.name for row in rows}
    lost = [name for name in selected if name not in seen]
    return rows + tuple(
        TestRow(
            name=name,
            status=NOT_RUN,
            seconds=0.0,
            reason="ctest has no result",
            output="",
            is_required=recipe.tests.is_required(name),
        )
        for name in lost
    )


def _command(
    built: Built, place: Place, recipe: Recipe, layout: Layout, selected: tuple[str, ...]
) -> tuple[str, ...]:
    names = "|".join(_SPECIAL.sub(r"\\\1", name) for name in selected)
    return (
        *place.front,
        str(built.toolchain.ctest.path),
        *("--test-dir", str(place.tree), "--parallel", "1", "--no-tests=error"),
        *("--timeout", str(recipe.tests.timeout), "--output-junit", str(layout.junit)),
        *("--test-output-size-passed", str(OUTPUT_SIZE), "--test-output-size-failed", str(OUTPUT_SIZE)),
        *("--test-output-truncation", "middle", "--tests-regex", f"^({names})$"),
    )
