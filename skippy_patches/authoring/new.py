"""`new "subject"`: a patch begins as an empty commit, to be filled with `git commit --amend -a`."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.apply import handover
from skippy_patches.apply.checkout import BRANCH
from skippy_patches.authoring import ground, history, roundtrip
from skippy_patches.authoring.bench import open_bench
from skippy_patches.authoring.export import export, slug
from skippy_patches.authoring.message_errors import DoesNotSurvive
from skippy_patches.authoring.new_errors import (
    NoIdentity,
    NumberOutOfReach,
    NumberTaken,
    SubjectDoesNotSurvive,
    TwoWishes,
)
from skippy_patches.authoring.reach import at_tip
from skippy_patches.authoring.refresh import wishes
from skippy_patches.authoring.refresh.places import with_number
from skippy_patches.authoring.refresh.wishes import Wish
from skippy_patches.git import run_as_user
from skippy_patches.journal import rewrite
from skippy_patches.objectid import EMPTY_TREE, ObjectId
from skippy_patches.queue import claims, reader
from skippy_patches.queue.errors import UnreadablePatch
from skippy_patches.queue.patch import Patch

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.authoring.reach import Reach
    from skippy_patches.config import Project
    from skippy_patches.git import Repository
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.upstream.pin import Pin

_IDENT = re.compile(r"(.*) <([^>]*)> (\d+ [+-]\d+)")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asked for. number: 0 for the next free one, of `band` where that is not empty."""

    subject: str
    number: int = 0
    band: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Begun:
    """The empty commit, and the name that its patch would get now."""

    commit: ObjectId
    file: str
    checkout: Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Person:
    name: str
    email: str
    date: str


def begin(project: Project, pin: Pin, request: Request, *, reporter: Reporter) -> Begun:
    """Commit nothing under `subject`; index and work tree stay as they are.

    Raises NoIdentity, SubjectDoesNotSurvive, TwoWishes, NumberTaken, NumberOutOfReach, the errors of
    claims.next_free, and what ground.on_branch raises.
    """
    if request.number and request.band:
        raise TwoWishes
    with ground.hold(project, reporter) as checkout:
        rewrite.finish_pending(project, reporter)
        snapshot = reader.read_folder(project)
        patches = reader.usable(project, snapshot)
        handover.settle(checkout, patches)
        standing = ground.on_branch(checkout)
        assert standing.tip  # noqa: S101 - it is on its branch
        reach = at_tip(project, pin, snapshot, patches, checkout, standing)
        number = _number(project, request, snapshot, reach)
        person = _person(checkout)
        _refuse_unfit(checkout, project, person, request.subject)
        tree = checkout.repository.resolve(f"{standing.tip}^{{tree}}") or EMPTY_TREE
        commit = _commit(checkout.repository, person, request.subject, tree, standing.tip)
        if request.number or request.band:
            wish = Wish(
                email=person.email,
                date=person.date,
                subject=request.subject,
                number=request.number,
                band=request.band,
            )
            wishes.save(checkout, [*wishes.load(checkout), wish])
        update = ("update-ref", "-m", f"skippy-patches new: {request.subject}", BRANCH, commit, standing.tip)
        checkout.repository.run(*update)
        file = f"{number:04d}-{slug(request.subject)}.patch"
        return Begun(commit=commit, file=file, checkout=checkout.path)


def _number(project: Project, request: Request, snapshot: Snapshot, reach: Reach) -> int:
    """The number that the patch would get now."""
    claimed = claims.claims(project)
    taken = {patch.number: patch.path for lane in snapshot.lanes for patch in lane.patches()}
    for claim in claimed:
        taken.setdefault(claim.number, f"{claim.file} on {claims.shown(claim.refs)}")
    low = (reach.behind.number, reach.behind.path) if reach.behind else (0, "")
    for at, wish in enumerate(reach.wished):
        number = wish.number or claims.next_free(project, snapshot, claimed, wish.band).number
        name = f'"{wish.subject}", which `new` began before'
        taken.setdefault(number, name)
        if at >= len(reach.wished) - reach.near:
            low = max(low, (number, name))
        snapshot = with_number(snapshot, number)
    if not request.number:
        return claims.next_free(project, snapshot, claimed, request.band).number
    if request.number in taken:
        raise NumberTaken(request.number, taken[request.number])
    if reach.is_ordered and request.number < low[0]:
        raise NumberOutOfReach(request.number, f"behind {low[1]}")
    if reach.is_ordered and reach.before and request.number > reach.before.number:
        raise NumberOutOfReach(request.number, f"before {reach.before.path}")
    return request.number


def _person(checkout: Checkout) -> _Person:
    """Who `git commit` would name as the author here, by the person's own configuration."""
    answer = run_as_user(
        "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT", cwd=checkout.path, check=False
    )
    match = _IDENT.fullmatch(answer.line)
    if answer.status or match is None:
        raise NoIdentity(answer.stderr)
    return _Person(name=match[1], email=match[2], date=match[3])


def _refuse_unfit(checkout: Checkout, project: Project, person: _Person, subject: str) -> None:
    """Try the subject on a commit that nobody will see."""
    bench = open_bench(checkout)
    blob = bench.run("hash-object", "-w", "--stdin", stdin=b"x\n").line
    tree = ObjectId(bench.run("mktree", stdin=f"100644 blob {blob}\tx\n".encode()).line)
    empty = ObjectId(bench.run("mktree").line)
    parent = _commit(bench, person, "before", empty, None)
    trial = history.read(bench, [_commit(bench, person, subject, tree, parent)])[0]
    try:
        roundtrip.check(trial, Patch("", "trial", 0, export(bench, trial)), project.subject_prefix)
    except (DoesNotSurvive, UnreadablePatch) as error:
        raise SubjectDoesNotSurvive(subject, error.why, error.mend) from error


def _commit(
    repository: Repository, person: _Person, subject: str, tree: ObjectId, parent: ObjectId | None
) -> ObjectId:
    env = {
        f"GIT_{role}_{field}": value.encode("utf-8", "surrogateescape")
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", person.name), ("EMAIL", person.email), ("DATE", f"@{person.date}"))
    }
    text = subject.encode("utf-8", "surrogateescape") + b"\n"
    parents = ("-p", parent) if parent else ()
    return ObjectId(repository.run("commit-tree", tree, *parents, stdin=text, env=env).line)
