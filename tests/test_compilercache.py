"""`cache:` of skippy-patches.yaml: what it may hold, what wins, and that no message tells a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches import config
from skippy_patches.compilercache import NOT_CONFIGURED, Address, CompilerCache
from skippy_patches.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = f"upstream:\n  repository: https://example.org/x.git\n  commit: {'14' * 20}\n"
SECRET = "hunter2"


def load(folder: Path, cache: str, **variables: str) -> CompilerCache:
    file = folder / config.FILE_NAME
    file.write_text(f"{MINIMAL}cache: {cache}\n", encoding="utf-8")
    return config.load(file, variables=variables).cache


def test_nothing_is_shared_unless_the_file_says_so(tmp_path: Path) -> None:
    assert load(tmp_path, "") == load(tmp_path, "{}") == NOT_CONFIGURED


def test_everything(tmp_path: Path) -> None:
    text = """
  launcher: sccache
  remote: rediss://team@cache.example.org/2
  secret_variable: TEAM_CACHE_SECRET
  read_only: true
  distribute: {scheduler: "http://[::1]:10600/dist/", secret_variable: TEAM_TOKEN}"""
    assert load(tmp_path, text) == CompilerCache(
        "sccache",
        Address("rediss", "team", "cache.example.org", 6379, "/2"),
        "TEAM_CACHE_SECRET",
        True,
        Address("http", "", "[::1]", 10600, "/dist"),
        "TEAM_TOKEN",
    )


def test_variables_beat_the_file(tmp_path: Path) -> None:
    text = "{remote: 'redis://one', secret_variable: ONE, distribute: {scheduler: 'http://one'}}"
    other = load(
        tmp_path,
        text,
        SKIPPY_PATCHES_CACHE_REMOTE="http://two:8080/objects",
        SKIPPY_PATCHES_CACHE_SECRET_VARIABLE="TWO",
        SKIPPY_PATCHES_CACHE_READ_ONLY="true",
        SKIPPY_PATCHES_CACHE_SCHEDULER="none",
    )
    assert other.remote == Address("http", "", "two", 8080, "/objects")
    assert (other.secret_variable, other.read_only, other.scheduler) == ("TWO", True, None)
    assert load(tmp_path, text, SKIPPY_PATCHES_CACHE_REMOTE="none").remote is None
    alone = load(tmp_path, "{}", SKIPPY_PATCHES_CACHE_SCHEDULER="https://s", SKIPPY_PATCHES_CACHE_REMOTE="")
    assert (alone.remote, alone.scheduler) == (None, Address("https", "", "s", 443, ""))


MISTAKES = [
    ("{luncher: ccache}", "unknown key 'cache.luncher'", "Did you mean 'launcher'?"),
    ("{launcher: ccahce}", "'cache.launcher' must be auto or none or", "Did you mean 'ccache'?"),
    ("{remote: 'reddis://h'}", "'cache.remote' does not begin with one of redis://", "Did you mean 'redis'?"),
    ("{remote: 'cache.example.org:6379'}", "'cache.remote' is no address", "redis://cache.example.org:6379"),
    (f"{{remote: 'redis://:{SECRET}@h'}}", "'cache.remote' holds a password", "TEAM_CACHE_SECRET"),
    (f"{{remote: 'http://me:{SECRET}@h/x'}}", "'cache.remote' holds a password", "TEAM_CACHE_SECRET"),
    (f"{{remote: 'redis://h|password={SECRET}'}}", "is not SCHEME://[USER@]HOST[:PORT][/PATH]", "redis://"),
    (f"{{remote: 'http://h/?token={SECRET}'}}", "is not SCHEME://[USER@]HOST[:PORT][/PATH]", "redis://"),
    ("{remote: 'redis://h:66000'}", "has the port 66000, and there are 1 to 65535", ""),
    ("{remote: 'redis://h/objects'}", "names a database that is no number", "/1"),
    ("{launcher: ccache, remote: 'https://h'}", "is one of https, which ccache does not speak", "sccache"),
    ("{launcher: none, remote: 'redis://h'}", "is given, and the launcher is none", "Take one"),
    (f"{{secret_variable: {SECRET}}}", "'cache.secret_variable' is not the name of an", "TEAM_CACHE_SECRET"),
    ("{secret_variable: 7UP}", "'cache.secret_variable' begins with a digit", "TEAM_CACHE_SECRET"),
    ("{read_only: yes}", "'cache.read_only' must be true or false, not 'yes'", ""),
    ("{distribute: {}}", "'cache.distribute.scheduler' is missing", "https://scheduler.example.org"),
    ("{distribute: {shceduler: x}}", "unknown key 'cache.distribute.shceduler'", "mean 'scheduler'?"),
    ("{distribute: {scheduler: 'redis://h'}}", "'cache.distribute.scheduler' does not begin with", "http"),
    (
        "{launcher: ccache, distribute: {scheduler: 'http://h'}}",
        "'cache.distribute.scheduler' is given, and the launcher is ccache",
        "launcher: sccache",
    ),
]


@pytest.mark.parametrize(("text", "what", "mend"), MISTAKES)
def test_mistakes_are_told_with_their_line_and_without_secrets(
    tmp_path: Path, text: str, what: str, mend: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert caught.value.line == 4
    assert what in caught.value.what
    assert mend in caught.value.mend
    assert SECRET not in str(caught.value)


def test_a_mistake_in_a_variable_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="variable SKIPPY_PATCHES_CACHE_REMOTE holds a password") as caught:
        load(tmp_path, "{}", SKIPPY_PATCHES_CACHE_REMOTE=f"redis://:{SECRET}@h")
    assert SECRET not in str(caught.value)
    with pytest.raises(UsageError, match="SKIPPY_PATCHES_CACHE_READ_ONLY must be true or false, not '1'"):
        load(tmp_path, "{}", SKIPPY_PATCHES_CACHE_READ_ONLY="1")
