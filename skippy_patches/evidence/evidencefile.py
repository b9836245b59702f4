"""Reads any file of evidence; what it is shows in its content, not in its name."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from skippy_patches.evidence import compare, jsonfile, record, shape
from skippy_patches.evidence.claim import (
    RECORD,
    Claim,
    ClaimedFile,
    ClaimedLibrary,
    ClaimedTip,
    ClaimedTool,
)
from skippy_patches.evidence.errors import EvidenceBroken, NotVerifiable
from skippy_patches.queue.patch import number_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skippy_patches.evidence.record import Record

_WHITE = b" \t\r\n\xef\xbb\xbf"
_PEEK = 1024


def is_json(file: Path) -> bool:
    """Whether the file begins as a JSON object does, or is named like one: then it is no library."""
    with file.open("rb") as stream:
        start = stream.read(_PEEK).lstrip(_WHITE)
    return start[:1] == b"{" or file.suffix == ".json"


def load(file: Path) -> Claim:
    """What the file claims. Raises RecordBroken, EvidenceBroken, and NotVerifiable when it is not there."""
    try:
        content = jsonfile.read(file)
    except FileNotFoundError:
        raise NotVerifiable(file, "there is no such file") from None
    except jsonfile.Unreadable as error:
        raise EvidenceBroken(file, str(error)) from error
    return dataclasses.replace(_claim(content, file), source=file)


def of_record(made: Record) -> Claim:
    """What a record claims."""
    content = made.content
    return Claim(
        kind=RECORD,
        recipe=made.recipe,
        upstream=ClaimedTip(content["upstream"]["commit"], content["upstream"]["tree"]),
        patched=ClaimedTip(content["patched"]["commit"], content["patched"]["tree"]),
        patches=compare.patches(content),
        libraries=tuple(
            ClaimedLibrary(each["name"], each["sha256"], each["size"]) for each in content["artifacts"]
        ),
        toolchain={role: _tool(entry) for role, entry in content["toolchain"].items()},
        recipe_files=tuple(
            sorted(ClaimedFile(each["name"], each["sha256"]) for each in content.get("recipe_files", ()))
        ),
        queue_digest=content["queue_digest"],
        record=made,
    )


def _claim(content: dict[str, Any], file: Path) -> Claim:
    if "_type" in content:
        from skippy_patches.evidence import statement  # noqa: PLC0415 - it reads Claim, as this does

        return _read(statement.claim, content, file)
    if "bomFormat" in content:
        from skippy_patches.evidence import sbom  # noqa: PLC0415 - see above

        return _read(sbom.claim, content, file)
    if "payloadType" in content:
        raise EvidenceBroken(file, "it is an envelope around something (DSSE): verify its `payload`, decoded")
    if "artifacts" not in content and "patches" not in content:
        raise EvidenceBroken(file, "it has neither `artifacts`, nor `_type`, nor `bomFormat`")
    return of_record(record.of_json(content, file))


def _read(reader: Callable[[dict[str, Any]], Claim], content: dict[str, Any], file: Path) -> Claim:
    """What a reader of another format makes of the content, once every id in it is one."""
    try:
        claim = reader(content)
    except ValueError as error:
        raise EvidenceBroken(file, str(error)) from error
    except (LookupError, TypeError, AttributeError) as error:
        raise EvidenceBroken(file, f"{type(error).__name__} at {error}") from error
    ids = [*claim.upstream, *claim.patched]
    sums = [
        *(each.sha256 for each in claim.patches),
        *(each.sha256 for each in claim.libraries),
        *(each.sha256 for each in claim.recipe_files),
        *([claim.queue_digest] if claim.queue_digest else []),
    ]
    tools = [tool.sha256 for tool in claim.toolchain.values() if tool]
    if not all(shape.SHA1.fullmatch(text) for text in ids if text):
        raise EvidenceBroken(file, "a commit or tree in it is no full id")
    if not all(shape.SHA256.fullmatch(text) for text in (*sums, *(text for text in tools if text))):
        raise EvidenceBroken(file, "a hash in it is no SHA-256")
    if not claim.libraries:
        raise EvidenceBroken(file, "it names no library")
    numbers = [patch.number for patch in claim.patches if patch.number is not None]
    if len(set(numbers)) < len(numbers):
        raise EvidenceBroken(file, "two patches in it have one number")
    for patch in claim.patches:
        if patch.number is not None and number_of(patch.file) != patch.number:
            raise EvidenceBroken(file, f"{patch.file} has number {patch.number} in it")
    return claim


def _tool(entry: dict[str, Any] | None) -> ClaimedTool | None:
    return ClaimedTool(entry["name"], entry["version"], entry["sha256"]) if entry else None
