"""`skippy-patches check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli import review
from skippy_patches.cli.formats.show import ReportFormat, ReportFormatOption, show
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.queue.findings import Finding


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        help="Find everything that is wrong with the queue: numbers, names, envelopes, diffs, safety.",
        epilog="Example: skippy-patches check --against origin/main  # what a merge would make of it",
    )(check)


def check(
    context: typer.Context,
    staged: Annotated[
        bool, typer.Option("--staged", help="Read the index of the project's repository, not the folder.")
    ] = False,
    against: review.AgainstOption = None,
    merge: review.MergeOption = None,
    no_apply: review.NoApplyOption = False,
    format_: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    review.verify(staged=staged, against=against or (), merge=merge, no_apply=no_apply)
    session = Session.of(context)
    if merge:
        findings = _merge(session, merge, format_, wants_apply=not no_apply)
    else:
        findings = _folder(session, staged, against or (), format_, wants_apply=not no_apply)
    if any(finding.is_error for finding in findings):
        raise typer.Exit(1)


def _folder(
    session: Session, staged: bool, against: Sequence[str], format_: ReportFormat, *, wants_apply: bool
) -> Sequence[Finding]:
    """What lies in the folder or the index; then its merge with each commit it is held against."""
    from skippy_patches.queue.check import check_project  # noqa: PLC0415 - imported when it is wanted
    from skippy_patches.queue.snapshot import ordered  # noqa: PLC0415

    project, snapshot = session.queue(is_staged=staged)
    own = check_project(snapshot, project)
    reviews = (
        review.against(session, project, snapshot, against, staged=staged, wants_apply=wants_apply)
        if against
        else ()
    )
    added = [review.added(each, own) for each in reviews]
    everything = list(dict.fromkeys((*own, *(finding for each in added for finding in each))))
    more = {"merges": [each.as_json() for each in reviews]} if against else {}
    is_text = format_ is ReportFormat.TEXT
    told = own if is_text else everything
    show(session.terminal, format_, told, patches=len(ordered(snapshot)), root=project.root, more=more)
    if is_text:
        for each, found in zip(reviews, added, strict=True):
            review.show_merge(session.terminal, each, found)
    return everything


def _merge(
    session: Session, names: tuple[str, str], format_: ReportFormat, *, wants_apply: bool
) -> Sequence[Finding]:
    """The merge of two commits, and nothing of what lies here."""
    made = review.merge(session, names, wants_apply=wants_apply)
    if format_ is ReportFormat.TEXT:
        review.show_merge(session.terminal, made, made.found)
    else:
        root, more = session.project().root, {"merges": [made.as_json()]}
        show(session.terminal, format_, made.found, patches=made.patches, root=root, more=more)
    return made.found
