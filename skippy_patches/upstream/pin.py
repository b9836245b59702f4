"""The pin: which commit of llama.cpp, and the raw commit object that lets any carrier of its tree serve."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.errors import ConfigError
from skippy_patches.objectid import ObjectId, hash_object

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.config import Upstream

_TREE_LINE = re.compile(rb"tree ([0-9a-f]{40})\n")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pin:
    """The upstream commit. `commit_object` is its raw content and `tree` what that names, where given.

    Without a commit object only a carrier of the commit itself can serve.
    """

    tag: str
    commit: ObjectId
    tree: ObjectId | None
    commit_object: bytes | None


class WrongCommitObject(ConfigError):
    """The commit object file is not the pin's."""

    def __init__(self, file: Path, found: ObjectId, pin: ObjectId) -> None:
        super().__init__(
            f"is commit {found}, not the pin {pin}.",
            file=file,
            why="One byte more or less gives another hash: a last newline, a converted line ending.",
            mend=f"Write it again where the commit is at hand: git cat-file commit {pin} > {file.name}",
        )


def read(upstream: Upstream) -> Pin:
    """The pin with its commit object, verified by its hash. Raises ConfigError."""
    file = upstream.commit_object
    if file is None:
        return Pin(tag=upstream.tag, commit=upstream.commit, tree=None, commit_object=None)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"the pin's commit object cannot be read: {error.strerror}", file=file) from error
    found = hash_object("commit", content)
    match = _TREE_LINE.match(content)
    if found != upstream.commit or match is None:
        raise WrongCommitObject(file, found, upstream.commit)
    tree = ObjectId(match[1].decode())
    return Pin(tag=upstream.tag, commit=upstream.commit, tree=tree, commit_object=content)
