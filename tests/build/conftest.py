"""A small CMake project with llama.cpp's shape, built by the real cmake, ninja and compilers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.result import Applied, AppliedPatch, Tip
from skippy_patches.build import cmake, toolchain
from skippy_patches.build.layout import Layout
from skippy_patches.build.recipe import Exclusion, Recipe, TestPlan
from skippy_patches.build.recipefile import RecipeFile
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Callable

    from skippy_patches.build.result import Built
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.progress import Reporter

FILES = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.14...3.28)
        project(toy C CXX)
        set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
        set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
        execute_process(COMMAND git rev-parse --short HEAD WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
            OUTPUT_VARIABLE HEAD OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        message(STATUS "commit '${HEAD}'")
        message(STATUS "epoch '$ENV{SOURCE_DATE_EPOCH}'")
        option(GGML_AVX2 "" OFF)
        option(GGML_RPC "" OFF)
        add_library(ggml-base SHARED base.c)
        set_target_properties(ggml-base PROPERTIES VERSION 0.1.2 SOVERSION 0)
        add_library(llama SHARED llama.cpp)
        set_target_properties(llama PROPERTIES VERSION 0.0.${LLAMA_BUILD_NUMBER} SOVERSION 0)
        target_link_libraries(llama PRIVATE ggml-base)
        add_executable(program program.cpp)
        target_link_libraries(program PRIVATE llama)
        include(CTest)
        add_test(NAME test-pass COMMAND program)
        add_test(NAME test-cases COMMAND sh -c
            "echo '  Backend CPU sgd: SKIPPED'; echo 3 of 4 passed, 1 skipped")
        add_test(NAME test-home COMMAND sh -c
            "ls -A $HOME | grep . && exit 1; test \\"$ANSWER\\" = 42 -a -f $CACHE")
        add_test(NAME test-fail COMMAND sh -c "seq 1 100; printf '\\\\033[31mwrong answer\\\\033[0m'; exit 3")
        add_test(NAME test-no-model COMMAND sh -c
            "printf '\\\\033[33mWARNING: No model file provided. Skipping this test. Set\\\\n\\\\033[0m' >&2")
        add_test(NAME test-skip-code COMMAND sh -c "echo no GPU here; exit 77")
        set_tests_properties(test-skip-code PROPERTIES SKIP_RETURN_CODE 77)
        add_test(NAME test-slow COMMAND sleep 30)
        set_tests_properties(test-slow PROPERTIES TIMEOUT 0.2)
        add_test(NAME test-gone COMMAND /nonexistent/program)
        add_test(NAME test-off COMMAND program)
        set_tests_properties(test-off PROPERTIES DISABLED ON)
        add_test(NAME "test-odd+name[1].(x)" COMMAND program)
    """,
    "base.c": "const char * base_file(void) { return __FILE__; }\n",
    "llama.cpp": """
        extern "C" const char * base_file(void);
        const char * llama_file() { return __FILE__; }
        const char * llama_base() { return base_file(); }
    """,
    "program.cpp": """
        const char * llama_base();
        int main() { return llama_base() == nullptr; }
    """,
}
EXCLUDED = ("test-fail", "test-slow", "test-gone")


@pytest.fixture(scope="session")
def tools() -> Toolchain:
    """This machine's, without a cache."""
    return toolchain.find("none")


@pytest.fixture(scope="session")
def recipe() -> Recipe:
    """A recipe whose tests pass."""
    plan = TestPlan(
        include="^test-",
        exclude=tuple(Exclusion(name=name, reason="provokes a failure") for name in EXCLUDED),
        require=("test-pass",),
        needs=(),
        timeout=20,
        environment=(("ANSWER", "42"), ("CACHE", "{build}/CMakeCache.txt")),
    )
    return Recipe(
        name="toy",
        file=Path("recipes/toy.yaml"),
        folder=Path("/recipes"),
        files=(RecipeFile(name="toy.yaml", sha256="f" * 64),),
        description="",
        cmake=(("CMAKE_BUILD_TYPE", "Release"), ("GGML_AVX2", "ON")),
        targets=(),
        artifacts=("libllama", "libggml*"),
        tests=plan,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bench:
    """A project folder: a checkout and the place of its build."""

    applied: Applied
    layout: Layout


def make_bench(root: Path) -> Bench:
    checkout = root / ".skippy" / "llama.cpp"
    checkout.mkdir(parents=True)
    for name, text in FILES.items():
        (checkout / name).write_text(text)
    upstream = Tip(commit=ObjectId("1" * 40), tree=ObjectId("2" * 40))
    patched = Tip(commit=ObjectId("a" * 40), tree=ObjectId("b" * 40))
    patch = AppliedPatch(
        number=1, file="0001-one.patch", sha256="c" * 64, subject="one", commit=patched.commit,
        tree=patched.tree, files=1, insertions=2, deletions=3,
    )  # fmt: skip
    applied = Applied(
        upstream=upstream, upstream_tag="b10361", patched=patched, queue_digest="d" * 64, checkout=checkout,
        reused=0, patches=(patch,),
    )  # fmt: skip
    return Bench(applied=applied, layout=Layout.of(root / ".skippy", "toy"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project that nothing has been built in."""
    return make_bench(tmp_path)


@pytest.fixture(scope="session")
def new_bench() -> Callable[[Path], Bench]:
    """Makes more of them."""
    return make_bench


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finished:
    """A bench with a finished build. For reading only: the whole session shares it."""

    bench: Bench
    built: Built


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, recipe: Recipe, tools: Toolchain) -> Finished:
    """The toy, built once."""
    bench = make_bench(tmp_path_factory.mktemp("finished"))
    return Finished(bench=bench, built=cmake.build(bench.applied, recipe, tools, bench.layout))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Listener:
    """Remembers what was said."""

    steps: list[str] = dataclasses.field(default_factory=list)
    advances: list[tuple[str, int, int | None]] = dataclasses.field(default_factory=list)

    def step(self, text: str) -> None:
        self.steps.append(text)

    def detail(self, text: str) -> None:
        pass

    def advance(self, label: str, done: int, total: int | None) -> None:
        self.advances.append((label, done, total))


@pytest.fixture
def listener() -> Listener:
    """A reporter that remembers."""
    reporter: Reporter = Listener()
    assert isinstance(reporter, Listener)
    return reporter
