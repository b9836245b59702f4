"""Upstream's history from an address: fetched into the cache, once, and then only what is new.

Names of branches and tags are asked for each time; a full SHA that was fetched before needs no network.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.bisect.errors import NotFetched
from skippy_patches.files import remove_abandoned
from skippy_patches.git import GitFailed, Repository
from skippy_patches.objectid import HEX_LENGTH, ObjectId
from skippy_patches.upstream.address import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.progress import Reporter
    from skippy_patches.upstream.cache import Cache

# A name that can be fetched, and the way from there back (gitrevisions(7)): v1.2~3. Nothing else is sent.
_REVISION = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_./+-]*)(?P<back>(?:[~^][0-9]*)*)")
_FULL = re.compile(rf"[0-9a-f]{{{HEX_LENGTH}}}")


def fetch(
    address: str, revisions: Sequence[str], cache: Cache, reporter: Reporter
) -> tuple[Repository, tuple[ObjectId, ...]]:
    """The repository in the cache, and the commits that `revisions` name. Raises NotFetched."""
    name = hashlib.sha256(address.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    place = cache.root / "history" / f"{name}.git"
    with lock.hold(place.with_suffix(".lock"), reporter) as descriptor:
        _make(place)
        for left in (*place.glob("objects/pack/tmp_*"), *place.rglob("*.lock")):  # a killed fetch's
            left.unlink()
        repository = Repository(git_dir=place, inherited=(descriptor,))
        # The later commit first: its history holds the earlier one, for which nothing is fetched then.
        commits = [_commit(repository, address, revision, reporter) for revision in reversed(revisions)]
    return Repository(git_dir=place), tuple(reversed(commits))


def _make(place: Path) -> None:
    remove_abandoned(place.parent.glob("new-*"))
    if not place.is_dir():
        with tempfile.TemporaryDirectory(prefix="new-", dir=place.parent) as folder:
            Repository.create(Path(folder) / "repository.git", bare=True).git_dir.rename(place)


def _commit(repository: Repository, address: str, revision: str, reporter: Reporter) -> ObjectId:
    """What `revision` names at the address; an abbreviated SHA, in what was fetched before it."""
    match = _REVISION.fullmatch(revision)
    if match is None:
        said = "Only names and full SHAs can be asked for at an address, each with ~N or ^ behind it."
        raise NotFetched(revision, public(address), said)
    known = repository.resolve(f"{revision}^{{commit}}") if _FULL.fullmatch(match["name"]) else None
    if known is not None:
        return known
    ref = f"refs/skippy/history/{hashlib.sha256(match['name'].encode()).hexdigest()[:20]}"
    reporter.step(f"Fetching the history of {match['name']} from {public(address)}")
    said = _fetch(repository, address, match["name"], ref, reporter)
    found = repository.resolve(f"{revision if said else ref + match['back']}^{{commit}}")
    if found is None:
        raise NotFetched(revision, public(address), said)
    return found


def _fetch(repository: Repository, address: str, name: str, ref: str, reporter: Reporter) -> str:
    """Fetch `name` with its whole history as `ref`; why that failed, or nothing."""
    options = ("--no-write-fetch-head", "--")  # FETCH_HEAD would keep an address, and a password in it
    try:
        repository.fetch(
            *options,
            address,
            f"+{name}:{ref}",
            on_progress=lambda phase, done: reporter.advance(f"Fetching history: {phase.lower()}", done, 100),
        )
    except GitFailed as error:
        return (error.stderr.strip() or str(error)).replace(address, public(address))
    return ""
