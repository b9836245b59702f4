"""The referee: the real `git am`, in a scratch work tree of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply.errors import EngineDisagrees, PatchDoesNotApply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.engine import Options
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch

_SWITCHES = (
    "--keep-cr",
    "--no-scissors",
    "--committer-date-is-author-date",
    "--no-gpg-sign",
    "--no-3way",
    "--whitespace=nowarn",
    "--quiet",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Referee:
    """`git am` in a linked work tree at `folder`."""

    repository: Repository
    options: Options
    folder: Path

    def check(
        self, base: ObjectId, patches: Sequence[Patch], commits: Sequence[ObjectId], reporter: Reporter
    ) -> None:
        """Raise EngineDisagrees at the first patch whose commit `git am` makes differently."""
        with self._worktree(base) as scratch:
            for count, (patch, found) in enumerate(zip(patches, commits, strict=True), start=1):
                reporter.advance("Verifying with git am", count, len(patches))
                expected = self._am(scratch, patch)
                if expected != found:
                    raise EngineDisagrees(patch, expected, found)

    def _am(self, scratch: Repository, patch: Patch) -> ObjectId:
        file = self.folder.with_name("am.patch")
        file.write_bytes(patch.content)
        committer = {
            "GIT_COMMITTER_NAME": self.options.committer.name.encode(),
            "GIT_COMMITTER_EMAIL": self.options.committer.email.encode(),
        }
        keep = ["--keep-non-patch"] if self.options.subject_prefix == "keep" else []
        result = scratch.run("am", *_SWITCHES, *keep, str(file), env=committer, check=False)
        head = scratch.resolve("HEAD")
        if result.status or head is None:
            raise PatchDoesNotApply(patch, f"git am: {result.stderr.strip()}")
        return head

    @contextlib.contextmanager
    def _worktree(self, base: ObjectId) -> Iterator[Repository]:
        self._remove()
        self.repository.run("worktree", "add", "--quiet", "--detach", str(self.folder), base)
        try:
            # A linked work tree's .git is a file that names its git dir (gitrepository-layout(5)).
            pointer = (self.folder / ".git").read_bytes().removeprefix(b"gitdir: ").rstrip(b"\n")
            git_dir = Path(os.fsdecode(pointer))
            yield dataclasses.replace(self.repository, git_dir=git_dir, work_tree=self.folder)
        finally:
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.repository.run("worktree", "prune", "--expire=now")
