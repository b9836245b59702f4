from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import remote
from skippy_patches.compilercache import Address
from tests.services import free_port, http_store, redis, silent

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "p|ss w%rd/ü@:"  # all that a URL, and ccache's attributes, could trip over


def at(scheme: str, port: int, user: str = "", path: str = "") -> Address:
    return Address(scheme, user, "127.0.0.1", port, path)


@pytest.mark.parametrize("scheme", ["redis", "rediss", "http", "https"])
def test_a_port_where_nothing_is(scheme: str) -> None:
    found = remote.problem(at(scheme, free_port()), SECRET)

    assert found == "there is no answer (Connection refused)"


@pytest.mark.parametrize("scheme", ["redis", "rediss", "http", "https"])
def test_a_server_that_says_nothing_is_not_waited_for(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "WITHIN", 0.1)
    with silent() as port:
        assert remote.problem(at(scheme, port), "") == "it does not answer within 0.1 s"


def test_a_scheduler_and_a_site_that_are_not_there() -> None:
    nowhere = at("http", free_port())

    assert remote.scheduler_problem(nowhere, "") == "there is no answer (Connection refused)"
    assert remote.unreachable(nowhere) == "there is no answer (Connection refused)"


def test_a_name_that_nobody_knows() -> None:
    address = Address("redis", "", "cache.invalid", 6379, "")

    assert remote.problem(address, "") in {"its name is not known here", "it does not answer within 1 s"}


def test_http_with_and_without_the_secret() -> None:
    with http_store(secret=SECRET.encode().hex()) as store:
        assert remote.problem(at("http", store.port, path="/x"), SECRET.encode().hex()) == ""
        assert remote.problem(at("http", store.port), "wrong").startswith("it wants a secret, or refuses")
        assert store.requests[0] == ("GET", "/x/skippy-patches-probe")
    with http_store(user="me", secret=SECRET) as store:
        assert remote.problem(at("http", store.port, "me"), SECRET) == ""
        assert remote.problem(at("http", store.port, "me"), "") != ""
    with http_store(status=503) as store:
        assert remote.problem(at("http", store.port), "") == "it answers with status 503"


def test_what_answers_is_something_else() -> None:
    with http_store() as store:
        assert remote.problem(at("redis", store.port), "") == "what answers is no Redis"
        assert remote.problem(at("https", store.port), "").startswith("it does not speak TLS")


@pytest.mark.thorough
def test_redis_with_and_without_the_secret(tmp_path: Path) -> None:
    with redis(tmp_path, secret=SECRET) as server:
        assert remote.problem(at("redis", server.port, path="/3"), SECRET) == ""
        assert remote.problem(at("redis", server.port, "default"), SECRET) == ""
        for user, secret in (("", ""), ("", "wrong"), ("nobody", SECRET)):
            found = remote.problem(at("redis", server.port, user), secret)
            assert found == "it wants a secret, or refuses this one"
        assert remote.problem(at("redis", server.port, path="/99"), SECRET) == "it answers SELECT with ERR"


def test_what_ccache_is_told() -> None:
    def told(address: Address, secret: str, *, read_only: bool = False) -> str:
        return remote.variables("ccache", address, secret, read_only=read_only)["CCACHE_REMOTE_STORAGE"]

    assert told(at("redis", 1), "") == "redis://127.0.0.1:1"
    assert told(at("redis", 1, path="/3"), "a b", read_only=True) == "redis://a%20b@127.0.0.1:1/3|read-only"
    assert told(at("redis", 1), "a:b") == "redis://default:a%3Ab@127.0.0.1:1"  # Redis's own name of no user
    assert told(at("redis", 1, "me"), "a|b") == "redis://me:a%7Cb@127.0.0.1:1"
    assert told(at("http", 1, "me", "/x"), "s") == "http://me:s@127.0.0.1:1/x"
    assert told(at("http", 1), "a b") == "http://127.0.0.1:1|bearer-token=a%20b"


def test_what_sccache_is_told() -> None:
    shared = {"SCCACHE_MULTILEVEL_WRITE_ERROR_POLICY": "ignore"}
    assert remote.variables("sccache", at("rediss", 1, "me", "/3"), "s", read_only=True) == shared | {
        "SCCACHE_REDIS_ENDPOINT": "rediss://127.0.0.1:1",
        "SCCACHE_REDIS_USERNAME": "me",
        "SCCACHE_REDIS_PASSWORD": "s",
        "SCCACHE_REDIS_DB": "3",
        "SCCACHE_REDIS_RW_MODE": "READ_ONLY",
        "SCCACHE_MULTILEVEL_CHAIN": "disk,redis",
    }
    assert remote.variables("sccache", at("https", 1, path="/x"), "s", read_only=False) == shared | {
        "SCCACHE_WEBDAV_ENDPOINT": "https://127.0.0.1:1/x",
        "SCCACHE_WEBDAV_TOKEN": "s",
        "SCCACHE_WEBDAV_RW_MODE": "READ_WRITE",
        "SCCACHE_MULTILEVEL_CHAIN": "disk,webdav",
    }
