from __future__ import annotations

import pytest

from skippy_patches.build import ninja

BUILT = """\
ninja: Entering directory `/b'
[0/4] Re-checking globbed directories...
[1/4] Building C object a.c.o
warning: [2/4] is not at the line's beginning
[2/4] Building CXX object b.cpp.o
[3/4] Linking CXX shared library bin/libllama.so
[4/4] Generating x
""".splitlines()

FAILED = """\
[1/4] Building CXX object a.cpp.o
FAILED: [code=1] b.cpp.o
/usr/bin/c++ -o b.cpp.o -c b.cpp
b.cpp:1:1: error: no
[3/4] Building CXX object c.cpp.o
FAILED: [code=1] d.cpp.o
d.cpp:1:1: error: neither
ninja: build stopped: subcommand failed.
""".splitlines()


def test_steps_and_objects_are_counted() -> None:
    heard: list[tuple[int, int]] = []
    progress = ninja.Progress(lambda done, total: heard.append((done, total)))
    for line in BUILT:
        progress.read(line)

    assert heard == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert progress.steps == 4
    assert progress.compiled == 2


def test_no_work_to_do() -> None:
    progress = ninja.Progress(lambda done, total: None)
    progress.read("ninja: no work to do.")

    assert (progress.steps, progress.compiled) == (0, 0)


def test_the_first_failed_command_is_shown_alone() -> None:
    assert ninja.failure(FAILED) == tuple(FAILED[1:4])


def test_a_long_failure_keeps_its_beginning() -> None:
    lines = ["FAILED: x.o", *(f"line {number}" for number in range(100))]

    shown = ninja.failure(lines)

    assert len(shown) == ninja.OUTPUT_LINES
    assert shown[:2] == ("FAILED: x.o", "line 0")
    assert shown[-1] == "... 62 more lines are in the log"


def test_without_a_failed_command_the_end_is_shown() -> None:
    assert ninja.failure(["a", "ninja: error: loading 'build.ninja'"]) == (
        "a",
        "ninja: error: loading 'build.ninja'",
    )


@pytest.mark.parametrize(
    "line",
    [
        "c++: fatal error: Killed signal terminated program cc1plus",
        "clang: error: unable to execute command: Killed",
        "FAILED: [code=137] src/llama.o",
        "cc1plus: out of memory allocating 65536 bytes after a total of 1048576 bytes",
    ],
)
def test_a_killed_compiler_is_memory(line: str) -> None:
    assert ninja.is_out_of_memory(["FAILED: x.o", line])


def test_a_mistake_in_code_is_not_memory() -> None:
    assert not ninja.is_out_of_memory(["x.cpp:1: error: 'Killed' was not declared in this scope"])
