from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import cmake, codemodel
from skippy_patches.build.errors import NoTarget, UnknownTarget
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain
    from tests.build.conftest import Bench, Finished


def test_the_targets_of_a_build(finished: Finished) -> None:
    names = codemodel.names(finished.built.tree)

    assert {"ggml-base", "llama", "program"} <= set(names)
    assert list(names) == sorted(names)


def test_before_anything_was_configured_there_is_none(tmp_path: Path) -> None:
    assert codemodel.names(tmp_path) == ()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ((), ()),
        (("llama", "prog*"), ("llama", "program")),
        (("*", "llama"), None),
        (("llama", "test-skippy-*"), ("llama",)),
        (("no-such-target",), ("no-such-target",)),  # ninja knows, and says so
    ],
)
def test_patterns(
    finished: Finished, recipe: Recipe, wanted: tuple[str, ...], found: tuple[str, ...] | None
) -> None:
    expanded = codemodel.expand(wanted, finished.built.tree, recipe.file, Silent())

    assert expanded == (codemodel.names(finished.built.tree) if found is None else found)


def test_patterns_alone_that_match_nothing_do_not_build_everything(
    finished: Finished, recipe: Recipe
) -> None:
    with pytest.raises(
        NoTarget, match=r"No target of this llama.cpp matches test-skippy-\*, x\?\."
    ) as caught:
        codemodel.expand(("test-skippy-*", "x?"), finished.built.tree, recipe.file, Silent())

    assert caught.value.exit_status == 6


def test_a_build_of_some_targets(bench: Bench, recipe: Recipe, tools: Toolchain) -> None:
    some = dataclasses.replace(recipe, targets=("lla*", "test-skippy-*"), artifacts=("libllama",))
    built = cmake.build(bench.applied, some, tools, bench.layout)

    assert (built.tree / "bin/libllama.so").is_file()
    assert not (built.tree / "bin/program").exists()
    with pytest.raises(UnknownTarget):
        cmake.build(bench.applied, dataclasses.replace(some, targets=("llamma",)), tools, bench.layout)
