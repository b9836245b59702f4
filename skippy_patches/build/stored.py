"""JSON files of the build folder: written so that they are whole or not there, read with care."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from skippy_patches.build.errors import StoredFileBroken

SCHEMA_VERSION = 1


def write(path: Path, content: dict[str, Any]) -> None:
    """Write `content` under `schema_version`, atomically: temporary file, fsync, rename."""
    text = json.dumps({"schema_version": SCHEMA_VERSION} | content, indent=2, ensure_ascii=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fchmod(stream.fileno(), 0o644)
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
