"""Checks of a patch file as mail: one message, its headers, line ends and encoding."""

from __future__ import annotations

import re

from skippy_patches.queue.findings import Finding, error, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skippy_patches.queue.mail import Header, Mail
    from skippy_patches.queue.patch import Patch

_EXPORT = "Export it again from its commit: git format-patch"
# As git format-patch writes it. Whatever looks different is looked at closely, by maildate.
_USUAL_DATE = re.compile(
    rb"(?:[A-Z][a-z]{2}, )?[0-3]?\d [A-Z][a-z]{2} \d{4} [0-2]\d:[0-5]\d:[0-6]\d [+-]\d{4}"
)


def check(patch: Patch, mail: Mail) -> list[Finding]:
    """Findings about the envelope of one patch."""
    findings = [_messages, _line_ends, _encoding, _sender, _date, _subject]
    found = [finding for find in findings if (finding := find((patch.path,), mail)) is not None]
    markers = _conflict_markers(patch)
    return found if markers is None else [*found, markers]


def _conflict_markers(patch: Patch) -> Finding | None:
    """All three that git writes, in their order. Not in hunks: each line there has a sign in front of it."""
    content = patch.content
    first = content.find(b"\n<<<<<<< ") + 1
    if not first and not content.startswith(b"<<<<<<< "):
        return None
    middle = content.find(b"\n=======", first)
    if middle < 0 or content.find(b"\n>>>>>>> ", middle) < 0:
        return None
    return error(
        "conflict-markers",
        (patch.path,),
        "git's conflict markers (<<<<<<<, =======, >>>>>>>) stand in the patch file",
        line=content.count(b"\n", 0, first) + 1,
        why="A merge of the patch file itself was committed before it was resolved; the message, or what is"
        " between the diffs, holds both sides.",
        mend="Resolve it, or take the file from one of the branches: git checkout REF -- FILE",
    )


def _messages(files: tuple[str, ...], mail: Mail) -> Finding | None:
    if mail.second is None:
        return None
    return error(
        "two-messages",
        files,
        "a second message begins here",
        line=mail.second,
        why="One file must be one commit; git am would make several, under numbers that nobody gave.",
        mend="Split it: git mailsplit -o DIR FILE, and give each part a number of its own.",
    )


def _line_ends(files: tuple[str, ...], mail: Mail) -> Finding | None:
    if mail.crlf is None:
        return None
    return error(
        "crlf-envelope",
        files,
        "the patch file itself has CR LF line ends",
        line=mail.crlf,
        why="An editor, a mail program or core.autocrlf converted it; the hunks no longer fit their targets.",
        mend="Convert it back (dos2unix FILE), and keep git off it: *.patch -text in .gitattributes",
    )


def _encoding(files: tuple[str, ...], mail: Mail) -> Finding | None:
    if not mail.text(b"content-type").lower().startswith(b"multipart/"):
        return None
    return error(
        "multipart",
        files,
        "the patch is an attachment of a multipart message",
        line=mail.headers[b"content-type"].line,
        why="Neither this check nor a reviewer can be sure of what is in it.",
        mend=f"{_EXPORT} --no-attach",
    )


def _sender(files: tuple[str, ...], mail: Mail) -> Finding | None:
    header = mail.headers.get(b"from")
    if header is not None and b"@" in header.text:
        return None
    return error(
        "missing-from",
        files,
        "the From: header has no mail address" if header else "there is no From: header",
        line=header.line if header else 1,
        why="git am refuses the patch: the commit would have no author.",
        mend="Add it below the first line, as the author wrote it: From: Name <name@example.org>",
    )


def _date(files: tuple[str, ...], mail: Mail) -> Finding | None:
    header = mail.headers.get(b"date")
    if header is None or not header.text:
        return error(
            "missing-date",
            files,
            "there is no Date: header",
            line=header.line if header else 1,
            why="git am would take the current time, and the commit would differ on every machine and run.",
            mend="Add the author's date: Date: Thu, 1 Jan 2026 12:00:00 +0000",
        )
    return None if _USUAL_DATE.fullmatch(header.text) else _unusual_date(files, header)


def _unusual_date(files: tuple[str, ...], header: Header) -> Finding | None:
    from skippy_patches.queue import maildate  # noqa: PLC0415 - patterns that few queues need

    verdict = maildate.judge(header.text)
    if verdict == maildate.GOOD:
        return None
    if verdict == maildate.ZONELESS:
        what, why = "the Date: header has no time zone", "git takes the zone of the machine it runs on."
        return warning("zoneless-date", files, what, line=header.line, why=why, mend="Add it: +0000 for UTC.")
    return error(
        "bad-date",
        files,
        f"the Date: header cannot be read: {header.text.decode('utf-8', 'replace')}",
        line=header.line,
        why="git am stops with: invalid date format",
        mend="Write it as in Thu, 1 Jan 2026 12:00:00 +0000",
    )


def _subject(files: tuple[str, ...], mail: Mail) -> Finding | None:
    header = mail.headers.get(b"subject")
    if header is not None and _title(header.text):
        return None
    return error(
        "missing-subject",
        files,
        "the Subject: header is empty" if header else "there is no Subject: header",
        line=header.line if header else 1,
        why="The commit would have no title; list and git log could not name it.",
        mend="Add it: Subject: [PATCH] what the patch does",
    )


def _title(subject: bytes) -> bytes:
    """What git am leaves of a subject: without Re: and [tags] in front."""
    while subject.lower().startswith((b"[", b"re:")):
        _, end, rest = subject.partition(b"]" if subject[:1] == b"[" else b":")
        if not end:
            break
        subject = rest.strip()
    return subject
