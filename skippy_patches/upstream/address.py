"""Addresses of repositories as they may be shown: a variable of a CI job often holds a token in one."""

from __future__ import annotations


def public(address: str) -> str:
    """`address` without a password; over HTTP without the user, too: it may be a token (RFC 3986, 3.2.1)."""
    scheme, separator, rest = address.partition("://")
    authority, slash, path = rest.partition("/")
    known, at, host = authority.rpartition("@")
    if not separator or not at:
        return address
    user = "" if scheme.lower().startswith("http") else f"{known.partition(':')[0]}@"
    return f"{scheme}://{user}{host}{slash}{path}"
