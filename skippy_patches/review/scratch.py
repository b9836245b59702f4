"""A scratch repository that reads the objects of the project's own and writes none there.

What is merged there is merged hermetically: the same on every machine, whatever a person configured; how
files merge is what the .gitattributes of our side say (attributes.py). All that git does to the project's
object files is to freshen the time of those that it would have written.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.git import Repository
from skippy_patches.review.errors import OtherObjectFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.project_git import ProjectGit


@contextlib.contextmanager
def open_scratch(git: ProjectGit) -> Iterator[Repository]:
    """The repository, gone afterwards. Raises OtherObjectFormat."""
    _check_format(git)
    with tempfile.TemporaryDirectory(prefix="skippy-patches-") as folder:
        repository = Repository.create(Path(folder) / "review.git", bare=True)
        information = repository.git_dir / "objects" / "info"
        information.mkdir(exist_ok=True)
        # Objects that are found there are not written again (gitrepository-layout(5), alternates).
        (information / "alternates").write_bytes(bytes(git.common_dir / "objects") + b"\n")
        shallow = git.common_dir / "shallow"
        if shallow.exists():
            (repository.git_dir / "shallow").write_bytes(shallow.read_bytes())
        yield repository


def _check_format(git: ProjectGit) -> None:
    name = git.run("rev-parse", "--show-object-format").line
    if name != "sha1":
        raise OtherObjectFormat(name.upper())
