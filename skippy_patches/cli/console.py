"""Where text goes: results to stdout, everything else to stderr; colours and progress on terminals only."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import textwrap
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment, Segments
from rich.text import Text

from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.table import Table

    from skippy_patches.errors import SkippyError
    from skippy_patches.progress import Reporter

# Wider than any table here: what is piped is for programs, and is not wrapped.
_UNLIMITED = 10_000
_INDENT = " " * 4
QUIET, NORMAL, VERBOSE = -1, 0, 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Terminal:
    """The two streams, and how much to say on them."""

    out: Console
    err: Console
    verbosity: int

    @classmethod
    def open(cls, *, verbosity: int = NORMAL) -> Terminal:
        """Colours follow the environment; --color writes itself into it."""
        return cls(
            out=_console(sys.stdout, stderr=False),
            err=_console(sys.stderr, stderr=True),
            verbosity=verbosity,
        )

    def json(self, value: dict[str, Any]) -> None:
        """Print one JSON object and nothing else."""
        print(json_text(value))

    @property
    def is_quiet(self) -> bool:
        """Whether to say results and errors only."""
        return self.verbosity <= QUIET

    def line(self, text: str, style: str = "") -> None:
        """Print a line of the result."""
        self.out.print(Text(shown(text), style=style), soft_wrap=True)

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print labels and values, a line each. Never folded: what is copied is what was meant."""
        lines = [(printable(label), printable(value)) for label, value in rows]
        width = max((len(label) for label, _ in lines), default=0)
        for label, value in lines:
            self.line(f"{label:<{width}}  {value}")

    def table(self, table: Table) -> None:
        """Print a table, without the blanks with which rich fills every line."""
        lines = self.out.render_lines(table, pad=False)
        whole = [segment for line in lines for segment in (*_stripped(line), Segment.line())]
        self.out.print(Segments(whole), soft_wrap=True, end="")

    def fits(self, table: Table) -> bool:
        """Whether a table needs no folding here; in a pipe none does."""
        wide = self.out.options.update(width=_UNLIMITED)
        return self.out.measure(table, options=wide).maximum <= self.out.width

    def entry(self, head: str, text: str = "") -> None:
        """Print what would be a row of a table that does not fit: a line, and words of it below, indented."""
        for paragraph, indent in ((head, ""), (text, _INDENT)):
            width = max(2 * len(_INDENT), self.out.width)
            lines = textwrap.wrap(
                shown(paragraph),
                width,
                initial_indent=indent,
                subsequent_indent=_INDENT,
                break_long_words=False,  # what is copied is what was meant
                break_on_hyphens=False,
            )
            for line in lines:
                self.line(line)

    def error(self, error: SkippyError) -> None:
        """Say what happened, why, and what to do."""
        self.err.print(
            Text("error: ", style="bold red").append(printable(error.what), style="bold"), soft_wrap=True
        )
        for line in error.why.splitlines():
            self.err.print(Text(f"  {shown(line)}"), soft_wrap=True)
        for line in error.mend.splitlines():
            self.err.print(Text("hint: ", style="cyan").append(shown(line), style="default"), soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something beside the result, on stderr, however quiet."""
        self.err.print(Text(shown(text), style="yellow"), soft_wrap=True)

    @contextlib.contextmanager
    def reporter(self) -> Iterator[Reporter]:
        """A reporter for one stage: a progress bar on a terminal, plain lines elsewhere."""
        if not self.is_quiet and _is_terminal(sys.stderr):
            with _Bars(self) as bars:
                yield bars
        else:
            yield _Lines(self)


def json_text(value: dict[str, Any]) -> str:
    """JSON in ASCII, so that it is JSON whatever stdout's encoding is."""
    return json.dumps(value, indent=2)


def shown(text: str) -> str:
    """`text` safe to print: names and messages that others wrote must not drive a terminal."""
    return "\n".join(printable(line.expandtabs()) for line in text.split("\n"))


def _stripped(line: list[Segment]) -> list[Segment]:
    """A rendered line without the blanks at its end."""
    while line and not line[-1].text.rstrip():
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []


def _console(stream: IO[str], *, stderr: bool) -> Console:
    terminal = _is_terminal(stream)
    wanted = _wants_color(terminal)
    return Console(
        stderr=stderr,
        force_terminal=wanted,
        no_color=not wanted,
        width=None if terminal else _UNLIMITED,
        markup=False,
        highlight=False,
        emoji=False,
    )


def _wants_color(terminal: bool) -> bool:
    """https://no-color.org and https://force-color.org: set and not empty."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (terminal and os.environ.get("TERM") != "dumb")


def _is_terminal(stream: IO[str]) -> bool:
    return stream.isatty()


class _Lines:
    """Progress as plain lines: a beginning, and nothing in between."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._label = ""

    def step(self, text: str) -> None:
        if not self._terminal.is_quiet:
            self._terminal.err.print(Text(shown(text)), soft_wrap=True)

    def detail(self, text: str) -> None:
        if self._terminal.verbosity >= VERBOSE:
            self._terminal.err.print(Text(shown(text), style="dim"), soft_wrap=True)

    def advance(self, label: str, done: int, total: int | None) -> None:
        del done, total
        kind = label.split(":", 1)[0]
        if kind != self._label:
            self._label = kind
            self.step(f"{kind} ...")


class _Bars(_Lines):
    """Progress as a bar that is gone when it is full."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(terminal)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=terminal.err, transient=True)
        self._task: TaskID | None = None

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, label: str, done: int, total: int | None) -> None:
        if self._task is None:
            self._task = self._progress.add_task(label, total=total)
        if label != self._label:
            self._label = label
            self._progress.reset(self._task, total=total, description=label)
        self._progress.update(self._task, completed=done, total=total)
