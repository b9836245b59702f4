"""A queue of three patches in a project that has a checkout and needs no desk."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.evidence import made
from tests.renumber.branches import Author, without_desk

if TYPE_CHECKING:
    from skippy_patches.evidence.record import Record
    from tests.world import World


@pytest.fixture
def author(tmp_path: Path, upstream: Path) -> tuple[World, Author]:
    """The project, and who writes its patches: 0001-first and 0002-second of one file, 0003-apart."""
    return _author(tmp_path, upstream)


@pytest.fixture
def known(upstream: Path) -> Record:
    """The same record as that of `built`, for who needs no project."""
    return _known(upstream)


@functools.cache  # and no fixture of the session: those begin before the cache of pins is the tests' own
def _known(upstream: Path) -> Record:
    return made.build(_author(upstream.with_name(f"{upstream.name}-known"), upstream)[0])


def _author(folder: Path, upstream: Path) -> tuple[World, Author]:
    world = without_desk(folder / "project", upstream)
    author = Author(lane=world.patches)
    for number, slug, file in ((1, "first", "src/a.c"), (2, "second", "src/a.c"), (3, "apart", "src/b.c")):
        author.add(number, slug, file)
    return world, author


@pytest.fixture(scope="session")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("library") / "libllama.so"
    source = file.with_suffix(".c")
    source.write_text("static int hidden(void) { return 1; }\nint seen(void) { return hidden(); }\n")
    options = ["-O0", "-shared", "-fPIC", "-nostdlib", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", *options, source, "-o", file], check=True)
    return file


@pytest.fixture
def library(_library: Path, tmp_path: Path) -> Path:
    """A small libllama.so with the run path $ORIGIN."""
    return Path(shutil.copy(_library, tmp_path))


@pytest.fixture
def built(author: tuple[World, Author]) -> tuple[World, Record]:
    """The project, and the record of its build."""
    return author[0], made.build(author[0])
