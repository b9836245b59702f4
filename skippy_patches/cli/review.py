"""`check --against` and `check --merge`: the queue as it will be once branches are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.cli.console import Terminal
    from skippy_patches.cli.session import Session
    from skippy_patches.config import Project
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.snapshot import Snapshot
    from skippy_patches.review.stage import Review

AgainstOption = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="REF",
        help="Check the merge with this branch, tag or commit, too; nothing is really merged. Repeatable.",
    ),
]
MergeOption = Annotated[
    tuple[str, str] | None,
    typer.Option("--merge", metavar="OURS THEIRS", help="Check the merge of two commits alone."),
]
NoApplyOption = Annotated[
    bool, typer.Option("--no-apply", help="Do not try whether a merged queue applies: needs no llama.cpp.")
]

_MOST_CLAIMS = 10


def verify(*, staged: bool, against: Sequence[str], merge: tuple[str, str] | None, no_apply: bool) -> None:
    """Raise UsageError for flags that contradict each other."""
    if merge and (staged or against):
        raise UsageError(
            "--merge looks at two commits, --staged and --against at what lies here.",
            mend="Give either --merge OURS THEIRS, or --against REF with or without --staged.",
        )
    if no_apply and not (against or merge):
        raise UsageError("--no-apply says something about --against and --merge, and neither is given.")


def against(
    session: Session,
    project: Project,
    snapshot: Snapshot,
    names: Sequence[str],
    *,
    staged: bool,
    wants_apply: bool,
) -> list[Review]:
    """Merge what lies in the folder, or the index, with each of these commits."""
    from skippy_patches.review.stage import open_reviewer  # noqa: PLC0415 - only these flags need it
    from skippy_patches.upstream.cache import Cache  # noqa: PLC0415

    cache = Cache.default()
    with (
        session.terminal.reporter() as reporter,
        open_reviewer(project, wants_apply=wants_apply, cache=cache, reporter=reporter) as reviewer,
    ):
        others = [reviewer.named(name) for name in names]
        ours = reviewer.lying(snapshot, is_staged=staged)
        return [reviewer.review(ours, theirs) for theirs in others]


def merge(session: Session, names: tuple[str, str], *, wants_apply: bool) -> Review:
    """Merge two commits."""
    from skippy_patches.review.stage import open_reviewer  # noqa: PLC0415 - see against
    from skippy_patches.upstream.cache import Cache  # noqa: PLC0415

    project, cache = session.project(), Cache.default()
    with (
        session.terminal.reporter() as reporter,
        open_reviewer(project, wants_apply=wants_apply, cache=cache, reporter=reporter) as reviewer,
    ):
        ours, theirs = (reviewer.named(name) for name in names)
        return reviewer.review(ours, theirs)


def added(review: Review, known: Sequence[Finding]) -> list[Finding]:
    """What the merge adds to the findings about our side alone."""
    before = {(finding.code, finding.files, finding.what) for finding in known}
    return [finding for finding in review.found if (finding.code, finding.files, finding.what) not in before]


def show_merge(terminal: Terminal, review: Review, findings: Sequence[Finding]) -> None:
    """Print a review as text: findings, verdict, claims. Quiet: errors and nothing else."""
    from skippy_patches.cli.formats.show import show_findings  # noqa: PLC0415 - see against

    if not terminal.is_quiet:
        base = review.base.short
        terminal.line(f"Merge of {review.ours.label} and {review.theirs.label}, which parted at {base}:")
    show_findings(terminal, findings)
    if not terminal.is_quiet:
        _show_claims(terminal, review)
        terminal.line(verdict(review, findings), style="bold")


def verdict(review: Review, findings: Sequence[Finding]) -> str:
    """`merges cleanly: 24 patches, applies, commit ...`, or what there is to mend, in a line."""
    from skippy_patches.queue.findings import counted, summarise  # noqa: PLC0415 - see against

    applies = {
        True: f"applies, commit {review.tried.commit}, tree {review.tried.tree}",
        False: "does not apply",
        None: "not applied",
    }[review.tried.applies]
    if findings:
        return f"{summarise(findings, review.patches)}; {applies}"
    return f"merges cleanly: {counted(review.patches, 'patch', 'patches')}, {applies}"


def _show_claims(terminal: Terminal, review: Review) -> None:
    from skippy_patches.queue.claims import shown  # noqa: PLC0415 - see against

    for claim in review.claims[:_MOST_CLAIMS]:
        terminal.line(f"claimed elsewhere: {claim.number:04d} by {claim.file} on {shown(claim.refs)}")
    more = len(review.claims) - _MOST_CLAIMS
    if more > 0:
        terminal.line(f"claimed elsewhere: and {more} more; --format json lists them all")
