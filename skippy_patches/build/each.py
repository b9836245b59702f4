"""Builds and tests every prefix of the queue, and names the first that breaks.

It has a checkout and build folders of its own in `.skippy/each/`, so that nobody's are disturbed. They
stay there: the next prefix, and the next run, compiles what changed. The checkout has all its objects itself:
borrowed ones would be gone with the project's checkout, or after git gc in it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import stage
from skippy_patches.apply.errors import EmptyQueue
from skippy_patches.build import cmake, ctest
from skippy_patches.build.errors import DiskFull, NoTestsRan, OutOfMemory, PrefixBreaks
from skippy_patches.build.layout import Layout
from skippy_patches.config import Mirror
from skippy_patches.errors import BuildError, PatchError, SkippyError, TestsError
from skippy_patches.files import make_generated_folder
from skippy_patches.upstream.verify import PIN_REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.apply.result import Applied
    from skippy_patches.build.engine import Launcher
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.result import Built
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.cache import Cache
    from skippy_patches.upstream.pin import Pin

FOLDER = "each"
TESTED = "tested"
BUILT = "built"  # there was no test to run
BROKEN = "broken"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prefix:
    """The queue up to `patch`. applied, built: None when it did not get that far. tests: None: none ran.

    error: why it breaks, else None.
    """

    patch: Patch
    applied: Applied | None = None
    built: Built | None = None
    tests: TestReport | None = None
    error: SkippyError | None = None

    @property
    def outcome(self) -> str:
        """TESTED, BUILT or BROKEN."""
        if self.error is not None:
            return BROKEN
        return BUILT if self.tests is None else TESTED


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What to do at each prefix. pattern: as ctest.run has it. launcher, jobs: as cmake.build has them."""

    recipe: Recipe
    toolchain: Toolchain
    pattern: str | None
    jobs: int | None
    launcher: Launcher | None = None


def folder(project: Project) -> Path:
    """The folder of all this."""
    return project.state / FOLDER


def layout(project: Project, recipe: str) -> Layout:
    """Where the builds of a recipe are."""
    return Layout.of(folder(project), recipe)


def run(
    project: Project,
    pin: Pin,
    patches: Sequence[Patch],
    question: Question,
    *,
    cache: Cache,
    reporter: Reporter,
) -> Iterator[Prefix]:
    """Each prefix as it is done, the shortest first. The first that breaks is the last one.

    Raises EmptyQueue, and whatever is no fault of a patch: no source of the pin, work of somebody's in the
    checkout, a tool that is missing.
    """
    if not patches:
        raise EmptyQueue(project.queue)
    make_generated_folder(project.state)
    with lock.hold(folder(project) / "lock", reporter):
        has_tests = False
        for count in range(1, len(patches) + 1):
            reporter.step(f"Prefix {count} of {len(patches)}: {patches[count - 1].name}")
            there = apart(project, pin, folder(project) / "llama.cpp")
            work = _Work(there, pin, patches[:count], question, cache, reporter)
            prefix = work.run(must_test=has_tests, is_part=count < len(patches))
            yield prefix
            if prefix.error is not None:
                return
            has_tests = has_tests or prefix.tests is not None


def check(prefixes: Sequence[Prefix], question: Question, where: Layout) -> None:
    """Raise PrefixBreaks for the one that does, with its exit status; NoTestsRan when none had a test."""
    last = prefixes[-1]
    if last.error is not None:
        raise PrefixBreaks(last.patch.name, last.error)
    if all(prefix.tests is None for prefix in prefixes):
        wanted = f"matches '{question.pattern}'" if question.pattern else "is what the recipe asks for"
        raise NoTestsRan(
            f"At no prefix of the queue there is a test that {wanted}.",
            f"They were built: {where.log}",
        )


class _Work:
    """One prefix: what its steps share."""

    def __init__(
        self,
        project: Project,
        pin: Pin,
        patches: Sequence[Patch],
        question: Question,
        cache: Cache,
        reporter: Reporter,
    ) -> None:
        self.project = project
        self.pin = pin
        self.patches = patches
        self.question = question
        self.cache = cache
        self.reporter = reporter
        self.prefix = Prefix(patch=patches[-1])

    def run(self, *, must_test: bool, is_part: bool) -> Prefix:
        """must_test: a shorter prefix had tests, so that none here means that they were lost."""
        try:
            self._apply()
            self._build(is_part=is_part)
            self._test(must_test=must_test)
        except (OutOfMemory, DiskFull):
            raise  # the machine's fault
        except (PatchError, BuildError, TestsError) as error:
            self._note(error=error)
        return self.prefix

    def _note(self, **found: object) -> None:
        self.prefix = dataclasses.replace(self.prefix, **found)  # type: ignore[arg-type]

    def _apply(self) -> None:
        outcome = stage.apply(
            self.project,
            lambda: (self.pin, self.patches),
            stage.Request(),
            cache=self.cache,
            reporter=self.reporter,
        )
        self._note(applied=outcome.applied)

    def _build(self, *, is_part: bool) -> None:
        assert self.prefix.applied is not None  # noqa: S101 - the step before
        question = self.question
        self._note(
            built=cmake.build(
                self.prefix.applied,
                question.recipe,
                question.toolchain,
                self._layout,
                launcher=question.launcher,
                jobs=question.jobs,
                is_part=is_part,
                reporter=self.reporter,
            )
        )

    def _test(self, *, must_test: bool) -> None:
        assert self.prefix.built is not None  # noqa: S101 - the step before
        question = self.question
        try:
            tested = ctest.run(
                self.prefix.built,
                question.recipe,
                self._layout,
                pattern=question.pattern,
                reporter=self.reporter,
            )
        except NoTestsRan as error:
            if must_test:
                raise
            self.reporter.step(f"Built only, for there is no test to run yet: {error.why}")
            return
        self._note(tests=tested)
        ctest.check(tested, self._layout)

    @property
    def _layout(self) -> Layout:
        return Layout.of(self.project.checkout.parent, self.question.recipe.name)


def apart(project: Project, pin: Pin, checkout: Path) -> Project:
    """The project with another checkout. The pin may come out of the person's, without a network."""
    upstream = project.upstream
    theirs = checkouts.open_existing(project.checkout.resolve())
    if theirs is not None and theirs.repository.resolve(PIN_REF) == pin.commit:
        mirror = Mirror(kind="directory", location=str(theirs.path), path="", sha256="")
        upstream = upstream._replace(mirrors=(mirror, *upstream.mirrors))
    return project._replace(checkout=checkout, upstream=upstream)
