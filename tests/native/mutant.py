"""Scripted edits of the applied queue, built and tested in a checkout and a build folder apart.

A test that passes on right sources says little until it has failed on wrong ones. An edit is text for
text and must fit exactly once, so that one which no longer fits its source is an error and not a green test.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from skippy_patches import config
from skippy_patches.apply import stage
from skippy_patches.build import cmake, ctest, recipe, toolchain
from skippy_patches.build.layout import Layout
from skippy_patches.queue import reader
from skippy_patches.upstream import pin as pins
from skippy_patches.upstream.cache import Cache
from tests.world import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.apply.result import Applied
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.config import Project

RECIPE = "rpc"  # the most that a build without a special device can have


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutation:
    """An edit: `old`, which stands exactly once in `file`, becomes `new`. why: what would go wrong with it.

    test: the test of the queue that must fail then.
    """

    name: str
    file: str
    old: str
    new: str
    why: str
    test: str

    def applied_to(self, text: str) -> str:
        """The edited text. Raises ValueError when the edit does not fit, or changes nothing."""
        times = text.count(self.old)
        if times != 1:
            raise ValueError(f"{self.name}: the old text is in {self.file} {times} times, not once")
        if self.old == self.new:
            raise ValueError(f"{self.name}: the old and the new text are the same")
        return text.replace(self.old, self.new)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bench:
    """The queue, applied in `folder`, and what it takes to build it."""

    folder: Path
    applied: Applied
    recipe: Recipe
    toolchain: Toolchain

    @classmethod
    def open(cls, project: Project, folder: Path, name: str = RECIPE) -> Bench:
        """Apply the project's queue below `folder`, for recipe `name`; its own checkout is left alone."""
        apart = project._replace(root=folder, checkout=folder / "llama.cpp")
        outcome = stage.apply(
            apart,
            lambda: (pins.read(project.upstream), reader.load(project)),
            stage.Request(),
            cache=Cache.default(),
            reporter=Recorder(),
        )
        return cls(
            folder=folder,
            applied=outcome.applied,
            recipe=recipe.load(project.recipes, name),
            toolchain=toolchain.find(),
        )

    @property
    def layout(self) -> Layout:
        """The files of the build."""
        return Layout.of(self.folder, self.recipe.name)

    def source(self, file: str) -> Path:
        """A file of the checkout."""
        return self.applied.checkout / file

    def results(self, pattern: str) -> TestReport:
        """Build from the checkout as it is now, and run the tests whose name matches."""
        built = cmake.build(self.applied, self.recipe, self.toolchain, self.layout)
        return ctest.run(built, self.recipe, self.layout, pattern=pattern)

    @contextlib.contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """The checkout with the edit in it, and afterwards without."""
        source = self.source(mutation.file)
        before = source.read_text(encoding="utf-8")
        source.write_text(mutation.applied_to(before), encoding="utf-8")
        try:
            yield
        finally:
            source.write_text(before, encoding="utf-8")


def project_around(folder: Path) -> Project:
    """The project whose queue is tried."""
    return config.load(config.find(folder))
