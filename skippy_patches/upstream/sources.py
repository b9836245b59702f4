"""The carriers of the pin, each a source that fetches into a repository or says why it cannot."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from skippy_patches.git import GitFailed
from skippy_patches.upstream import npm, transfer
from skippy_patches.upstream.address import public
from skippy_patches.upstream.errors import SourceFailed

if TYPE_CHECKING:
    from skippy_patches.config import Upstream
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.pin import Pin


class Source(Protocol):
    """Something that may hold the pin, or a commit with the pin's tree."""

    @property
    def name(self) -> str:
        """As the user knows it."""

    def fetch(self, into: Repository, pin: Pin, scratch: Path, reporter: Reporter) -> ObjectId:
        """Bring objects into `into`; return the commit they hang on. Raises SourceFailed.

        scratch: a folder for downloads, removed afterwards whatever happens.
        """


@dataclasses.dataclass(frozen=True, kw_only=True)
class Remote:
    """A git repository, by address or path: the pin by its full SHA, without history."""

    name: str
    location: str

    def fetch(self, into: Repository, pin: Pin, scratch: Path, reporter: Reporter) -> ObjectId:
        """Fetch the pin and nothing else."""
        del scratch
        return _fetch(into, self.location, pin.commit, reporter, "--depth=1")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Directory:
    """A git repository on this machine, which may hold only a commit with the same tree."""

    name: str
    location: Path

    def fetch(self, into: Repository, pin: Pin, scratch: Path, reporter: Reporter) -> ObjectId:
        """Fetch the pin, else HEAD."""
        del scratch
        if not self.location.is_dir():
            raise SourceFailed("there is no such folder")
        try:
            return _fetch(into, str(self.location), pin.commit, reporter, "--depth=1")
        except SourceFailed:
            return _fetch(into, str(self.location), "HEAD", reporter, "--depth=1")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle file (git-bundle(1)), on this machine or at an http(s) address."""

    name: str
    location: str
    sha256: str

    def fetch(self, into: Repository, pin: Pin, scratch: Path, reporter: Reporter) -> ObjectId:
        """Download where needed, verify, then fetch."""
        if "://" in self.location:
            file = transfer.download(self.location, scratch, reporter)
        elif Path(self.location).is_dir():
            directory = Directory(name=self.name, location=Path(self.location))
            return directory.fetch(into, pin, scratch, reporter)
        else:
            file = Path(self.location)
        return _fetch_bundle(file, self.sha256, into, pin, reporter)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NpmPackage:
    """A bundle inside an npm package, through the person's own npm and its settings."""

    name: str
    package: str
    path: str
    sha256: str

    def fetch(self, into: Repository, pin: Pin, scratch: Path, reporter: Reporter) -> ObjectId:
        """`npm pack`, take the bundle out, verify, then fetch."""
        file = npm.extract(self.package, self.path, scratch, reporter)
        return _fetch_bundle(file, self.sha256, into, pin, reporter)


def configured(upstream: Upstream) -> tuple[Source, ...]:
    """The repository, then the mirrors in their order."""
    sources: list[Source] = []
    if upstream.repository:
        sources.append(Remote(name=public(upstream.repository), location=upstream.repository))
    for mirror in upstream.mirrors:
        name = f"{mirror.kind} {public(mirror.location)}"
        if mirror.kind == "npm":
            package = NpmPackage(name=name, package=mirror.location, path=mirror.path, sha256=mirror.sha256)
            sources.append(package)
        elif mirror.kind == "bundle":
            sources.append(Bundle(name=name, location=mirror.location, sha256=mirror.sha256))
        else:
            sources.append(Directory(name=name, location=Path(mirror.location)))
    return tuple(sources)


def _fetch_bundle(file: Path, sha256: str, into: Repository, pin: Pin, reporter: Reporter) -> ObjectId:
    transfer.verify_sha256(file, sha256)
    listed = into.run("bundle", "list-heads", str(file), check=False)
    if listed.status:
        raise SourceFailed(f"it is not a git bundle: {listed.stderr.strip()}")
    heads = {ref: commit for commit, ref in (line.split(" ", 1) for line in listed.text.splitlines())}
    if not heads:
        raise SourceFailed("the bundle holds no ref")
    ref = next((ref for ref, commit in heads.items() if commit == pin.commit), None)
    return _fetch(into, str(file), ref or ("HEAD" if "HEAD" in heads else next(iter(heads))), reporter)


def _fetch(into: Repository, location: str, wanted: str, reporter: Reporter, *options: str) -> ObjectId:
    label = "Fetching llama.cpp"
    carrier = "refs/skippy/carrier"
    try:
        into.fetch(
            *options,
            "--",  # whatever the configuration holds, it is no option
            location,
            f"+{wanted}:{carrier}",
            on_progress=lambda phase, percent: reporter.advance(f"{label}: {phase.lower()}", percent, 100),
        )
    except GitFailed as error:
        raise SourceFailed(error.stderr.strip() or str(error)) from error
    delivered = into.resolve(f"{carrier}^{{commit}}")
    into.run("update-ref", "-d", carrier)
    if delivered is None:
        raise SourceFailed("what it delivered is not a commit")
    return delivered
