"""A patch file as git am reads it: by git mailsplit and git mailinfo, and refused where git am refuses it."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.git import run_anywhere
from skippy_patches.queue.errors import UnreadablePatch

if TYPE_CHECKING:
    from skippy_patches.queue.patch import Patch

# What mailinfo prints, one field a line (git-mailinfo(1)).
_FIELD = re.compile(r"^(Author|Email|Subject|Date): (.*)$", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")  # a header's name, as git am's format detection knows it
_PINE = "Mail System Internal Data"  # a mail folder's first message; git am passes over it


@dataclasses.dataclass(frozen=True, kw_only=True)
class Message:
    """One mail, taken apart. text: the whole commit message. diff: what git apply gets."""

    author: str
    email: str
    date: str
    subject: str
    text: bytes
    diff: bytes


def read(patch: Patch, subject_prefix: str) -> Message:
    """Split and parse as `git am --keep-cr` does. subject_prefix: strip or keep. Raises UnreadablePatch."""
    if not _is_mail(patch.content):
        raise UnreadablePatch(patch, "git am does not take it for a mail: it begins with no header")
    with tempfile.TemporaryDirectory(prefix="skippy-mail-") as name:
        return _read(patch, subject_prefix, Path(name))


def subject_of(patch: Patch, subject_prefix: str) -> str:
    """The subject alone; empty when the file cannot be read: `check` tells why."""
    try:
        return read(patch, subject_prefix).subject.replace("\n", " ")
    except UnreadablePatch:
        return ""


def _read(patch: Patch, subject_prefix: str, folder: Path) -> Message:
    (folder / "source").write_bytes(patch.content)
    split = run_anywhere("mailsplit", "-b", "--keep-cr", f"-o{folder}", str(folder / "source"), check=False)
    if split.status or split.line != "1":
        found = f"git mailsplit finds {split.line} messages in it"
        raise UnreadablePatch(patch, split.stderr.strip() or found)
    keep = ["-b"] if subject_prefix == "keep" else []
    body, diff = folder / "body", folder / "diff"
    # No --encoding: given UTF-8, git 2.39's mailinfo converts no charset at all; i18n.commitEncoding decides.
    arguments = ("mailinfo", *keep, "--no-scissors", str(body), str(diff))
    info = run_anywhere(*arguments, stdin=(folder / "0001").read_bytes(), check=False)
    if info.status:
        raise UnreadablePatch(patch, info.stderr.strip())
    fields: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(info.text):
        fields.setdefault(name, []).append(value)
    return _message(patch, fields, body.read_bytes(), diff.read_bytes())


def _message(patch: Patch, fields: dict[str, list[str]], body: bytes, diff: bytes) -> Message:
    author, email, date = (next(iter(fields.get(key, [])), "") for key in ("Author", "Email", "Date"))
    if not diff:
        raise UnreadablePatch(patch, "it changes nothing: there is no diff in it")
    if author == _PINE:
        raise UnreadablePatch(patch, f"git am passes over a mail from {_PINE}")
    if not email or not date:
        missing = "From:" if not email else "Date:"
        reason = f"it has no usable {missing} line, so its commit would not be the same everywhere"
        raise UnreadablePatch(patch, reason)
    subject = "\n".join(fields.get("Subject", []))
    whole = subject.encode("utf-8", "surrogateescape") + b"\n\n" + body
    text = run_anywhere("stripspace", stdin=whole).stdout
    return Message(author=author, email=email, date=date, subject=subject, text=text, diff=diff)


def _is_mail(content: bytes) -> bool:
    """How git am detects one (builtin/am.c): `From ` or `From: ` first, or headers up to a blank line."""
    lines = content.lstrip(b"\r\n").split(b"\n")
    if lines[0].startswith((b"From ", b"From: ")):
        return True
    for line in lines:
        if not line.rstrip(b"\r"):
            break
        if not line.startswith((b" ", b"\t")) and not _HEADER.match(line):
            return False
    return bool(lines[0].strip())
