"""Checks of the trailers and DEP-3 fields that a project requires: `require` in skippy-patches.yaml."""

from __future__ import annotations

import datetime
import difflib
import re
from typing import TYPE_CHECKING

from skippy_patches.queue import mail, metadata
from skippy_patches.queue.findings import Finding, error, warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.queue.mail import Mail
    from skippy_patches.queue.metadata import Field
    from skippy_patches.queue.patch import Patch

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE)  # of a page or a message


def check(patches: Sequence[Patch], required: Sequence[str]) -> list[Finding]:
    """A finding for each patch that lacks some of the fields, and for each of them with an odd value.

    Only what is required is held against DEP-3: elsewhere its names may mean something else.
    """
    findings = []
    for patch, fields in zip(patches, metadata.read(patches), strict=True):
        message = mail.read(patch.content)
        missing = [name for name in required if not _has(name, fields, message)]
        if missing:
            hints = [_hint(name, fields, message) for name in missing]
            findings.append(_missing(patch, missing, [hint for hint in hints if hint]))
        for name in required:
            findings += [_odd(patch, field, rule) for field in fields if (rule := _broken_rule(field, name))]
    return findings


def _has(name: str, fields: Sequence[Field], message: Mail) -> bool:
    stand_in = metadata.STAND_INS.get(name.lower())
    return (stand_in is not None and message.text(stand_in) != b"") or any(
        field.is_called(name) and field.value for field in fields
    )


def _missing(patch: Patch, names: Sequence[str], hints: Sequence[str]) -> Finding:
    lines = "; ".join(f"{name}: ..." for name in names)
    return error(
        "missing-field",
        (patch.path,),
        f"the message has no {', '.join(names)}",
        why="\n".join(("skippy-patches.yaml requires it of every patch ('require').", *hints)),
        mend=f"Add it to the last paragraph of the commit message, a line each: {lines}",
    )


def _hint(name: str, fields: Sequence[Field], message: Mail) -> str:
    """Where the field may be meant: written and empty, written where git does not look, or misspelt."""
    if any(field.is_called(name) for field in fields):
        return f"It has '{name}:', but nothing behind it."
    line = _line_of(name, message)
    if line:
        return (
            f"Line {line} begins with '{name}:', but git looks for trailers in the last paragraph alone, "
            "which must hold little else."
        )
    near = difflib.get_close_matches(name.lower(), [field.name.lower() for field in fields], n=1, cutoff=0.75)
    written = next((field.name for field in fields if near and field.is_called(near[0])), "")
    return f"It has '{written}'. Did you mean '{name}'?" if written else ""


def _line_of(name: str, message: Mail) -> int | None:
    """The 1-based line of the message's body that begins with the name and a colon."""
    start = name.lower().encode() + b":"
    lines = enumerate(message.lines[message.body : message.diff], message.body + 1)
    return next((number for number, line in lines if line.lower().startswith(start)), None)


def _broken_rule(field: Field, name: str) -> str:
    """What DEP-3 wants of the field, when it is `name` and its value is something else."""
    if not field.is_called(name) or not field.value:
        return ""
    if name.lower() == "forwarded" and not _is_forwarded(field.value):
        return "no, not-needed, yes, or the address where it was sent"
    if name.lower() == "last-update" and not _is_date(field.value):
        return "a date, YYYY-MM-DD"
    return ""


def _is_forwarded(value: str) -> bool:
    return value.lower() in ("no", "not-needed", "yes") or _ADDRESS.match(value) is not None


def _is_date(value: str) -> bool:
    try:
        return len(value) == 10 and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def _odd(patch: Patch, field: Field, rule: str) -> Finding:
    return warning(
        "dep3-value",
        (patch.path,),
        f"{field.name} is '{field.value}'",
        why=f"DEP-3 wants {rule}; programs that read the field cannot use this.",
        mend="Write it so in the commit message, and export the patch again.",
    )
