"""Engines turn one patch into one commit, without a work tree of the user's.

`IndexEngine` does what `git am` does, with the commands that it is made of, in a scratch index: nothing is
checked out, so a patch costs milliseconds. The reference engine (`reference.py`) runs the real `git am`;
`apply --verify-with-git` compares the two.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from typing import TYPE_CHECKING, Protocol

from skippy_patches.apply import explain
from skippy_patches.apply.errors import PatchDoesNotApply, PatchHasNoEffect, UnreadablePatch
from skippy_patches.apply.ledger import Row
from skippy_patches.git import GitFailed
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.config import Identity
    from skippy_patches.git import Repository, Result
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch

# What mailinfo prints, one field a line (git-mailinfo(1)).
_FIELD = re.compile(r"^(Author|Email|Subject|Date): (.*)$", re.MULTILINE)
_OFFSET = re.compile(r"Hunk #\d+ succeeded at \d+ \(offset -?\d+ lines?\)")
_COMMIT_FAILURES = re.compile(r"empty ident|invalid date format", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What decides a commit beside the patch. subject_prefix: strip or keep a subject's "[tag]"."""

    committer: Identity
    subject_prefix: str


class Engine(Protocol):
    """Applies patches one after the other."""

    def apply(self, parent: ObjectId, patch: Patch) -> Row:
        """The commit of `patch` on `parent`. Raises PatchError; no ref and no work tree changes."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexEngine:
    """mailsplit, mailinfo, apply --cached, write-tree, commit-tree, in `scratch`."""

    repository: Repository
    options: Options
    scratch: Path
    reporter: Reporter

    def apply(self, parent: ObjectId, patch: Patch) -> Row:
        """Apply `patch` on `parent` and commit it. Raises PatchError."""
        mail = read_mail(self.repository, patch, self.options, self.scratch)
        index = {"GIT_INDEX_FILE": str(self.scratch / "index")}
        self.repository.run("read-tree", f"{parent}^{{tree}}", env=index)
        switches = ("--cached", "--apply", "--numstat", "-z", "--verbose")
        applied = self.repository.run("apply", *switches, str(mail.diff), env=index, check=False)
        if applied.status:  # said again without --verbose, which mixes the patch's own lines in
            said = self.repository.run("apply", "--cached", str(mail.diff), env=index, check=False).stderr
            raise PatchDoesNotApply(patch, explain.failure(self.repository, parent, patch, said))
        self._report_offsets(patch, applied.stderr)
        tree = ObjectId(self.repository.run("write-tree", env=index).line)
        commit = _commit(self.repository, patch, mail, tree, parent, self.options)
        touched = frozenset(line.split("\t", 2)[2] for line in applied.fields)
        return _measure(self.repository, patch, mail.subject, parent, commit, tree, touched)

    def _report_offsets(self, patch: Patch, said: str) -> None:
        """A hunk may stand elsewhere than its line number says; with fuzz, git apply never places one."""
        moved = [line for line in said.splitlines() if _OFFSET.match(line)]
        for line in moved:
            self.reporter.detail(f"{patch.path}: {line}")
        if moved:
            self.reporter.step(f"{patch.path}: {len(moved)} of its hunks stand at an offset (-v: which)")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mail:
    """One message, as git mailinfo took it apart. `message` is the whole commit message."""

    author: str
    email: str
    date: str
    subject: str
    message: bytes
    diff: Path


def read_mail(repository: Repository, patch: Patch, options: Options, scratch: Path) -> Mail:
    """Split and parse as `git am --keep-cr` does. Raises UnreadablePatch."""
    folder = scratch / "mail"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "source").write_bytes(patch.content)
    split = repository.run("mailsplit", "-b", "--keep-cr", f"-o{folder}", str(folder / "source"), check=False)
    if split.status or split.line != "1":
        raise UnreadablePatch(
            patch, split.stderr.strip() or f"git mailsplit finds {split.line} messages in it"
        )
    body, diff = folder / "message", folder / "diff"
    keep = ["-b"] if options.subject_prefix == "keep" else []
    info = repository.run(
        "mailinfo",
        *keep,
        "--encoding=UTF-8",
        "--no-scissors",
        str(body),
        str(diff),
        stdin=(folder / "0001").read_bytes(),
        check=False,
    )
    if info.status:
        raise UnreadablePatch(patch, info.stderr.strip())
    if not diff.stat().st_size:
        raise UnreadablePatch(patch, "it changes nothing: there is no diff in it")
    return _mail(patch, info, body.read_bytes(), diff)


def _mail(patch: Patch, info: Result, body: bytes, diff: Path) -> Mail:
    fields: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(info.text):
        fields.setdefault(name, []).append(value)
    author, email, date = (next(iter(fields.get(key, [])), "") for key in ("Author", "Email", "Date"))
    if not email or not date:
        missing = "From:" if not email else "Date:"
        raise UnreadablePatch(
            patch, f"it has no usable {missing} line, so the commit would differ everywhere"
        )
    subject = "\n".join(fields.get("Subject", []))
    whole = subject.encode("utf-8", "surrogateescape") + b"\n\n" + body
    return Mail(author=author, email=email, date=date, subject=subject, message=strip_space(whole), diff=diff)


def strip_space(message: bytes) -> bytes:
    """As git-stripspace(1): no blanks at line ends, no blank lines at either end, one in a row between."""
    lines = [line.rstrip(b" \t\r\n") for line in message.split(b"\n")]
    kept: list[bytes] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return b"".join(line + b"\n" for line in kept)


def _commit(
    repository: Repository, patch: Patch, mail: Mail, tree: ObjectId, parent: ObjectId, options: Options
) -> ObjectId:
    identities = {
        "GIT_AUTHOR_NAME": mail.author,
        "GIT_AUTHOR_EMAIL": mail.email,
        "GIT_AUTHOR_DATE": mail.date,
        "GIT_COMMITTER_NAME": options.committer.name,
        "GIT_COMMITTER_EMAIL": options.committer.email,
        "GIT_COMMITTER_DATE": mail.date,
    }
    # UTF-8 whatever this process's locale is: the names become part of the commit.
    env = {name: value.encode("utf-8", "surrogateescape") for name, value in identities.items()}
    try:
        made = repository.run("commit-tree", tree, "-p", parent, stdin=mail.message, env=env)
    except GitFailed as error:
        if _COMMIT_FAILURES.search(error.stderr):
            raise UnreadablePatch(patch, error.stderr.strip()) from error
        raise
    return ObjectId(made.line)


def _measure(
    repository: Repository,
    patch: Patch,
    subject: str,
    parent: ObjectId,
    commit: ObjectId,
    tree: ObjectId,
    touched: frozenset[str],
) -> Row:
    """The ledger's row, once every path that the patch touches is seen to differ from the parent."""
    numstat = repository.run("diff-tree", "-r", "-z", "--no-renames", "--numstat", parent, commit)
    changed = [line.split("\t", 2) for line in numstat.fields]
    idle = touched - {path for _, _, path in changed}
    if idle or not changed:
        raise PatchHasNoEffect(patch, sorted(idle))
    return Row(
        commit=commit,
        tree=tree,
        subject=subject.replace("\n", " "),
        files=len(changed),
        insertions=sum(int(added) for added, _, _ in changed if added != "-"),
        deletions=sum(int(removed) for _, removed, _ in changed if removed != "-"),
    )
