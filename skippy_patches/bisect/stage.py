"""The stage: queue and history in, the commit that broke a patch out; or one commit tried."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.apply.stage import select
from skippy_patches.apply.trial import open_borrowing
from skippy_patches.bisect import history
from skippy_patches.bisect.errors import NothingBetween
from skippy_patches.bisect.judge import Judge, Verdict
from skippy_patches.bisect.search import Stretch, search
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skippy_patches.bisect.result import Found
    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.cache import Cache


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """good, bad: revisions; an empty good is the pin. repository: a clone, or None."""

    number: int
    good: str
    bad: str
    repository: Path | None
    first_parent: bool = False


def run(
    project: Project, patches: Sequence[Patch], request: Request, *, cache: Cache, reporter: Reporter
) -> Found:
    """Find the commit. patches: the whole queue.

    Raises NoSuchPatch, EmptyQueue, NothingBetween, and what history.py and search.py say.
    """
    chosen = select(project, patches, request.number)
    revisions = (request.good or project.upstream.commit, request.bad)
    place, (good, bad) = history.find(project, request.repository, revisions, cache, reporter)
    if good == bad:
        raise NothingBetween(chosen[-1], bad)
    with open_borrowing(project, place.objects, Silent()) as engine:
        history.check(engine.repository, place, good, bad)
        judge = Judge(engine, chosen, control=good)
        stretch = Stretch(history=place.name, good=good, bad=bad, first_parent=request.first_parent)
        return search(engine.repository, judge, stretch, reporter)


def once(
    project: Project, patches: Sequence[Patch], number: int, *, good: str, at: str, folder: Path
) -> Verdict:
    """Try one commit of the clone `folder`. at: empty for the one that git bisect asks about, else HEAD.

    good: as in Request; it must be there: else the clone may be of anything. Raises as `run`.
    """
    chosen = select(project, patches, number)
    clone = history.named(project, folder)
    control = clone.commit(good or project.upstream.commit)
    # With --no-checkout, or in a bare repository, git bisect names its commit there and leaves HEAD alone.
    asked = None if at else clone.resolve("BISECT_HEAD")
    commit = asked or clone.commit(at or "HEAD")
    with open_borrowing(project, clone.history.objects, Silent()) as engine:
        return Judge(engine, chosen, control=control).judge(commit)
