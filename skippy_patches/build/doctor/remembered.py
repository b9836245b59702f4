"""What was tried on this machine and went well, so that it is tried once and not at every build.

It stands in `doctor.json` of the cache's folder, as hashes of all that the answer depends on. Only good
answers are kept: a failure may have been the machine's (a full disk), and is worth another try.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from typing import TYPE_CHECKING

from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.doctor.host import Host

_MOST = 32  # answers; the oldest go
_writing = threading.Lock()


def key(*parts: str) -> str:
    """What an answer depends on, as one word."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def is_fine(host: Host, answer: str) -> bool:
    """Whether what the key `answer` stands for went well."""
    return host.remembered is not None and answer in _read(host.remembered)


def note(host: Host, answer: str) -> None:
    """It went well. Where nothing can be written it is tried again the next time."""
    file = host.remembered
    if file is None:
        return
    with contextlib.suppress(OSError), _writing:
        file.parent.mkdir(parents=True, exist_ok=True)
        keys = [*(each for each in _read(file) if each != answer), answer][-_MOST:]
        write_atomically(file, json.dumps({"schema_version": 1, "fine": keys}, indent=1).encode())


def _read(file: Path) -> list[str]:
    try:
        keys = json.loads(file.read_bytes())["fine"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [each for each in keys if isinstance(each, str)] if isinstance(keys, list) else []
