"""What a search found, as values."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.bisect.judge import Verdict
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch

_FIELDS = ("author", "email", "date", "subject", "id")
# %aI: the author's date and zone, ISO 8601. The id last: git ends the stream with it, and it is never empty.
_FORMAT = "%an%x00%ae%x00%aI%x00%s%x00%H"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit of upstream. date: its author's, ISO 8601 with the zone."""

    id: ObjectId
    author: str
    email: str
    date: str
    subject: str

    def as_json(self) -> dict[str, str]:
        """As `bisect` prints it."""
        return {"commit": self.id, **{name: getattr(self, name) for name in _FIELDS[:-1]}}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Found:
    """The end of a search.

    history: the repository, as the user knows it. count: the commits that are in bad and not in good.
    tried: the verdicts, in the order of git's questions. candidates: the commit that broke the patch, or all
    that may have, newest first: the others were skipped. before: the commits right below the candidates, each
    with its verdict. verdict: on the newest candidate, with the reason.
    """

    patch: Patch
    history: str
    good: ObjectId
    bad: ObjectId
    count: int
    tried: tuple[Verdict, ...]
    candidates: tuple[Commit, ...]
    before: tuple[tuple[Commit, Verdict], ...]
    verdict: Verdict

    @property
    def first_bad(self) -> Commit | None:
        """The commit that broke the patch, when there is no doubt."""
        return self.candidates[0] if len(self.candidates) == 1 else None

    def as_json(self) -> dict[str, Any]:
        """As `bisect` prints it; docs/json.md has the fields."""
        return {
            "number": self.patch.number,
            "file": self.patch.name,
            "history": self.history,
            "good": self.good,
            "bad": self.bad,
            "commits": self.count,
            "first_bad": self.first_bad.as_json() if self.first_bad else None,
            "candidates": [commit.as_json() for commit in self.candidates],
            "before": [{**commit.as_json(), "outcome": verdict.outcome} for commit, verdict in self.before],
            **reason_as_json(self.verdict),
            "tried": [verdict_as_json(verdict) for verdict in self.tried],
        }


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict without its reason."""
    return {
        "commit": verdict.commit,
        "outcome": verdict.outcome,
        "left_out": [failure.patch.name for failure in verdict.left_out],
        "upstreamed": [patch.name for patch in verdict.there],
    }


def reason_as_json(verdict: Verdict) -> dict[str, Any]:
    """Why the patch does not apply."""
    error = verdict.error
    return {
        "reason": {"what": error.what, "why": error.why} if error else None,
        "is_upstreamed": verdict.is_there,
    }


def describe(repository: Repository, commits: Sequence[ObjectId]) -> tuple[Commit, ...]:
    """The commits in this order, with who made them and when."""
    if not commits:
        return ()
    listed = "".join(f"{commit}\n" for commit in commits).encode()
    options = ("-z", "--no-walk=unsorted", "--no-show-signature", "--no-mailmap", f"--format={_FORMAT}")
    fields = repository.run("log", *options, "--stdin", stdin=listed).fields
    size = len(_FIELDS)
    rows = [dict(zip(_FIELDS, fields[at : at + size], strict=True)) for at in range(0, len(fields), size)]
    return tuple(_commit(row, commit) for row, commit in zip(rows, commits, strict=True))


def _commit(row: dict[str, str], commit: ObjectId) -> Commit:
    date = row["date"].removesuffix("Z") + ("+00:00" if row["date"].endswith("Z") else "")  # Z since git 2.45
    return Commit(id=commit, author=row["author"], email=row["email"], date=date, subject=row["subject"])
