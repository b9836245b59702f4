"""`--output FILE`: a document goes where its user says, whole or not at all, and nothing else changes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.errors import UsageError
from skippy_patches.files import replace
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from skippy_patches.cli.console import Terminal

OutputOption = Annotated[  # text, not Path: a slash at its end says that a folder is meant
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write it there and not to stdout (-). The folder must be there; a file is replaced.",
        show_default=False,
    ),
]
_STDOUT = "-"


class OutputRefused(UsageError):
    """A document cannot be written where its user wants it."""

    def __init__(self, place: Path, reason: str, mend: str = "") -> None:
        super().__init__(f"Nothing is written to {place}: {reason}.", mend=mend)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Output:
    """Where a document goes. place: as its user knows it; None for stdout."""

    place: Path | None

    @classmethod
    def of(cls, folder: Path, word: str | None, kept: Collection[Path] = ()) -> Output:
        """Where `word` leads from `folder`. kept: evidence, and folders that hold nothing else.

        To be asked before the document is made. Raises OutputRefused.
        """
        if word is None or word == _STDOUT:
            return cls(place=None)
        place = folder / word
        state = _state(place)
        if state and _is_stdout(state):  # /dev/stdout, or the file to which the shell leads it
            return cls(place=None)
        target = _target(place)
        if not {target, target.parent}.isdisjoint(map(_target, kept)):
            reason = "records are kept there, and nothing else"
            raise OutputRefused(place, reason, "Name a file elsewhere: --output llama.json")
        if not place.name or (state and stat.S_ISDIR(state.st_mode)):
            raise OutputRefused(
                place, "it is a folder", f"Name a file in it: --output {_quoted(place / 'llama.json')}"
            )
        if word.endswith("/"):
            raise OutputRefused(
                place, "the slash says that it is a folder", f"Make it: mkdir -p {_quoted(place)}"
            )
        _check(place, state)
        return cls(place=place)

    def write(self, text: str, terminal: Terminal) -> None:
        """Write `text`, and say so; or print it. Raises OutputRefused."""
        if self.place is None:
            print(text)
            return
        content = f"{text}\n".encode()
        state = _state(self.place)
        try:
            if state is None or stat.S_ISREG(state.st_mode):
                replace(_target(self.place), content, None if state is None else stat.S_IMODE(state.st_mode))
            else:  # a pipe or a device: a file in its place would be another thing
                self.place.write_bytes(content)
        except OSError as error:
            raise OutputRefused(self.place, _reason(error)) from error
        terminal.line(f"Written to {printable(str(self.place))}")


def _check(place: Path, state: os.stat_result | None) -> None:
    """See that a file can be there. state: of what is there now."""
    target = _target(place)
    if not target.parent.is_dir():
        parent = place.parent if target.parent == _target(place.parent) else target.parent
        raise OutputRefused(place, f"there is no folder {parent}", f"Make it: mkdir -p {_quoted(parent)}")
    if state and not os.access(place, os.W_OK):
        raise OutputRefused(place, "it is write-protected", "Delete it first, or name another file.")


def _target(place: Path) -> Path:
    """What a link leads to: the link stays one."""
    return Path(os.path.realpath(place))


def _state(place: Path) -> os.stat_result | None:
    """What is there; None for nothing. Raises OutputRefused."""
    try:
        return place.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputRefused(place, _reason(error)) from error


def _is_stdout(state: os.stat_result) -> bool:
    with contextlib.suppress(OSError):  # a stdout that is no file
        return os.path.samestat(state, os.fstat(sys.stdout.fileno()))
    return False


def _reason(error: OSError) -> str:
    """Without the name in it, which may be that of a temporary file."""
    return error.strerror or type(error).__name__


def _quoted(place: Path) -> str:
    return shlex.quote(str(place))
