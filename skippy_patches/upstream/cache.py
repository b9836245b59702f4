"""The machine's cache of pins: one bare repository a commit, complete and verified or not there.

It is filled in a temporary folder beside its place and renamed into it, so that an interrupted download
is never used and two processes cannot meet half a repository.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.errors import UsageError
from skippy_patches.files import remove_abandoned
from skippy_patches.git import GitFailed, Repository
from skippy_patches.setting import VARIABLE_PREFIX
from skippy_patches.upstream.errors import NoSource, SourceFailed
from skippy_patches.upstream.sources import Directory, Source
from skippy_patches.upstream.verify import PIN_REF, adopt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cache:
    """The folder that holds `upstream/<commit>.git`."""

    root: Path

    @classmethod
    def default(cls, variables: Mapping[str, str] | None = None) -> Cache:
        """SKIPPY_PATCHES_CACHE_DIR, else skippy-patches in the XDG cache folder."""
        env = os.environ if variables is None else variables
        chosen = env.get(VARIABLE_PREFIX + "CACHE_DIR")
        if chosen:
            return cls(root=Path(chosen).absolute())
        base = env.get("XDG_CACHE_HOME", "")
        return cls(
            root=(Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "skippy-patches"
        )

    def place(self, pin: Pin) -> Path:
        """Where the pin's repository is or will be."""
        return self.root / "upstream" / f"{pin.commit}.git"


def deliver(pin: Pin, sources: Sequence[Source], cache: Cache, into: Repository, reporter: Reporter) -> None:
    """Make the genuine pin commit stand in `into`: from the cache, which the sources fill.

    Every carrier is verified on its way, the cache too. Raises NoSource with every reason.
    """
    failures: list[tuple[str, str]] = []
    place = cache.place(pin)
    is_damaged = False
    if place.is_dir():
        try:
            return _from_cache(pin, place, into, reporter)
        except SourceFailed as error:
            reporter.step(f"The cache {place} cannot be used and is made again: {error}")
            failures.append((f"cache {place}", str(error)))
            is_damaged = True
    for source in sources:
        try:
            _fill(pin, source, place, reporter, is_damaged=is_damaged)
            return _from_cache(pin, place, into, reporter)
        except SourceFailed as error:
            reporter.step(f"{source.name} cannot serve the pin: {_first_line(error)}")
            failures.append((source.name, str(error)))
    raise NoSource(pin, failures)


def _from_cache(pin: Pin, place: Path, into: Repository, reporter: Reporter) -> None:
    directory = Directory(name="cache", location=place)
    adopt(into, pin, directory.fetch(into, pin, place, reporter))


def _fill(pin: Pin, source: Source, place: Path, reporter: Reporter, *, is_damaged: bool) -> None:
    reporter.step(f"Fetching {pin.tag or pin.commit.short} from {source.name}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(each for each in place.parent.iterdir() if each.suffix != ".git")
        holder = tempfile.TemporaryDirectory(prefix=f"{pin.commit.short}-", dir=place.parent)
    except OSError as error:
        raise UsageError(
            f"The cache folder {place.parent} cannot be written: {error.strerror}.",
            mend=f"Name another one in {VARIABLE_PREFIX}CACHE_DIR.",
        ) from error
    with holder as folder:
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        repository = Repository.create(Path(folder) / "repository.git", bare=True)
        try:
            adopt(repository, pin, source.fetch(repository, pin, scratch, reporter))
        except GitFailed as error:
            raise SourceFailed(str(error)) from error
        if is_damaged:
            place.rename(Path(folder) / "damaged")  # goes with the folder
        _publish(repository, place)


def _publish(repository: Repository, place: Path) -> None:
    # HEAD names the pin, so that a plain `git fetch PLACE HEAD` finds it too.
    repository.run("update-ref", "--no-deref", "HEAD", PIN_REF)
    try:
        repository.git_dir.rename(place)
    except OSError:
        if not place.is_dir():  # else another process was first, with the same bytes
            raise


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no reason given")
