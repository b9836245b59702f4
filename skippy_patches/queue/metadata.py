"""What a patch says about itself: trailers of its message, and DEP-3 fields of its mail header.

git interpret-trailers(1) finds the trailers; https://dep-team.pages.debian.net/deps/dep3/ names the fields.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.git import run_anywhere
from skippy_patches.queue import mail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.queue.patch import Patch

# As DEP-3 spells those that a mail's header may hold.
DEP3 = (
    "Origin",
    "Forwarded",
    "Bug",
    "Applied-Upstream",
    "Last-Update",
    "Author",
    "Description",
    "Reviewed-by",
    "Acked-by",
)
# Fields of the mail in whose place DEP-3 takes another name.
STAND_INS = {"author": b"from", "description": b"subject"}
_VENDOR_BUG = "bug-"
_BREAK = "Skippy-Patches-Next"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field:
    """One field, unfolded. name: as it is written, in a mail's header as DEP-3 spells it."""

    name: str
    value: str

    def is_called(self, name: str) -> bool:
        """Git and DEP-3 do not tell upper from lower case."""
        return self.name.lower() == name.lower()


def read(patches: Sequence[Patch]) -> list[tuple[Field, ...]]:
    """The fields of each patch: those of the mail's header, then the trailers; in the order of the file."""
    trailers = _trailers([_message(patch) for patch in patches])
    return [(*_header(patch), *found) for patch, found in zip(patches, trailers, strict=True)]


def _header(patch: Patch) -> Iterator[Field]:
    spelling = {name.lower(): name for name in DEP3}
    for key, header in mail.read(patch.content).headers.items():
        name = key.decode()
        if name in spelling or name.startswith(_VENDOR_BUG):
            yield Field(name=spelling.get(name, name.title()), value=header.text.decode("utf-8", "replace"))


def _message(patch: Patch) -> bytes:
    """Subject and body as git mailinfo leaves them; what it refuses has none, and `check` tells why."""
    with tempfile.TemporaryDirectory(prefix="skippy-mail-") as folder:
        body = Path(folder) / "body"
        info = run_anywhere(
            "mailinfo", "--no-scissors", str(body), f"{folder}/diff", stdin=patch.content, check=False
        )
        return b"subject\n\n" + body.read_bytes() if info.status == 0 else b""


def _trailers(messages: Sequence[bytes]) -> list[tuple[Field, ...]]:
    """One git for all of them: between two messages it reads one whose only trailer is a mark."""
    if not messages:
        return []
    with tempfile.TemporaryDirectory(prefix="skippy-trailers-") as name:
        folder = Path(name)
        mark = folder / "mark"
        mark.write_text(f"mark\n\n{_BREAK}: {folder.name}\n")
        files = []
        for number, message in enumerate(messages):
            file = folder / str(number)
            file.write_bytes(message)
            files += [str(file), str(mark)]
        answer = run_anywhere("interpret-trailers", "--parse", "--no-divider", *files)
    marked = answer.stdout.decode("utf-8", "replace").split(f"{_BREAK}: {folder.name}\n")[: len(messages)]
    return [tuple(_field(line) for line in text.split("\n") if ":" in line) for text in marked]


def _field(line: str) -> Field:
    name, _, value = line.partition(":")
    return Field(name=name.strip(), value=value.strip())
