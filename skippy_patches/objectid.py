r"""Git object ids: a type of their own, and the hash that makes them.

The rule is git's (gitformat-pack(5), "object id"): SHA-1 over ``<type> <size in bytes>\\0<content>``.
"""

from __future__ import annotations

HEX_LENGTH = 40
_HEX = frozenset("0123456789abcdef")


class ObjectId(str):
    """A full SHA-1 object id: 40 lower-case hexadecimal digits."""

    __slots__ = ()

    def __new__(cls, text: str) -> ObjectId:
        """Raise ValueError when `text` is anything but a full id."""
        if len(text) != HEX_LENGTH or not _HEX.issuperset(text):
            raise ValueError(f"not a full object id: {text!r}")
        return super().__new__(cls, text)

    @property
    def short(self) -> str:
        """The first 12 digits, for people."""
        return self[:12]


EMPTY_TREE = ObjectId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")


def hash_object(kind: str, content: bytes) -> ObjectId:
    """The id that git gives `content` as an object of `kind` (commit, tree, blob or tag)."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL; the hook imports this module only for the type

    header = f"{kind} {len(content)}\0".encode()
    return ObjectId(hashlib.sha1(header + content, usedforsecurity=False).hexdigest())
