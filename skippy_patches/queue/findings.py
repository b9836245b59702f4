"""What `check` found, as values, and their one wording in plain text."""

from __future__ import annotations

from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR = "error"
WARNING = "warning"


class Finding(NamedTuple):
    """One thing that is wrong with the queue.

    code: kebab-case, stable, for machines. severity: error or warning. files: relative to the project, the
    one to look at first in front. line: 1-based, in the first file, or None. what: the fact; why: the
    consequence or the usual cause; mend: what to do.
    """

    code: str
    severity: str
    files: tuple[str, ...]
    line: int | None
    what: str
    why: str = ""
    mend: str = ""

    @property
    def is_error(self) -> bool:
        """Whether `check` fails because of it."""
        return self.severity == ERROR


def error(
    code: str, files: tuple[str, ...], what: str, *, line: int | None = None, why: str = "", mend: str = ""
) -> Finding:
    """Make a finding that fails the check."""
    return Finding(code, ERROR, files, line, what, why, mend)


def warning(
    code: str, files: tuple[str, ...], what: str, *, line: int | None = None, why: str = "", mend: str = ""
) -> Finding:
    """Make a finding that is shown and no more."""
    return Finding(code, WARNING, files, line, what, why, mend)


def describe(finding: Finding) -> str:
    """Render as text: `FILE:LINE: SEVERITY: WHAT [CODE]`, then why and mend, indented; no last newline."""
    where = finding.files[0] if finding.files else "queue"
    if finding.line is not None:
        where = f"{where}:{finding.line}"
    head = f"{printable(where)}: {finding.severity}: {printable(finding.what)} [{finding.code}]"
    rest = "\n".join(text for text in (finding.why, finding.mend) if text)
    return "\n".join((head, *(f"    {printable(line)}" for line in rest.splitlines())))


def summarise(findings: Sequence[Finding], patches: int) -> str:
    """One line: `24 patches: 1 error, 2 warnings`, or `24 patches: no findings`."""
    errors = sum(finding.is_error for finding in findings)
    counts = [counted(errors, "error"), counted(len(findings) - errors, "warning")]
    found = ", ".join(count for count in counts if not count.startswith("0"))
    return f"{counted(patches, 'patch', 'patches')}: {found or 'no findings'}"


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 patch`, `2 patches`. nouns: the plural, where it is not `noun` with an s."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def printable(text: str) -> str:
    """`text` with control characters and bytes that are not UTF-8 escaped: safe on a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode's stand-in for a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
