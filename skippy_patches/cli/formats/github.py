"""Findings as GitHub Actions shows them: annotations on the files, and a table in the step's summary.

Both formats are GitHub's: "Workflow commands for GitHub Actions". A name that others chose must neither
end a command and begin another one, nor put links, HTML or mentions into the summary.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from skippy_patches.queue.findings import counted, printable, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.queue.findings import Finding

MOST_ANNOTATIONS = 10  # GitHub shows no more errors, and no more warnings, of one step
_LARGEST_SUMMARY = 1_000_000  # bytes; GitHub drops the summary of a step at 1 MiB
_HEAD = "| | where | what | why | mend |\n|---|---|---|---|---|\n"


def commands(findings: Sequence[Finding], patches: int, *, prefix: str, summary: bool) -> Iterator[str]:
    """The lines for stdout: at most ten commands, errors first, how many more there are, and the counts.

    prefix: the project's folder in its repository, as `a/b/`. summary: the rest is in the step's summary.
    """
    ranked = sorted(findings, key=lambda finding: not finding.is_error)
    yield from (_command(finding, prefix) for finding in ranked[:MOST_ANNOTATIONS])
    more = len(ranked) - MOST_ANNOTATIONS
    if more > 0:
        where = "the summary of this step has all" if summary else "skippy-patches check shows all"
        yield f"{counted(more, 'more finding')}: {where}."
    yield summarise(findings, patches)


def append_summary(file: Path, findings: Sequence[Finding], patches: int, *, prefix: str) -> None:
    """Append every finding, as markdown, to the file that $GITHUB_STEP_SUMMARY names.

    Ends early, and says so, before the step's summary is larger than GitHub takes. Raises OSError.
    """
    with file.open("ab") as stream:
        left = _LARGEST_SUMMARY - stream.tell()
        stream.write("".join(_markdown(findings, patches, prefix, left)).encode())


def _markdown(findings: Sequence[Finding], patches: int, prefix: str, left: int) -> Iterator[str]:
    yield f"### Patch queue\n\n{summarise(findings, patches)}\n"
    if findings:
        yield f"\n{_HEAD}"
    for number, finding in enumerate(findings):
        row = _row(finding, prefix)
        left -= len(row.encode())
        if left < 0:
            yield f"\n{counted(len(findings) - number, 'more finding')}: skippy-patches check shows all.\n"
            return
        yield row


def _command(finding: Finding, prefix: str) -> str:
    level = "error" if finding.is_error else "warning"
    facts = {"title": f"{finding.code} in the patch queue"}
    if finding.files:
        facts = {"file": printable(posixpath.normpath(prefix + finding.files[0])), **facts}
    if finding.line is not None:
        facts = {**facts, "line": str(finding.line)}
    properties = ",".join(f"{name}={_property(text)}" for name, text in facts.items())
    lines = [printable(finding.what), *_lines(finding.why), *_lines(finding.mend)]
    return f"::{level} {properties}::" + _data("\n".join(lines))


def _lines(text: str) -> list[str]:
    return [printable(line) for line in text.splitlines()]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _row(finding: Finding, prefix: str) -> str:
    where = posixpath.normpath(prefix + finding.files[0]) if finding.files else "queue"
    if finding.line is not None:
        where = f"{where}:{finding.line}"
    what = f"{finding.what} [{finding.code}]"
    cells = [
        [finding.severity],
        [printable(where)],
        [printable(what)],
        _lines(finding.why),
        _lines(finding.mend),
    ]
    return f"| {' | '.join('<br>'.join(map(_plain, cell)) for cell in cells)} |\n"


def _plain(text: str) -> str:
    """Markdown that reads as `text`: all that could mean something to it is a character reference."""
    return "".join(
        char if char.isalnum() or char in " /-," or char > "\x7f" else f"&#{ord(char)};" for char in text
    )
