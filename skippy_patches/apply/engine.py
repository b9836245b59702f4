"""Engines turn one patch into one commit, without a work tree of the user's.

`IndexEngine` does what `git am` does, with the commands that it is made of, in a scratch index: nothing is
checked out, so a patch costs milliseconds. The referee (`reference.py`) runs the real `git am`;
`apply --verify-with-git` compares the two.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Protocol

from skippy_patches.apply import explain
from skippy_patches.apply.errors import PatchDoesNotApply, PatchHasNoEffect
from skippy_patches.apply.ledger import Row
from skippy_patches.git import GitFailed
from skippy_patches.objectid import ObjectId
from skippy_patches.queue import message
from skippy_patches.queue.errors import UnreadablePatch

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.config import Identity, Project
    from skippy_patches.git import Repository
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.message import Message
    from skippy_patches.queue.patch import Patch

# What git cuts off both ends of a name and an address (ident.c). git 2.43 stopped counting the dot among it,
# which gives `Ada Jr.` another commit; cut here, every version makes the same.
CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_OFFSET = re.compile(r"Hunk #\d+ succeeded at \d+ \(offset -?\d+ lines?\)")
_IDENTITY_FAILURES = re.compile(r"empty ident|invalid date format", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What decides a commit beside the patch. subject_prefix: strip or keep a subject's "[tag]"."""

    committer: Identity
    subject_prefix: str

    @classmethod
    def of(cls, project: Project) -> Options:
        """What skippy-patches.yaml says."""
        return cls(committer=project.committer, subject_prefix=project.subject_prefix)


class Engine(Protocol):
    """Applies patches one after the other."""

    def apply(self, parent: ObjectId, patch: Patch) -> Row:
        """The commit of `patch` on `parent`. Raises PatchError; no ref and no work tree changes."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexEngine:
    """mailsplit, mailinfo, apply --cached, write-tree, commit-tree, with an index in `scratch`.

    A patch is taken apart once, on however many commits it is tried.
    """

    repository: Repository
    options: Options
    scratch: Path
    reporter: Reporter
    _mails: dict[Patch, Message] = dataclasses.field(default_factory=dict, init=False, repr=False)

    def apply(self, parent: ObjectId, patch: Patch) -> Row:
        """Apply `patch` on `parent` and commit it. Raises PatchError."""
        mail = self._mail(patch)
        tree, touched = self._apply_diff(parent, patch, mail.diff)
        commit = self._commit(patch, mail, tree, parent)
        return self._measure(patch, mail.subject, parent, commit, tree, touched)

    def is_there(self, parent: ObjectId, patch: Patch) -> bool:
        """Whether `parent` holds all that `patch` changes already: it can be taken back there.

        Raises UnreadablePatch.
        """
        index = {"GIT_INDEX_FILE": str(self.scratch / "index")}
        self.repository.run("read-tree", f"{parent}^{{tree}}", env=index)
        diff = self._mail(patch).diff
        command = ("apply", "--cached", "--check", "--reverse", "-")
        return self.repository.run(*command, stdin=diff, env=index, check=False).status == 0

    def _mail(self, patch: Patch) -> Message:
        if patch not in self._mails:
            self._mails[patch] = message.read(patch, self.options.subject_prefix)
        return self._mails[patch]

    def _apply_diff(self, parent: ObjectId, patch: Patch, diff: bytes) -> tuple[ObjectId, frozenset[str]]:
        """The tree of `parent` with `diff`, and the paths that it touches."""
        index = {"GIT_INDEX_FILE": str(self.scratch / "index")}
        self.repository.run("read-tree", f"{parent}^{{tree}}", env=index)
        switches = ("--cached", "--apply", "--numstat", "-z", "--verbose", "-")
        applied = self.repository.run("apply", *switches, stdin=diff, env=index, check=False)
        if applied.status:  # said again without --verbose, which mixes the patch's own lines in
            command = ("apply", "--cached", "-")
            again = self.repository.run(*command, stdin=diff, env=index, check=False)
            if again.status == 0 or explain.is_trouble(again.stderr):
                shown = again if again.status else applied
                raise GitFailed(command, shown.status, b"", shown.stderr)
            raise PatchDoesNotApply(patch, explain.failure(self.repository, parent, patch, again.stderr))
        self._report_offsets(patch, applied.stderr)
        tree = ObjectId(self.repository.run("write-tree", env=index).line)
        return tree, frozenset(line.split("\t", 2)[2] for line in applied.fields)

    def _report_offsets(self, patch: Patch, said: str) -> None:
        """A hunk may stand elsewhere than its line number says; with fuzz, git apply never places one."""
        moved = [line for line in said.splitlines() if _OFFSET.match(line)]
        for line in moved:
            self.reporter.detail(f"{patch.path}: {line}")
        if moved:
            self.reporter.step(f"{patch.path}: {len(moved)} of its hunks stand at an offset (-v: which)")

    def _commit(self, patch: Patch, mail: Message, tree: ObjectId, parent: ObjectId) -> ObjectId:
        identities = {
            "GIT_AUTHOR_NAME": mail.author.strip(CRUD),
            "GIT_AUTHOR_EMAIL": mail.email.strip(CRUD),
            "GIT_AUTHOR_DATE": mail.date,
            "GIT_COMMITTER_NAME": self.options.committer.name,
            "GIT_COMMITTER_EMAIL": self.options.committer.email,
            "GIT_COMMITTER_DATE": mail.date,
        }
        # UTF-8 whatever this process's locale is: the names become part of the commit.
        env = {name: value.encode("utf-8", "surrogateescape") for name, value in identities.items()}
        try:
            made = self.repository.run("commit-tree", tree, "-p", parent, stdin=mail.text, env=env)
        except GitFailed as error:
            if _IDENTITY_FAILURES.search(error.stderr):
                raise UnreadablePatch(patch, error.stderr.strip()) from error
            raise
        return ObjectId(made.line)

    def _measure(
        self,
        patch: Patch,
        subject: str,
        parent: ObjectId,
        commit: ObjectId,
        tree: ObjectId,
        touched: frozenset[str],
    ) -> Row:
        """The ledger's row, once every path that the patch touches is seen to differ from the parent."""
        options = ("-r", "-z", "--no-renames", "--numstat")
        changed = [
            line.split("\t", 2) for line in self.repository.run("diff-tree", *options, parent, commit).fields
        ]
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
