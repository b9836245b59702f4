"""The search: git's own bisection in the scratch repository, with the judge's answers.

git picks each commit, goes around those that are skipped and knows when nothing is left (git-bisect(1)); in a
bare repository it only writes BISECT_HEAD and checks nothing out.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.bisect.errors import AppliesAtBad, CannotTellAtBad, DoesNotApplyAtGood
from skippy_patches.bisect.judge import GOOD, SKIP
from skippy_patches.bisect.result import Found, describe
from skippy_patches.git import GitFailed
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.bisect.judge import Judge, Verdict
    from skippy_patches.git import Repository
    from skippy_patches.progress import Reporter

_ONLY_SKIPPED_LEFT = 2  # git bisect's status then; 0 when it has the commit, or another question


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stretch:
    """What to search. history: the repository, as the user knows it. good: an ancestor of bad.

    first_parent: pass over the commits that merges brought in (git-bisect(1), --first-parent).
    """

    history: str
    good: ObjectId
    bad: ObjectId
    first_parent: bool

    @property
    def walk(self) -> tuple[str, ...]:
        """The option with which git walks it, if any."""
        return ("--first-parent",) if self.first_parent else ()


def search(repository: Repository, judge: Judge, stretch: Stretch, reporter: Reporter) -> Found:
    """Bisect in `repository`, a scratch one.

    Raises DoesNotApplyAtGood, AppliesAtBad, CannotTellAtBad.
    """
    _check_ends(judge, stretch)
    between = (stretch.bad, f"^{stretch.good}", "--")
    count = int(repository.run("rev-list", "--count", *stretch.walk, *between).line)
    tried = []
    for verdict in _bisect(repository, judge, stretch):
        tried.append(verdict)
        reporter.advance("Bisecting", len(tried), max(len(tried), count.bit_length()))
        reporter.detail(f"{verdict.commit}: {_told(verdict)}")
    candidates, below = _left(repository, stretch)
    return Found(
        patch=judge.patch,
        history=stretch.history,
        good=stretch.good,
        bad=stretch.bad,
        count=count,
        tried=tuple(tried),
        candidates=describe(repository, candidates),
        before=tuple((commit, judge.judge(commit.id)) for commit in describe(repository, below)),
        verdict=judge.judge(candidates[0]),
    )


def _left(repository: Repository, stretch: Stretch) -> tuple[list[ObjectId], list[ObjectId]]:
    """The commits that git could not clear, the newest first, and those right below them."""
    marks = ("refs/bisect/bad", "--not", "--glob=refs/bisect/good-*")
    listed = repository.run("rev-list", "--parents", *stretch.walk, *marks).text.splitlines()
    families = [[ObjectId(name) for name in line.split()] for line in listed]
    candidates = {commit: None for commit, *_ in families}
    most = 1 if stretch.first_parent else None
    parents = {parent: None for _, *theirs in families for parent in theirs[:most]}
    return list(candidates), [parent for parent in parents if parent not in candidates]


def _check_ends(judge: Judge, stretch: Stretch) -> None:
    """The patch applies at good with all that it stands on, and does not at bad."""
    at_good, at_bad = judge.judge(stretch.good), judge.judge(stretch.bad)
    if at_good.outcome != GOOD or at_good.left_out:
        raise DoesNotApplyAtGood(judge.patch, at_good)
    if at_bad.outcome == GOOD:
        raise AppliesAtBad(judge.patch, at_bad)
    if at_bad.outcome == SKIP:
        raise CannotTellAtBad(judge.patch, at_bad, stretch.good)


def _bisect(repository: Repository, judge: Judge, stretch: Stretch) -> Iterator[Verdict]:
    """Every commit that git asks for, judged. The marks stay in refs/bisect/."""
    repository.run("update-ref", "--no-deref", "HEAD", stretch.bad)  # git bisect wants one
    _git_bisect(repository, "start", "--no-checkout", *stretch.walk, stretch.bad, stretch.good, "--")
    asked = {stretch.bad}  # where BISECT_HEAD begins, and stays when there is nothing to ask
    while (commit := repository.resolve("BISECT_HEAD")) and commit not in asked:
        asked.add(commit)
        verdict = judge.judge(commit)
        _git_bisect(repository, verdict.outcome, commit)
        yield verdict


def _git_bisect(repository: Repository, *words: str) -> None:
    command = ("bisect", *words)
    done = repository.run(*command, check=False)
    if done.status not in (0, _ONLY_SKIPPED_LEFT):
        raise GitFailed(command, done.status, done.stdout, done.stderr)


def _told(verdict: Verdict) -> str:
    left_out = ", ".join(failure.patch.name for failure in verdict.left_out)
    return f"{verdict.outcome}, without {left_out}" if left_out else verdict.outcome
