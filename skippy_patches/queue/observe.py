"""What is remarkable about a queue without being wrong: how its patches were made, and by how many ways.

For somebody who takes over a queue. Each observation is harmless to an apply; together they say what would
change if every patch were exported again.
"""

from __future__ import annotations

import collections
import dataclasses
import email.errors
import email.header
import itertools
import re
from typing import TYPE_CHECKING

from skippy_patches.queue import mail
from skippy_patches.queue.patch import NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skippy_patches.queue.mail import Mail
    from skippy_patches.queue.patch import Patch

_MOST_EXAMPLES = 3
_COUNT = re.compile(rb"\[[^\]]*?\b(\d+)/(\d+)\]")
_TAGS = re.compile(r"^(?:\[[^\]]*\]|[Rr][Ee]:|\s)*")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")  # git's format_sanitized_subject() keeps these
_INDEX = re.compile(rb"^index ([0-9a-f]{4,39})\.\.([0-9a-f]{4,39})(?: |$)", re.MULTILINE)
_DIFFSTAT = re.compile(rb"^ \d+ files? changed", re.MULTILINE)
_SIGNATURE = re.compile(rb"\n--[ ]?\n([^\n]*)\n*\Z")
_VERSION = re.compile(rb"\d+\.[\w.() -]+")
_FROM_LINE = re.compile(rb"From ([0-9a-f]{40}) (.*)\n")
_GIT_DATE = b"Mon Sep 17 00:00:00 2001"  # what format-patch writes for every commit (git-format-patch(1))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Observation:
    """One thing in plain words.

    code: stable, for machines. count: of patches, or of holes. examples: three at most.
    """

    code: str
    count: int
    what: str
    examples: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Seen:
    """A patch, its envelope, and where it stands. position: from 1."""

    patch: Patch
    mail: Mail
    position: int


def observe(patches: Sequence[Patch]) -> tuple[Observation, ...]:
    """Everything remarkable about the queue, in apply order. Pure; reads nothing but the patches."""
    seen = [
        _Seen(patch=patch, mail=mail.read(patch.content), position=position)
        for position, patch in enumerate(patches, 1)
    ]
    found: Iterable[Observation | None] = (
        _stale_counts(seen),
        _names(seen),
        _abbreviated(seen),
        *(_mixed(seen, *facts) for facts in _PROPERTIES),
        _mbox_dates(seen),
        _encodings(seen),
        _gaps(patches),
    )
    return tuple(observation for observation in found if observation is not None)


def _stale_counts(seen: Sequence[_Seen]) -> Observation | None:
    stale = []
    for each in seen:
        match = _COUNT.search(each.mail.text(b"subject"))
        if match and (int(match[1]), int(match[2])) != (each.position, len(seen)):
            said = match[0].decode("utf-8", "replace")
            stale.append(f"{each.patch.path}: {said}, and it is {each.position}/{len(seen)}")
    return _observation("stale-count", "the subject counts a series as it once was", stale)


def _names(seen: Sequence[_Seen]) -> Observation | None:
    differing = []
    for each in seen:
        subject = _TAGS.sub("", _subject(each))
        match = NAME.fullmatch(each.patch.name)
        if match and not _is_derived(match[2], subject):
            differing.append(f"{each.patch.path}: {subject}")
    return _observation("name-differs", "the file's name is not made from the subject", differing)


def _subject(each: _Seen) -> str:
    """The subject, RFC 2047 words of it decoded."""
    text = each.mail.text(b"subject").decode("utf-8", "replace")
    try:
        return str(email.header.make_header(email.header.decode_header(text)))
    except (LookupError, ValueError, email.errors.HeaderParseError):
        return text


def _is_derived(slug: str, subject: str) -> bool:
    """Whether format-patch would call it so; it cuts a name wherever --filename-max-length says."""
    made = re.sub(r"\.+", ".", _NOT_IN_NAMES.sub("-", subject)).strip("-.")
    return slug == made or (len(slug) >= 40 and made.startswith(slug))


def _abbreviated(seen: Sequence[_Seen]) -> Observation | None:
    found = []
    for each in seen:
        match = _INDEX.search(b"\n".join(each.mail.lines[each.mail.diff :]))
        if match:
            found.append(f"{each.patch.path}: {match[1].decode()}..{match[2].decode()}")
    return _observation(
        "abbreviated-ids", "ids of blobs are abbreviated: how far, depends on who exports", found
    )


def _mixed(seen: Sequence[_Seen], code: str, what: str, kind: Callable[[_Seen], str]) -> Observation | None:
    """Of a property that should be the same in all patches: how often there is which, when they differ."""
    kinds = collections.Counter(kind(each) for each in seen)
    if len(kinds) < 2:
        return None
    told = tuple(f"{number} with {name}" for name, number in kinds.most_common(_MOST_EXAMPLES))
    return Observation(code=code, count=len(seen), what=what, examples=told)


def _diffstat(each: _Seen) -> str:
    between = each.mail.lines[each.mail.diff :]
    rule = bool(between) and between[0].startswith(b"---") and not between[0].startswith(b"--- ")
    if not rule:
        return "the diff right below the message"
    end = next((at for at, line in enumerate(between) if line.startswith(b"diff --git ")), len(between))
    return "--- and a diffstat" if _DIFFSTAT.search(b"\n".join(between[:end])) else "--- alone"


def _signature(each: _Seen) -> str:
    match = _SIGNATURE.search(each.patch.content)
    if match is None:
        return "no signature"
    text = match[1].decode("utf-8", "replace")
    return f"git {text}" if _VERSION.fullmatch(match[1]) else "a signature of somebody's own"


def _from_line(each: _Seen) -> str:
    match = _FROM_LINE.match(each.patch.content)
    if match is None:
        return "no such line"
    return "no commit, zeros only" if not match[1].strip(b"0") else "the commit that it was exported from"


# Code, what it means, and which of its kinds a patch is of.
_PROPERTIES = (
    ("mixed-diffstat", "below some messages there is a diffstat, below some none", _diffstat),
    ("mixed-signature", "the mail signature differs, with git's version or without", _signature),
    ("mixed-from-line", "the first line names a commit in some patches, not in others", _from_line),
)


def _mbox_dates(seen: Sequence[_Seen]) -> Observation | None:
    found = []
    for each in seen:
        line = each.patch.content.partition(b"\n")[0]
        if mail.is_from_line(line) and not line.endswith(_GIT_DATE):
            found.append(f"{each.patch.path}: {line.decode('utf-8', 'replace')}")
    return _observation(
        "mbox-date", "the first line has the date of a mailbox, not git's constant one", found
    )


def _encodings(seen: Sequence[_Seen]) -> Observation | None:
    found = [f"{each.patch.path}: {encoding}" for each in seen if (encoding := _encoding(each))]
    return _observation("encoding", "the message is not written as plain UTF-8", found)


def _encoding(each: _Seen) -> str:
    charset = re.search(rb"charset=\"?([\w.:-]+)", each.mail.text(b"content-type"), re.IGNORECASE)
    name = charset[1].decode() if charset else ""
    transfer = each.mail.text(b"content-transfer-encoding").decode("ascii", "replace").lower()
    if transfer in ("quoted-printable", "base64"):
        return f"{transfer} {name}".strip()
    if name.lower() not in ("", "utf-8", "us-ascii"):
        return name
    message = b"\n".join(each.mail.lines[: each.mail.diff])
    return "" if _is_utf8(message) else "bytes that are not UTF-8, and no charset that names them"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _gaps(patches: Sequence[Patch]) -> Observation | None:
    numbers = sorted({patch.number for patch in patches})
    holes = list(_holes(numbers))
    return _observation("gap", "numbers are missing in between", holes)


def _holes(numbers: Sequence[int]) -> Iterator[str]:
    for before, after in itertools.pairwise(numbers):
        if after - before == 2:
            yield f"{before + 1:04d}"
        elif after - before > 2:
            yield f"{before + 1:04d} to {after - 1:04d}"


def _observation(code: str, what: str, examples: Sequence[str]) -> Observation | None:
    if not examples:
        return None
    return Observation(code=code, count=len(examples), what=what, examples=tuple(examples[:_MOST_EXAMPLES]))
