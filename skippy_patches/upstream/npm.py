"""A file out of an npm package, fetched by the person's own npm."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

from skippy_patches.git import user_environment
from skippy_patches.upstream.errors import SourceFailed

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.progress import Reporter


def extract(package: str, path: str, folder: Path, reporter: Reporter) -> Path:
    """The file `path` of `package` (NAME@VERSION), written into `folder`. Raises SourceFailed."""
    archive = _pack(package, folder, reporter)
    target = folder / "npm.bundle"
    member = f"package/{path}"  # npm's own layout of every package it packs
    try:
        with tarfile.open(archive) as tar:
            source = tar.extractfile(member)
            if source is None:
                raise SourceFailed(f"{path} in {package} is not a file")
            with source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
    except KeyError:
        raise SourceFailed(f"{package} holds no file {path}") from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise SourceFailed(f"what npm packed cannot be read: {error}") from error
    return target


def _pack(package: str, folder: Path, reporter: Reporter) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise SourceFailed("npm is not on PATH")
    if package.startswith("-"):
        raise SourceFailed("a package's name does not start with '-'")
    reporter.advance(f"npm pack {package}", 0, None)
    process = subprocess.run(
        [npm, "pack", package, "--ignore-scripts", "--no-update-notifier", "--loglevel=error"],
        cwd=folder,
        env=user_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SourceFailed(process.stderr.strip()[-2000:] or f"npm ended with status {process.returncode}")
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise SourceFailed(f"npm pack left {len(archives)} archives")
    return archives[0]
