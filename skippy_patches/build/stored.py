"""JSON files of the build folder: written so that they are whole or not there, read with care."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skippy_patches.build.errors import StoredFileBroken
from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = 1


def write(path: Path, content: dict[str, Any]) -> None:
    """Write `content` under `schema_version`, atomically: temporary file, fsync, rename."""
    write_atomically(path, encoded(content))


def encoded(content: dict[str, Any]) -> bytes:
    """The bytes that `write` puts into a file; bytes of a name that are not UTF-8 as JSON's escapes."""
    text = json.dumps({"schema_version": SCHEMA_VERSION} | content, indent=2, ensure_ascii=False) + "\n"
    return text.encode(errors="backslashreplace")


def read(path: Path, mend: str) -> dict[str, Any] | None:
    """The content, or None when there is no such file. Raises StoredFileBroken, which shows `mend`."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoredFileBroken(path, str(error), mend) from error
    if not isinstance(content, dict):
        raise StoredFileBroken(path, "it is not an object", mend)
    if content.get("schema_version") != SCHEMA_VERSION:
        version = content.get("schema_version")
        raise StoredFileBroken(path, f"its schema_version is {version}, not {SCHEMA_VERSION}", mend)
    return content
