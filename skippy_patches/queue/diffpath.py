r"""File names in diff headers: a/ and b/, quotes, tabs and the `diff --git` line.

Rules: git-diff(1), "Generating patch text with -p", point 4, and core.quotePath of git-config(1).
"""

from __future__ import annotations

import os

_ESCAPES = {
    ord("a"): 7, ord("b"): 8, ord("t"): 9, ord("n"): 10, ord("v"): 11, ord("f"): 12, ord("r"): 13,
    ord('"'): ord('"'), ord("\\"): ord("\\"),
}  # fmt: skip
NULL_DEVICE = b"/dev/null"


def header_name(text: bytes) -> bytes | None:
    """The name behind `---` or `+++`, unquoted, with its prefix; None when it cannot be read.

    Git ends a name that has blanks in it with a tab; other tools put a time behind one.
    """
    return _quoted(text)[0] if text[:1] == b'"' else text.partition(b"\t")[0]


def plain_name(text: bytes) -> bytes | None:
    """The name behind `rename from` and the like: unquoted, never with a prefix."""
    return _quoted(text)[0] if text[:1] == b'"' else text


def strip_prefix(name: bytes) -> bytes | None:
    """`name` without its first component, as -p1 does; None when nothing is left."""
    _, _, rest = name.partition(b"/")
    return rest or None


def git_line_names(text: bytes) -> tuple[bytes, bytes] | None:
    """The two names behind `diff --git `, prefixes included, when they name one file; else None.

    Unquoted names are not delimited: the blank between them is the one with the same name on both sides.
    """
    if text[:1] == b'"':
        left, rest = _quoted(text)
        right = plain_name(rest[1:])
        return (left, right) if left and right and strip_prefix(left) == strip_prefix(right) else None
    at = text.find(b" ")
    while at >= 0:
        left, right = text[:at], plain_name(text[at + 1 :])
        if right and strip_prefix(left) is not None and strip_prefix(left) == strip_prefix(right):
            return left, right
        at = text.find(b" ", at + 1)
    return None


def lacks_prefixes(text: bytes) -> bool:
    """Whether the line behind `diff --git ` was made with diff.noprefix: twice the same name."""
    half, odd = divmod(len(text), 2)
    return odd == 1 and text[half : half + 1] == b" " and text[:half] == text[half + 1 :]


def decoded(name: bytes | None) -> str | None:
    """Bytes as text; what is not UTF-8 becomes surrogates, as in os.fsdecode."""
    return None if name is None else os.fsdecode(name)


def _quoted(text: bytes) -> tuple[bytes | None, bytes]:
    """A C-quoted name at the start of `text`, and what follows it; None when the quotes are broken."""
    name = bytearray()
    at = 1
    while at < len(text):
        char = text[at]
        if char == ord('"'):
            return bytes(name), text[at + 1 :]
        if char != ord("\\"):
            name.append(char)
            at += 1
            continue
        digits = text[at + 1 : at + 4]
        if len(digits) == 3 and digits[:1] in b"0123" and all(digit in b"01234567" for digit in digits):
            name.append(int(digits, 8))
            at += 4
        elif digits[:1] and digits[0] in _ESCAPES:
            name.append(_ESCAPES[digits[0]])
            at += 2
        else:
            break
    return None, b""
