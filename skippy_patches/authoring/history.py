"""Commits as values: what of them a patch file carries, and what it does not."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.objectid import ObjectId
from skippy_patches.queue.commits import read_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skippy_patches.config import Identity
    from skippy_patches.git import Repository

_AUTHOR = re.compile(rb"(.*?) ?<([^>]*)> (-?\d+) ([+-]\d+)", re.DOTALL)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit. date: seconds since the epoch and the zone, as git keeps them. text: the message in UTF-8.

    is_utf8: the commit holds its text as it is here, and needed no conversion.
    """

    id: ObjectId
    tree: ObjectId
    parents: tuple[ObjectId, ...]
    author: str
    email: str
    date: str
    text: bytes
    is_utf8: bool

    @property
    def subject(self) -> str:
        """The first paragraph in a line, as `git log --format=%s` gives it."""
        title, _, _ = self.text.lstrip(b"\n").partition(b"\n\n")
        return " ".join(line.strip() for line in _decoded(title).split("\n")).strip()

    @property
    def content(self) -> tuple[object, ...]:
        """All that a patch file carries: what two commits must share to be the same patch."""
        seconds, zone = self.date.split(" ")
        text = self.text if self.text.endswith(b"\n") or not self.text else self.text + b"\n"
        return self.tree, self.author, self.email, int(seconds), int(zone), text


def read(repository: Repository, ids: Sequence[ObjectId]) -> list[Commit]:
    """These commits, in this order; one process for all."""
    found = read_objects(repository, ids)
    return [_parse(each, found[each]) for each in ids]


def between(repository: Repository, base: ObjectId, tip: ObjectId) -> list[Commit]:
    """The commits of base..tip, parents first."""
    listed = repository.run("rev-list", "--reverse", "--topo-order", f"{base}..{tip}").text.split()
    return read(repository, [ObjectId(each) for each in listed])


def make(
    repository: Repository,
    like: Commit,
    *,
    tree: ObjectId,
    parents: Iterable[ObjectId],
    committer: Identity | None = None,
) -> ObjectId:
    """A commit with the text, author and dates of `like`; without a committer, its author is that as well."""
    identities = {
        "GIT_AUTHOR_NAME": like.author,
        "GIT_AUTHOR_EMAIL": like.email,
        "GIT_AUTHOR_DATE": f"@{like.date}",
        "GIT_COMMITTER_NAME": committer.name if committer else like.author,
        "GIT_COMMITTER_EMAIL": committer.email if committer else like.email,
        "GIT_COMMITTER_DATE": f"@{like.date}",
    }
    env = {name: value.encode("utf-8", "surrogateescape") for name, value in identities.items()}
    named = [word for parent in parents for word in ("-p", parent)]
    return ObjectId(repository.run("commit-tree", tree, *named, stdin=like.text, env=env).line)


def _parse(commit: ObjectId, raw: bytes) -> Commit:
    head, _, text = raw.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")  # a signature's further lines begin with a blank: name is empty
        fields.setdefault(name, []).append(value)
    encoding = fields.get(b"encoding", [b""])[0].decode("ascii", "replace")
    match = _AUTHOR.fullmatch(fields.get(b"author", [b""])[0])
    author, email, seconds, zone = match.groups() if match else (b"", b"", b"0", b"+0000")
    stored = (author, email, text)
    converted = tuple(_converted(part, encoding) for part in stored)
    return Commit(
        id=commit,
        tree=ObjectId(fields[b"tree"][0].decode()),
        parents=tuple(ObjectId(parent.decode()) for parent in fields.get(b"parent", [])),
        author=converted[0].decode(),
        email=converted[1].decode(),
        date=f"{seconds.decode()} {zone.decode()}",
        text=converted[2],
        is_utf8=not encoding and converted == stored,
    )


def _converted(text: bytes, encoding: str) -> bytes:
    """`text` in UTF-8. What no encoding explains is taken for Latin-1, as git-commit-tree(1) takes it."""
    try:
        if encoding:
            return text.decode(encoding).encode()
    except (LookupError, UnicodeError):
        pass
    return _decoded(text).encode()


def _decoded(text: bytes) -> str:
    return "".join(
        chr(ord(char) - 0xDC00) if 0xDC80 <= ord(char) <= 0xDCFF else char
        for char in text.decode("utf-8", "surrogateescape")
    )
