"""Small histories of upstream, written by git fast-import: one process for thousands of commits."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from typing import TYPE_CHECKING

from skippy_patches.objectid import ObjectId
from tests.world import block, git

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_START = 1767225600  # 2026-01-01T00:00:00Z; a minute a commit

SOURCE = [block(number) for number in range(1, 13)]


def source(**changed: str) -> str:
    """Twelve blocks. changed: `b2="stop"` for another word in the place of `end` in block 2."""
    words = {int(name[1:]): word for name, word in changed.items()}
    return "".join(
        text.replace("end();", f"{words[number]}();") if number in words else text
        for number, text in enumerate(SOURCE, start=1)
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """A commit. files: what it changes; None removes. parents: names of earlier steps. name: its tag, too."""

    name: str
    files: Mapping[str, str | bytes | None]
    parents: Sequence[str]


def line(names: str, start: str, changes: Mapping[str, Mapping[str, str | bytes | None]]) -> list[Step]:
    """Steps one after the other on `start`; those without changes of their own change docs/log.md."""
    steps, last = [], start
    for name in names.split():
        files = changes.get(name, {"docs/log.md": f"{name}\n"})
        steps.append(Step(name=name, files=files, parents=[last]))
        last = name
    return steps


def make(folder: Path, steps: Sequence[Step], *, head: str) -> dict[str, ObjectId]:
    """A repository with these commits, each under its tag, and `head` checked out; name to commit."""
    git(folder.parent, "init", "-q", str(folder))
    marks = {step.name: number for number, step in enumerate(steps, start=1)}
    stream = b"".join(_commit(step, number, marks) for number, step in enumerate(steps, start=1))
    stream += f"reset refs/heads/main\nfrom :{marks[head]}\n".encode()
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, env=env, check=True)
    git(folder, "reset", "-q", "--hard", "main")
    listed = git(folder, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/tags").split()
    return {name: ObjectId(commit) for name, commit in zip(listed[::2], listed[1::2], strict=True)}


def _commit(step: Step, number: int, marks: Mapping[str, int]) -> bytes:
    who = f"Una Upstream <una@example.org> {_START + 60 * number} +0000"
    message = f"{step.name}: a change of upstream\n".encode()
    head = f"commit refs/tags/{step.name}\nmark :{number}\nauthor {who}\ncommitter {who}\n".encode()
    head += b"data %d\n%s" % (len(message), message)
    for word, parent in zip(("from", *["merge"] * len(step.parents)), step.parents, strict=False):
        head += f"{word} :{marks[parent]}\n".encode()
    return head + b"".join(_file(path, content) for path, content in step.files.items())


def _file(path: str, content: str | bytes | None) -> bytes:
    if content is None:
        return f"D {path}\n".encode()
    whole = content.encode() if isinstance(content, str) else content
    return f"M 100644 inline {path}\n".encode() + b"data %d\n%s\n" % (len(whole), whole)
