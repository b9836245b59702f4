from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import arguments, cmake, result, toolchain
from skippy_patches.build.errors import (
    BuildFailed,
    ConfigureFailed,
    ForeignBuildFolder,
    NotBuilt,
    OutOfMemory,
    UnknownTarget,
    UnusablePath,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.result import Built
    from skippy_patches.build.toolchain import Toolchain
    from tests.build.conftest import Bench, Finished, Listener


def append(file: Path, text: str) -> None:
    """Write, with a time that ninja cannot take for the old one."""
    file.write_text(file.read_text() + text)
    later = time.time() + 2
    os.utime(file, (later, later))


def hashes(built: Built) -> dict[str, str]:
    return {artifact.name: artifact.sha256 for artifact in built.artifacts}


def test_a_build_hands_on_what_it_made(finished: Finished) -> None:
    built = finished.built

    assert list(hashes(built)) == ["libllama.so", "libggml-base.so"]
    assert [artifact.path.name for artifact in built.artifacts] == [
        "libllama.so.0.0.10361",
        "libggml-base.so.0.1.2",
    ]
    assert all(artifact.size == artifact.path.stat().st_size > 0 for artifact in built.artifacts)
    assert (built.steps > built.compiled, built.compiled) == (True, 3)
    assert dict(built.variables)["GGML_AVX2"] == "ON"
    assert "-DLLAMA_BUILD_COMMIT=aaaaaaaaaaaa" in built.arguments
    assert result.load(finished.bench.layout) == built


def test_the_log_holds_commands_and_output(finished: Finished) -> None:
    log = finished.bench.layout.log.read_text()

    assert log.startswith("$ ")
    assert "-- Configuring done" in log
    assert "] Linking CXX shared library bin/libllama.so" in log


def test_built_again_compiles_nothing_and_an_edit_compiles_one_file(
    bench: Bench, recipe: Recipe, tools: Toolchain, listener: Listener
) -> None:
    first = cmake.build(bench.applied, recipe, tools, bench.layout, reporter=listener)
    assert listener.advances[-1][:2] == ("Building", first.steps)

    second = cmake.build(bench.applied, recipe, tools, bench.layout)
    assert (second.steps, second.compiled) == (0, 0)
    assert hashes(second) == hashes(first)

    append(bench.applied.checkout / "base.c", "int more(void) { return 1; }\n")
    third = cmake.build(bench.applied, recipe, tools, bench.layout)
    assert third.compiled == 1
    assert hashes(third)["libllama.so"] == hashes(first)["libllama.so"]
    assert hashes(third)["libggml-base.so"] != hashes(first)["libggml-base.so"]

    # A library that is no longer made is not in the record, though its file was there a moment ago.
    script = bench.applied.checkout / "CMakeLists.txt"
    script.write_text(script.read_text().replace("ggml-base", "ggml-core"))
    fourth = cmake.build(bench.applied, recipe, tools, bench.layout)
    assert set(hashes(fourth)) == {"libllama.so", "libggml-core.so"}


def test_other_flags_start_over_and_say_so(
    bench: Bench, recipe: Recipe, tools: Toolchain, listener: Listener
) -> None:
    cmake.build(bench.applied, recipe, tools, bench.layout)
    other = dataclasses.replace(recipe, cmake=(*recipe.cmake[:-1], ("GGML_RPC", "ON")))

    built = cmake.build(bench.applied, other, tools, bench.layout, reporter=listener)

    assert "Building from scratch, because these changed: GGML_AVX2, GGML_RPC" in listener.steps
    assert built.compiled == 3
    assert dict(built.variables)["GGML_AVX2"] == "OFF"


def test_a_folder_of_another_origin_is_refused(bench: Bench, recipe: Recipe, tools: Toolchain) -> None:
    bench.layout.tree.mkdir(parents=True)
    (bench.layout.tree / "CMakeCache.txt").write_text("GGML_CUDA:BOOL=ON\n")

    with pytest.raises(ForeignBuildFolder) as caught:
        cmake.build(bench.applied, recipe, tools, bench.layout)

    assert caught.value.exit_status == 5
    assert (bench.layout.tree / "CMakeCache.txt").read_text() == "GGML_CUDA:BOOL=ON\n"


def test_folders_of_different_length_give_the_same_bytes(
    tmp_path: Path,
    new_bench: Callable[[Path], Bench],
    recipe: Recipe,
    tools: Toolchain,
    finished: Finished,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = new_bench(tmp_path / "a much longer name with blanks" / "and one more folder")
    assert hashes(cmake.build(bench.applied, recipe, tools, bench.layout)) == hashes(finished.built)

    # The counter-check: without the maps the same comparison fails.
    monkeypatch.setattr(arguments, "prefix_maps", lambda source, tree: ())
    assert hashes(cmake.build(bench.applied, recipe, tools, bench.layout)) != hashes(finished.built)


def test_cached_and_plain_give_the_same_bytes(
    tmp_path: Path,
    new_bench: Callable[[Path], Bench],
    recipe: Recipe,
    finished: Finished,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    tools = toolchain.find("ccache")

    for name in ("one", "another/of/other/length"):
        bench = new_bench(tmp_path / name)
        assert hashes(cmake.build(bench.applied, recipe, tools, bench.layout)) == hashes(finished.built)

    assert tools.launcher is not None
    command = [str(tools.launcher.path), "--print-stats"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = dict(line.split("\t") for line in told.splitlines())
    assert int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"]) == 3


def test_a_compile_error_shows_its_end_and_the_log(bench: Bench, recipe: Recipe, tools: Toolchain) -> None:
    append(bench.applied.checkout / "llama.cpp", "int broken() { return undeclared_name; }\n")

    with pytest.raises(BuildFailed) as caught:
        cmake.build(bench.applied, recipe, tools, bench.layout)

    assert caught.value.exit_status == 6
    assert caught.value.output[0].startswith("FAILED: ")
    assert "undeclared_name" in str(caught.value)
    assert str(bench.layout.log) in str(caught.value)
    with pytest.raises(NotBuilt):
        result.load(bench.layout)


def test_a_killed_compiler_is_reported_as_memory(bench: Bench, recipe: Recipe, tools: Toolchain) -> None:
    append(
        bench.applied.checkout / "CMakeLists.txt",
        'add_custom_target(hungry ALL COMMAND sh -c "kill -KILL $$$$")\n',
    )

    with pytest.raises(OutOfMemory, match="ran out of memory") as caught:
        cmake.build(bench.applied, recipe, tools, bench.layout, jobs=4)

    assert "--jobs 2" in caught.value.mend


def test_a_configure_error_leaves_no_half_made_cache(bench: Bench, recipe: Recipe, tools: Toolchain) -> None:
    script = bench.applied.checkout / "CMakeLists.txt"
    text = script.read_text()
    append(script, 'message(FATAL_ERROR "no such backend")\n')

    with pytest.raises(ConfigureFailed, match="could not configure") as caught:
        cmake.build(bench.applied, recipe, tools, bench.layout)

    assert caught.value.output[0].startswith("CMake Error")
    assert "no such backend" in str(caught.value)
    assert not (bench.layout.tree / "CMakeCache.txt").exists()

    script.write_text(text)
    with pytest.raises(UnknownTarget, match="a target that this llama"):
        cmake.build(bench.applied, dataclasses.replace(recipe, targets=("lama",)), tools, bench.layout)


@pytest.mark.case(31)
def test_the_environment_of_a_hook_does_not_reach_llama_cpp(
    tmp_path: Path,
    new_bench: Callable[[Path], Bench],
    recipe: Recipe,
    tools: Toolchain,
    listener: Listener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = tmp_path / "host"
    subprocess.run(["git", "init", "--quiet", host], check=True)
    subprocess.run(
        ["git", "-C", host, "-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false",
         "commit", "--quiet", "--allow-empty", "-m", "host"],
        check=True,
    )  # fmt: skip
    bench = new_bench(host)  # the checkout lost its .git: asking git there would climb to the host
    monkeypatch.setenv("GIT_DIR", str(host / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(host))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("CFLAGS", "-DBROKEN=")

    cmake.build(bench.applied, recipe, tools, bench.layout, reporter=listener)

    log = bench.layout.log.read_text()
    assert "-- commit ''\n" in log
    assert "-- epoch ''\n" in log
    said = "Not used from the environment: CFLAGS, GIT_DIR, GIT_WORK_TREE, SOURCE_DATE_EPOCH"
    assert any(step.startswith(said) for step in listener.steps)


@pytest.mark.parametrize(
    ("tag", "number"),
    [("b10361", 10361), ("v0.4.0", None), ("", None), ("b10361-rc", None), ("master", None)],
)
def test_the_build_number_comes_from_the_tag(tag: str, number: int | None) -> None:
    assert arguments.build_number(tag) == number


def test_another_kind_of_tag_is_told(
    bench: Bench, recipe: Recipe, tools: Toolchain, listener: Listener
) -> None:
    (bench.applied.checkout / "CMakeLists.txt").write_text(
        'option(GGML_AVX2 "" OFF)\nmessage(FATAL_ERROR stop)'
    )
    applied = dataclasses.replace(bench.applied, upstream_tag="v0.4.0")

    with pytest.raises(ConfigureFailed):
        cmake.build(applied, recipe, tools, bench.layout, reporter=listener)

    assert any("v0.4.0 holds no build number: the libraries say 0" in step for step in listener.steps)


def test_the_recipes_own_flags_are_kept(tmp_path: Path, recipe: Recipe, tools: Toolchain) -> None:
    own = dataclasses.replace(recipe, cmake=(("CMAKE_C_FLAGS", "-g1"), ("CMAKE_C_COMPILER", "/opt/cc")))

    given = arguments.variables(own, tools, tmp_path / "src", tmp_path / "build")

    assert given["CMAKE_C_FLAGS"].startswith("-g1 -ffile-prefix-map=")
    assert given["CMAKE_C_COMPILER"] == "/opt/cc"


INTERRUPTED = """
import pathlib, sys
from skippy_patches.build import process
with open(sys.argv[1], "wb") as log:
    process.run([sys.argv[2], "-C", sys.argv[3]], environment={"PATH": "/usr/bin:/bin"}, log=log,
                folder=pathlib.Path(sys.argv[3]), listen=lambda line: None)
"""
NINJA_FILE = """
rule wait
  command = echo $$$$ > pid.$out; exec sleep 300
build a: wait
build b: wait
"""


def test_interrupting_leaves_no_process_behind(tmp_path: Path, tools: Toolchain) -> None:
    (tmp_path / "build.ninja").write_text(NINJA_FILE)
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "log"), str(tools.ninja.path), str(tmp_path)]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    pids = [wait_for(tmp_path / f"pid.{name}") for name in "ab"]

    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)

    assert "KeyboardInterrupt" in errors
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def wait_for(file: Path) -> int:
    for _ in range(1000):
        if file.exists() and (text := file.read_text().strip()):
            return int(text)
        time.sleep(0.02)
    raise AssertionError(f"{file} did not appear")


def test_a_second_build_waits_for_the_first(bench: Bench, listener: Listener) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c",
         "import sys, time, pathlib; from skippy_patches.build.layout import Layout\n"
         "with Layout(folder=pathlib.Path(sys.argv[1])).locked(): print('held', flush=True); time.sleep(0.5)",
         bench.layout.folder],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with bench.layout.locked(listener):
            assert holder.poll() == 0 or holder.wait(1) == 0

    assert len(listener.steps) == 1
    assert listener.steps[0].startswith(f"Waiting for process {holder.pid}, which holds ")


def test_the_key_holds_flags_and_tools(finished: Finished) -> None:
    key = json.loads(finished.bench.layout.key.read_text())

    assert key["variables"]["GGML_AVX2"] == "ON"
    assert "LLAMA_BUILD_COMMIT" not in key["variables"]
    assert set(key["tools"]) == {"cmake", "c", "cxx"}


@pytest.mark.parametrize("name", ["a,b", "a$b", "a;b", "a'b"])
def test_a_path_that_cmake_cannot_carry_is_told_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnusablePath, match="which cmake and its flags do not carry"):
        arguments.refuse_unusable(tmp_path, tmp_path / name)
    arguments.refuse_unusable(tmp_path / "with blanks and ü")
