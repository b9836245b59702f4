from __future__ import annotations

from pathlib import Path

from skippy_patches.build import environment

HOSTILE = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LD_LIBRARY_PATH": "/opt/lib",
    "CCACHE_DIR": "/cache",
    "CCACHE_COMPILER": "tcc",
    "SCCACHE_REDIS": "redis://x",
    "SCCACHE_BASEDIRS": "/",
    "CFLAGS": "-O0",
    "CPATH": "/usr/local/include",
    "SOURCE_DATE_EPOCH": "0",
    "GIT_DIR": "/host/.git",
    "GIT_INDEX_FILE": "/host/.git/index",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.abbrev",
    "GIT_CONFIG_VALUE_0": "40",
    "LC_ALL": "tr_TR.UTF-8",
    "CTEST_PARALLEL_LEVEL": "8",
    "LANG": "tr_TR.UTF-8",
}
CHECKOUT = Path("/project/.skippy/llama.cpp")


def test_only_what_is_named_reaches_the_build() -> None:
    given = environment.for_build(CHECKOUT, variables=HOSTILE)

    assert not {"CFLAGS", "CPATH", "SOURCE_DATE_EPOCH", "GIT_DIR", "GIT_INDEX_FILE", "LANG"} & given.keys()
    assert not {"CCACHE_COMPILER", "SCCACHE_BASEDIRS"} & given.keys()
    assert (given["HOME"], given["CCACHE_DIR"], given["SCCACHE_REDIS"]) == ("/home/me", "/cache", "redis://x")
    assert given["LC_ALL"] == "C"


def test_git_sees_twelve_digits_and_nothing_above_the_checkout() -> None:
    given = environment.for_build(CHECKOUT, variables=HOSTILE)

    count = int(given["GIT_CONFIG_COUNT"])
    settings = {given[f"GIT_CONFIG_KEY_{at}"]: given[f"GIT_CONFIG_VALUE_{at}"] for at in range(count)}
    assert settings == {"core.abbrev": "12", "safe.directory": str(CHECKOUT)}
    assert given["GIT_CEILING_DIRECTORIES"] == "/project/.skippy"


def test_tests_get_an_empty_home_and_no_library_path() -> None:
    given = environment.for_tests(Path("/tmp/home"), (("OMP_NUM_THREADS", "2"),), variables=HOSTILE)

    assert given == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/tmp/home", "OMP_NUM_THREADS": "2"}


def test_what_is_left_out_can_be_told() -> None:
    assert set(environment.ignored(HOSTILE)) == {
        "CFLAGS",
        "CPATH",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "SOURCE_DATE_EPOCH",
    }
    assert environment.ignored({"CFLAGS": ""}) == ()
