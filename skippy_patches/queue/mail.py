"""The envelope of a patch file: messages, headers, and where the message ends and the diff begins.

The rules are those of `git am`: its format detection, git-mailsplit(1) and git-mailinfo(1), which differ
from the mail standards in places; tests/queue/test_mail.py compares the two.
"""

from __future__ import annotations

import re
from itertools import takewhile

from skippy_patches.lighttuple import NamedTuple

# git's test for an mbox separator: the last time of day in the line, then a year after 90.
_FROM_LINE = rb"From .*\d.\d\d:\d\d\s+([0-9]+)\s*"
_IN_BODY = (b"from", b"date", b"subject")


class Header(NamedTuple):
    """A header field, unfolded. line: 1-based, in the file."""

    line: int
    text: bytes


class Mail(NamedTuple):
    """The first message of a patch file.

    lines: without their newline; in a CRLF envelope without the CR too. is_complete: the last line ended in
    a newline. headers: lower-case name to the field that git uses (in-body From:, Date: and Subject: beat
    those of the envelope). body, diff: indexes into `lines` of the first line below the headers and of the
    line at which git cuts the message (`len(lines)`: nowhere). second: 1-based line at which another
    message begins. crlf: 1-based line of the envelope that ends in CR LF.
    """

    lines: list[bytes]
    is_complete: bool
    headers: dict[bytes, Header]
    body: int
    diff: int
    second: int | None
    crlf: int | None

    def text(self, name: bytes) -> bytes:
        """The value of a header, empty when there is none."""
        header = self.headers.get(name)
        return header.text if header else b""


def read(content: bytes) -> Mail:
    """Read the first message of a patch file."""
    crlf = _crlf_line(content)
    if crlf is not None:
        content = content.replace(b"\r\n", b"\n")
    lines = content.split(b"\n")
    is_complete = not lines[-1]
    if is_complete:
        lines.pop()
    second = _second_message(content)
    if second is not None:
        del lines[second - 1 :]
        is_complete = True
    headers, body = _headers(lines)
    lines = _decoded(lines, headers, body)
    diff = next((at for at in range(body, len(lines)) if is_cut(lines[at])), len(lines))
    headers.update(_in_body_headers(lines, body, diff))
    return Mail(lines, is_complete, headers, body, diff, second, crlf)


def is_cut(line: bytes) -> bool:
    """Whether git ends the message before `line` (without its newline)."""
    if line.startswith(b"---"):
        rest = line[3:]
        return not rest.strip() or (rest[:1] == b" " and not rest[1:2].isspace())
    return line.startswith((b"diff -", b"Index: "))


def is_from_line(line: bytes) -> bool:
    """Whether git takes `line` for the separator in front of a message of a mailbox."""
    match = re.fullmatch(_FROM_LINE, line) if len(line) >= 19 else None
    return match is not None and int(match[1]) > 90


def _crlf_line(content: bytes) -> int | None:
    """Look at the first line and at those that begin a file's diff; a CRLF target shows CR in hunks only."""
    at = 0
    while at >= 0:
        end = content.find(b"\n", at)
        if content[end - 1 : end] == b"\r":
            return content.count(b"\n", 0, end) + 1
        found = content.find(b"\ndiff --git ", at)
        at = found + 1 or -1
    return None


def _second_message(content: bytes) -> int | None:
    at = content.find(b"\nFrom ")
    while at >= 0:
        end = content.find(b"\n", at + 1)
        if content[:at].strip() and is_from_line(content[at + 1 : end if end >= 0 else None]):
            return content.count(b"\n", 0, at + 1) + 1
        at = content.find(b"\nFrom ", at + 1)
    return None


def _headers(lines: list[bytes]) -> tuple[dict[bytes, Header], int]:
    at = 0
    while at < len(lines) and not lines[at].strip():
        at += 1
    return _fields(lines, at, len(lines))


def _fields(lines: list[bytes], at: int, end: int) -> tuple[dict[bytes, Header], int]:
    """Header fields from `at`, and the index of the first line that is none."""
    headers: dict[bytes, Header] = {}
    while at < end:
        line = lines[at]
        name, colon, text = line.partition(b":")
        is_field = bool(colon) and _is_field_name(name)
        if not is_field and not line.startswith((b"From ", b">From ")):
            break
        start = at
        at += 1
        while at < end and lines[at][:1] in (b" ", b"\t"):
            at += 1
        if is_field:
            folded = (text, *lines[start + 1 : at])
            headers[name.lower()] = Header(start + 1, b" ".join(part.strip() for part in folded).strip())
    return headers, at


def _is_field_name(name: bytes) -> bool:
    return name.isascii() and b" " not in name and name.decode().isprintable() and name != b""


def _in_body_headers(lines: list[bytes], body: int, end: int) -> dict[bytes, Header]:
    at = body
    while at < end and not lines[at].strip():
        at += 1
    if at < end and lines[at].partition(b":")[0].lower() not in _IN_BODY:
        return {}
    fields, _ = _fields(lines, at, end)
    own = takewhile(lambda field: field[0] in _IN_BODY, fields.items())
    return {name: header for name, header in own if header.text}


def _decoded(lines: list[bytes], headers: dict[bytes, Header], body: int) -> list[bytes]:
    encoding = headers.get(b"content-transfer-encoding", Header(0, b"")).text.lower()
    if encoding not in (b"quoted-printable", b"base64"):
        return lines
    import binascii  # noqa: PLC0415 - mail that went through a gateway, never format-patch

    text = b"\n".join(lines[body:]) + b"\n"
    try:
        decode = binascii.a2b_qp if encoding == b"quoted-printable" else binascii.a2b_base64
        return lines[:body] + decode(text).removesuffix(b"\n").split(b"\n")
    except ValueError:
        return lines
