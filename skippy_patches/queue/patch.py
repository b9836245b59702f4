"""A patch file and the queue of them, as values."""

from __future__ import annotations

import re

from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = re.compile(r"(\d{4})-(.+)\.patch", re.ASCII)
SUFFIX = ".patch"
HIGHEST_NUMBER = 9999


class Patch(NamedTuple):
    """One file of the queue.

    lane: the folder as it is configured, with `/`. name: the file's name, NNNN-subject.patch; number: its
    first four digits. content: its bytes, exactly.
    """

    lane: str
    name: str
    number: int
    content: bytes

    @property
    def path(self) -> str:
        """Lane and name, relative to the project."""
        return join(self.lane, self.name)

    @property
    def sha256(self) -> str:
        """Of the file's bytes, in hexadecimal."""
        import hashlib  # noqa: PLC0415 - loads OpenSSL, which the hook never needs

        return hashlib.sha256(self.content).hexdigest()


def join(lane: str, name: str) -> str:
    """The path of file `name` in `lane`, relative to the project."""
    return name if lane == "." else f"{lane}/{name}"


def number_of(name: str) -> int | None:
    """The number that the file name `name` carries, or None when it is not NNNN-subject.patch."""
    match = NAME.fullmatch(name)
    return int(match[1]) if match else None


def digest(patches: Iterable[Patch]) -> str:
    r"""Identify a queue by the bytes, names and order of its patches.

    SHA-256 over one line a patch, `<sha256>  <lane>/<name>\\n`, in apply order. So
    `sha256sum patches/*.patch | sha256sum` in the project's folder gives the same digits.
    """
    import hashlib  # noqa: PLC0415 - see Patch.sha256

    lines = "".join(f"{patch.sha256}  {patch.path}\n" for patch in patches)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def content_digest(sums: Iterable[str]) -> str:
    r"""Identify a queue by the bytes and order of its patches alone: what `renumber` leaves as it is.

    sums: the SHA-256 of each patch, in apply order; the digest is that of one line a patch, `<sha256>\\n`.
    `sha256sum patches/*.patch | cut -c 1-64 | sha256sum` gives the same digits.
    """
    import hashlib  # noqa: PLC0415 - see Patch.sha256

    return hashlib.sha256("".join(f"{each}\n" for each in sums).encode()).hexdigest()
