from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skippy_patches.build import launcher, toolchain
from skippy_patches.build.errors import ToolBroken, ToolMissing
from skippy_patches.errors import BuildError


def fake(folder: Path, name: str, prints: str, status: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{prints}'\nexit {status}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def compilers(tmp_path: Path) -> Path:
    """A PATH folder with two compilers in it."""
    fake(tmp_path / "bin", "cc", "cc (Fake 1-2) 9.9.9")
    fake(tmp_path / "bin", "c++", "c++ (Fake 1-2) 9.9.9")
    return tmp_path / "bin"


def test_this_machine() -> None:
    found = toolchain.find("none")

    assert found.cmake.version[0].isdigit()
    assert found.ctest.path.parent == found.cmake.path.parent
    assert len(found.cxx.sha256) == 64
    assert found.launcher is None


def test_the_python_packages_come_before_path(compilers: Path) -> None:
    fake(compilers, "cmake", "cmake version 99.0.0")
    fake(compilers, "ninja", "99.0.0")

    found = toolchain.find("none", variables={"PATH": str(compilers)})

    for tool in (found.cmake, found.ninja):
        assert tool.path.is_relative_to(Path(sys.prefix))


def test_versions_are_without_the_name_of_the_program(compilers: Path) -> None:
    found = toolchain.find("none", variables={"PATH": str(compilers)})

    assert found.c.version == found.cxx.version == "(Fake 1-2) 9.9.9"


def test_cc_and_cxx_name_the_compilers(compilers: Path) -> None:
    other = fake(compilers.parent / "other", "mycc", "clang version 17.0.1")

    found = toolchain.find("none", variables={"PATH": str(compilers), "CC": str(other), "CXX": "c++"})

    assert (found.c.path, found.c.version) == (other, "clang version 17.0.1")
    assert found.cxx.path == compilers / "c++"


def test_a_cache_that_poses_as_the_compiler_is_passed_over(compilers: Path) -> None:
    fake(compilers.parent / "real", "ccache", "ccache version 4.9")
    posing = compilers.parent / "posing"
    posing.mkdir()
    (posing / "cc").symlink_to(compilers.parent / "real" / "ccache")

    found = toolchain.find("none", variables={"PATH": f"{posing}:{compilers}"})

    assert found.c.path == compilers / "cc"


@pytest.mark.parametrize(
    ("variable", "named", "why", "mend"),
    [
        ("CC", "cc -O0", "CC must name one program", "CMAKE_C_FLAGS"),
        ("CXX", "{bin}/c++ -g", "CXX must name one program", "CMAKE_CXX_FLAGS"),
        ("CC", "/nowhere/cc", "CC names it, and no other one is taken", "unset CC"),
        ("CXX", "g++-99", "CXX names it, and no other one is taken", "unset CXX"),
        ("CC", "{bin}", "CC names it", "unset CC"),
        ("CC", "it's", "CC names it", "unset CC"),
        ("CC", "{bin}/posing", "a compiler cache under another name", "--launcher"),
    ],
)
def test_a_variable_that_names_no_compiler_is_named(
    compilers: Path, variable: str, named: str, why: str, mend: str
) -> None:
    (compilers / "posing").symlink_to(fake(compilers.parent / "real", "ccache", "ccache version 4.9"))
    named = named.format(bin=compilers)

    with pytest.raises(ToolMissing) as caught:
        toolchain.find("none", variables={"PATH": str(compilers), variable: named})

    assert caught.value.what == f"'{named}' was not found."
    assert why in caught.value.why
    assert mend in caught.value.mend


def test_a_compiler_whose_path_has_a_blank_or_is_relative(
    compilers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cmake runs in another folder."""
    other = fake(compilers.parent / "ein Übersetzer", "cc", "clang version 17.0.1")
    monkeypatch.chdir(compilers)

    found = toolchain.find("none", variables={"PATH": str(compilers), "CC": str(other), "CXX": "./c++"})

    assert (found.c.path, found.cxx.path) == (other, compilers / "c++")


def test_a_missing_compiler_names_the_package(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"A C compiler was not found") as caught:
        toolchain.find("none", variables={"PATH": str(tmp_path)})

    assert isinstance(caught.value, BuildError)
    assert "build-essential" in caught.value.mend or "xcode-select" in caught.value.mend


def test_a_compiler_that_does_not_start(tmp_path: Path) -> None:
    fake(tmp_path, "cc", "cannot load libmpc", 127)

    with pytest.raises(ToolBroken, match="does not run"):
        toolchain.find("none", variables={"PATH": str(tmp_path)})


def test_the_launcher_is_one_that_was_chosen_or_that_is_asked_for(compilers: Path) -> None:
    variables = {"PATH": str(compilers)}
    fake(compilers, "ccache", "ccache version 4.10.2")
    chosen = launcher.find("ccache", variables=variables)

    assert chosen is not None
    assert toolchain.find(chosen, variables=variables).launcher == chosen.tool
    assert toolchain.find("ccache", variables=variables).launcher == chosen.tool
    assert toolchain.find(None, variables=variables).launcher is None
