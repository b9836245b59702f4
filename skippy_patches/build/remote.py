"""Where a team shares compiled objects: is it there, and how each engine is told about it.

A remote that is down, slow or closed never fails a build: what is wrong is a sentence, said once. Neither
the sentences nor anything that is kept holds the secret.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import queue
import re
import socket
import ssl
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from skippy_patches.compilercache import CCACHE

if TYPE_CHECKING:
    from collections.abc import Callable

    from skippy_patches.compilercache import Address

WITHIN = 1.0  # seconds in which a server answers, or is not waited for
_TLS = frozenset({"rediss", "https"})
_ALLOCATE = "/api/v1/scheduler/alloc_job"  # of sccache-dist, which looks at the token before the request
_PROBE = "/skippy-patches-probe"  # a key that no engine makes
_REFUSED = {401: "it wants a secret, or refuses this one", 403: "it refuses the secret"}
_REPLY = re.compile(rb"[-+]([A-Z]*)")  # simple string or error of the Redis protocol, and its first word
_WANTS_SECRET = frozenset({b"NOAUTH", b"WRONGPASS"})
_FINE = frozenset({b"OK", b"PONG", b"NOPERM"})  # NOPERM: whom an access list forbids PING


class _Refused(Exception):
    """The server answers, and not as one that can be used."""


def problem(address: Address, secret: str) -> str:
    """Why the server cannot be used, in words that follow "because"; nothing when it can. At most WITHIN."""
    ask = _ask_redis if address.scheme.startswith("redis") else _ask_http
    return _within(lambda: ask(address, secret))


def scheduler_problem(address: Address, token: str) -> str:
    """The same of a scheduler of sccache-dist. A refused token must be found here: it would fail compiles."""
    return _within(lambda: _ask_scheduler(address, token))


def unreachable(address: Address) -> str:
    """Why nothing answers there, as `problem` says it; whatever answers is asked nothing."""

    def connect() -> None:
        with _connected(address):
            pass

    return _within(connect)


def variables(engine: str, address: Address, secret: str, *, read_only: bool) -> dict[str, str]:
    """The environment with which `engine` uses the remote. It holds the secret: for child processes only."""
    if engine == CCACHE:
        return {"CCACHE_REMOTE_STORAGE": _for_ccache(address, secret, read_only=read_only)}
    mode = "READ_ONLY" if read_only else "READ_WRITE"
    if address.scheme.startswith("redis"):
        kind, known = "redis", _redis_for_sccache(address, secret)
    else:
        kind, known = "webdav", _webdav_for_sccache(address, secret)
    prefix = f"SCCACHE_{kind.upper()}_"
    return {prefix + name: text for name, text in (known | {"RW_MODE": mode}).items() if text} | {
        "SCCACHE_MULTILEVEL_CHAIN": f"disk,{kind}",
        "SCCACHE_MULTILEVEL_WRITE_ERROR_POLICY": "ignore",
    }


def _for_ccache(address: Address, secret: str, *, read_only: bool) -> str:
    """A URL and its attributes (ccache(1), "Remote storage backends"); | for versions before 4.13."""
    known, attributes = "", ["read-only"] if read_only else []
    if secret and not address.user and address.scheme == "http":
        attributes.append(f"bearer-token={quote(secret, safe='')}")
    elif secret:
        # ccache decodes first and splits then: before a colon in a password it would see a user.
        user = address.user or ("default" if ":" in secret else "")
        known = ":".join(quote(word, safe="") for word in (user, secret) if word)
    elif address.user:
        known = address.user
    before = f"{known}@" if known else ""
    return "|".join([f"{address.scheme}://{before}{address.place}{address.path}", *attributes])


def _redis_for_sccache(address: Address, secret: str) -> dict[str, str]:
    return {
        "ENDPOINT": f"{address.scheme}://{address.place}",
        "USERNAME": address.user,
        "PASSWORD": secret,
        "DB": address.path[1:],
    }


def _webdav_for_sccache(address: Address, secret: str) -> dict[str, str]:
    endpoint = {"ENDPOINT": f"{address.scheme}://{address.place}{address.path}"}
    if address.user:
        return endpoint | {"USERNAME": address.user, "PASSWORD": secret}
    return endpoint | {"TOKEN": secret}


def _within(ask: Callable[[], None]) -> str:
    """What `ask` found wrong. A thread, because looking a name up knows no time limit."""
    answers: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=lambda: answers.put(_told(ask)), daemon=True).start()
    try:
        return answers.get(timeout=WITHIN)
    except queue.Empty:
        return _slow()


def _slow() -> str:
    return f"it does not answer within {WITHIN:g} s"


def _told(ask: Callable[[], None]) -> str:
    """In words of our own: what a library says may hold the address, and the secret with it."""
    try:
        ask()
    except _Refused as error:
        return str(error)
    except TimeoutError:
        return _slow()
    except socket.gaierror:
        return "its name is not known here"
    except ssl.SSLError:
        return "it does not speak TLS, or its certificate is not trusted here"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"there is no answer ({getattr(error, 'strerror', None) or type(error).__name__})"
    return ""


def _connected(address: Address) -> socket.socket:
    plain = socket.create_connection((address.host.strip("[]"), address.port), timeout=WITHIN)
    if address.scheme not in _TLS:
        return plain
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=address.host.strip("[]"))
    except BaseException:
        plain.close()
        raise


def _ask_redis(address: Address, secret: str) -> None:
    """AUTH, SELECT and PING (https://redis.io/docs/latest/develop/reference/protocol-spec)."""
    commands = [["PING"]]
    if address.path:
        commands.insert(0, ["SELECT", address.path[1:]])
    if secret:
        commands.insert(0, ["AUTH", *([address.user] if address.user else []), secret])
    with _connected(address) as connection, connection.makefile("rb") as stream:
        for words in commands:
            connection.sendall(_request(words))
            _judge(stream.readline(1 << 10), words[0])


def _request(words: list[str]) -> bytes:
    """An array of bulk strings."""
    encoded = [word.encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded)


def _judge(reply: bytes, command: str) -> None:
    match = _REPLY.match(reply)
    if match is None:
        raise _Refused("what answers is no Redis")
    if match[1] in _WANTS_SECRET or (command == "AUTH" and match[1] == b"ERR"):
        raise _Refused(_REFUSED[401])
    if match[1] not in _FINE:
        raise _Refused(f"it answers {command} with {match[1].decode() or 'an error'}")


def _ask_http(address: Address, secret: str) -> None:
    status = _status(address, "GET", address.path + _PROBE, _authorization(address, secret))
    if status in _REFUSED:
        raise _Refused(_REFUSED[status])
    if status not in {200, 204, 404, 410}:
        raise _Refused(f"it answers with status {status}")


def _status(address: Address, method: str, path: str, headers: dict[str, str]) -> int:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.host.strip("[]"), address.port, timeout=WITHIN)
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


def _ask_scheduler(address: Address, token: str) -> None:
    """Ask for a job without saying which: status 400, or 401 where the token is not the right one."""
    if _status(address, "POST", _ALLOCATE, {"Authorization": f"Bearer {token}"}) in _REFUSED:
        raise _Refused(_REFUSED[401])


def _authorization(address: Address, secret: str) -> dict[str, str]:
    if not secret:
        return {}
    if not address.user:
        return {"Authorization": f"Bearer {secret}"}
    known = base64.b64encode(f"{address.user}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {known}"}
