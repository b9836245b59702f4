"""The referee: the real `git am`, in a scratch work tree of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from typing import TYPE_CHECKING

from skippy_patches.apply.errors import EngineDisagrees, PatchDoesNotApply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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
            git_dir = self._admin_folder()
            assert git_dir is not None  # noqa: S101 - git has just made it
            yield dataclasses.replace(self.repository, git_dir=git_dir, work_tree=self.folder)
        finally:
            self._remove()

    def _admin_folder(self) -> Path | None:
        """The git dir of our work tree: the one whose `gitdir` names it (gitrepository-layout(5))."""
        ours = os.fsencode(self.folder / ".git")
        for pointer in self.repository.git_dir.glob("worktrees/*/gitdir"):
            if pointer.read_bytes().rstrip(b"\n") == ours:
                return pointer.parent
        return None

    def _remove(self) -> None:
        """Ours alone: `git worktree prune` would take a person's that is not mounted at the moment."""
        shutil.rmtree(self.folder, ignore_errors=True)
        admin = self._admin_folder()
        if admin is not None:
            shutil.rmtree(admin)
