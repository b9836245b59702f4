"""Does a commit survive: would git am make the same author, date and message out of its patch file?

It is tried, not predicted: the exported file is taken apart as applying it would, and compared. Only when
something differs is it asked which line did that, and why.
"""

from __future__ import annotations

import email.utils
import re
from typing import TYPE_CHECKING

from skippy_patches.apply.engine import CRUD
from skippy_patches.authoring.message_errors import (
    BadAuthorDate,
    BlanksInMessage,
    ChangedMessage,
    CutAuthor,
    CutMessage,
    DoesNotSurvive,
    EmptySubject,
    InBodyHeader,
    LooksLikeMail,
    TaggedSubject,
    TwoLineSubject,
)
from skippy_patches.queue import message
from skippy_patches.queue.errors import UnreadablePatch
from skippy_patches.queue.mail import is_cut, is_from_line

if TYPE_CHECKING:
    from skippy_patches.authoring.history import Commit
    from skippy_patches.queue.message import Message
    from skippy_patches.queue.patch import Patch

_IN_BODY = re.compile(rb"(?:From|Date|Subject):|\[PATCH\]\s|>From\s", re.IGNORECASE)
_STRIPPED = re.compile(r"\s*(?:re:|\[|:)", re.IGNORECASE)
_GIT_YEARS = range(1970, 2100)  # parse_date() in git's date.c
_HIGHEST_ZONE = 1400


def check(commit: Commit, patch: Patch, subject_prefix: str) -> None:
    """Raise DoesNotSurvive when `patch`, the export of `commit`, holds another message than the commit.

    Raises UnreadablePatch for a file that git cannot read and no rule here explains.
    """
    if not commit.email or not commit.author:
        raise CutAuthor(commit, commit.email or commit.author)
    try:
        mail = message.read(patch, subject_prefix)
    except UnreadablePatch:
        _explain(commit.text.decode("utf-8", "surrogateescape"), commit.text, None, commit)
        raise
    _check_text(commit, mail)
    _check_author(commit, mail)
    _check_date(commit, mail)


def _check_text(commit: Commit, mail: Message) -> None:
    wanted = commit.text if commit.text.endswith(b"\n") else commit.text + b"\n"
    if not commit.subject:
        raise EmptySubject(commit)
    if mail.text != wanted:
        _explain(wanted.decode("utf-8", "surrogateescape"), wanted, mail, commit)


def _check_author(commit: Commit, mail: Message) -> None:
    found = mail.author.strip(CRUD), mail.email.strip(CRUD)
    if found != (commit.author, commit.email):
        raise CutAuthor(commit, f"{found[0]} <{found[1]}>")


def _check_date(commit: Commit, mail: Message) -> None:
    seconds, zone = commit.date.split(" ")
    read = email.utils.parsedate_tz(mail.date)
    if read is None or read[9] is None:
        raise BadAuthorDate(commit, mail.date)
    minutes = read[9] // 60
    offset = abs(minutes) // 60 * 100 + abs(minutes) % 60
    found = email.utils.mktime_tz(read), offset if minutes >= 0 else -offset
    if found != (int(seconds), int(zone)) or read[0] not in _GIT_YEARS or offset > _HIGHEST_ZONE:
        raise BadAuthorDate(commit, mail.date)


def _explain(text: str, raw: bytes, mail: Message | None, commit: Commit) -> None:
    """Raise the error of the first line that does not come back; return when no rule knows it."""
    lines = text.split("\n")
    found = mail.text.decode("utf-8", "surrogateescape").split("\n") if mail else []
    differing = next(
        (at for at, line in enumerate(lines) if at >= len(found) or found[at] != line), len(lines)
    )
    error = (
        _of_subject(lines, found, commit)
        or _of_line(raw.split(b"\n"), lines, commit)
        or _of_blanks(lines, commit)
    )
    if error is not None:
        raise error
    if mail is not None:
        left = found[differing] if differing < len(found) else ""
        raise ChangedMessage(commit, differing + 1, lines[min(differing, len(lines) - 1)], left)


def _of_subject(lines: list[str], found: list[str], commit: Commit) -> DoesNotSurvive | None:
    subject = lines[0]
    if not subject.strip():
        return (
            EmptySubject(commit)
            if not commit.subject
            else BlanksInMessage(commit, 1, subject, "are blank lines in front")
        )
    if len(lines) > 1 and lines[1].strip():
        return TwoLineSubject(commit, lines[1])
    if _blanks(subject):
        return BlanksInMessage(commit, 1, subject, _blanks(subject))
    if found and found[0] != subject and subject.endswith(found[0]) and _STRIPPED.match(subject):
        return TaggedSubject(commit, subject, found[0])
    return None


def _blanks(subject: str) -> str:
    if subject != subject.strip():
        return "are blanks at the end" if subject.strip() and subject[0].strip() else "are blanks in front"
    return "are several blanks, or a tab, in a row" if "  " in subject or "\t" in subject else ""


def _of_line(raw: list[bytes], lines: list[str], commit: Commit) -> DoesNotSurvive | None:
    """The first line of the body that git does not take for text."""
    first = next((at for at, line in enumerate(raw) if at and line.strip()), len(raw))
    for at in range(first, len(raw)):
        if is_cut(raw[at]):
            return CutMessage(commit, at + 1, lines[at])
        if is_from_line(raw[at]):
            return LooksLikeMail(commit, at + 1, lines[at])
        if at == first and _IN_BODY.match(raw[at]):
            return InBodyHeader(commit, at + 1, lines[at])
    return None


def _of_blanks(lines: list[str], commit: Commit) -> DoesNotSurvive | None:
    for at, line in enumerate(lines):
        if line != line.rstrip():
            return BlanksInMessage(commit, at + 1, line, "are blanks at its end")
        if at and not line and not lines[at - 1] and at < len(lines) - 1:
            return BlanksInMessage(commit, at + 1, line, "are several blank lines in a row")
    if len(lines) > 2 and not lines[-1] and not lines[-2]:
        return BlanksInMessage(commit, len(lines) - 1, "", "are blank lines at the end")
    return None
