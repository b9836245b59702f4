from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import artifacts
from skippy_patches.build.errors import LibraryMissing, NoLibrary

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe


def answer(tree: Path, *libraries: tuple[str, str]) -> None:
    """The reply of cmake-file-api(7), as far as it is read."""
    reply = tree / ".cmake" / "api" / "v1" / "reply"
    reply.mkdir(parents=True, exist_ok=True)
    targets = []
    for kind, path in libraries:
        name = path.rpartition("/")[2]
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(name)
        content = {"type": kind, "nameOnDisk": name, "artifacts": [{"path": path}]}
        (reply / f"target-{name}.json").write_text(json.dumps(content))
        targets.append({"jsonFile": f"target-{name}.json"})
    (reply / "model.json").write_text(json.dumps({"configurations": [{"targets": targets}]}))
    (reply / "index-1.json").write_text(
        json.dumps(
            {"objects": [{"kind": "cache", "jsonFile": "x"}, {"kind": "codemodel", "jsonFile": "model.json"}]}
        )
    )


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["bin/libggml.so.0.19.0", "bin/libllama.so.0.0.1"], ["libllama.so", "libggml.so"]),
        (["bin/libggml.0.19.0.dylib", "bin/libllama.0.0.1.dylib"], ["libllama.dylib", "libggml.dylib"]),
        (
            ["bin/libmtmd.so", "bin/libggml-cpu.so", "x/libllama.so"],
            ["libllama.so", "libggml-cpu.so", "libmtmd.so"],
        ),
    ],
)
def test_libllama_comes_first_and_versions_are_left_out(
    tmp_path: Path, recipe: Recipe, files: list[str], names: list[str]
) -> None:
    answer(tmp_path, *(("SHARED_LIBRARY", file) for file in files))

    found = artifacts.find(tmp_path, dataclasses.replace(recipe, artifacts=()))

    assert [artifact.name for artifact in found] == names


def test_plugins_count_and_programs_do_not(tmp_path: Path, recipe: Recipe) -> None:
    answer(
        tmp_path,
        ("SHARED_LIBRARY", "libllama.so"),
        ("MODULE_LIBRARY", "libggml-cpu-haswell.so"),
        ("STATIC_LIBRARY", "libcommon.a"),
        ("EXECUTABLE", "libtool.so"),
    )

    found = artifacts.find(tmp_path, recipe)

    assert [artifact.name for artifact in found] == ["libllama.so", "libggml-cpu-haswell.so"]


def test_no_libllama(tmp_path: Path, recipe: Recipe) -> None:
    with pytest.raises(NoLibrary) as caught:
        artifacts.find(tmp_path, recipe)
    assert "found in" in caught.value.why
    assert caught.value.why.endswith("none.")

    answer(tmp_path, ("SHARED_LIBRARY", "libggml.so"))
    with pytest.raises(NoLibrary) as caught:
        artifacts.find(tmp_path, recipe)
    assert caught.value.why.endswith("libggml.so.")
    assert "BUILD_SHARED_LIBS: ON" in caught.value.mend


def test_a_library_that_the_recipe_asks_for(tmp_path: Path, recipe: Recipe) -> None:
    answer(tmp_path, ("SHARED_LIBRARY", "libllama.so"), ("SHARED_LIBRARY", "libggml-base.so"))

    with pytest.raises(LibraryMissing, match="no library 'libggml-bose'") as caught:
        artifacts.find(tmp_path, dataclasses.replace(recipe, artifacts=("libllama", "libggml-bose")))

    assert "Did you mean 'libggml-base'?" in caught.value.mend
