"""What can go wrong between a build, its record and whoever verifies it: one class a condition."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING

from skippy_patches.build import pip
from skippy_patches.errors import BuildError, SkippyError, UsageError, WrongTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MOST_LISTED = 10
_LONGEST = 200  # characters of what a schema says: it may quote half of the document


class OtherCommitBuilt(BuildError):
    """The libraries were built from another commit than the queue gives now."""

    def __init__(self, recipe: str, built: str, applied: str) -> None:
        super().__init__(
            f"The last build of '{recipe}' is of {built}, and the queue now gives {applied}.",
            why="A record must name the patches that are in the libraries.",
            mend=_build_again(recipe),
        )


class SourceChanged(WrongTree):
    """The checkout became another one while it was compiled: nobody knows what is in the libraries."""

    def __init__(self, recipe: str, changes: Sequence[str]) -> None:
        super().__init__(
            f"The checkout changed while it was built: {_listed(changes)}.",
            why="Some files may have been compiled before, some after that: no commit gives these bytes.",
            mend=f"Keep away from the checkout while it is built. {_build_again(recipe)}",
        )


class LibrariesChanged(BuildError):
    """The files are no longer those that the build made."""

    def __init__(self, recipe: str, names: Sequence[str]) -> None:
        super().__init__(
            f"Changed since they were built: {', '.join(names)}.",
            why="Something else wrote to the build folder; these bytes have no known origin.",
            mend=_build_again(recipe),
        )


class NotTheBuildsRecord(BuildError):
    """The record in the build folder says something else than the build beside it."""

    def __init__(self, file: Path, recipe: str, keys: Sequence[str]) -> None:
        super().__init__(
            f"{file} is not the record of the build beside it: {', '.join(keys)} differ.",
            why="The build was interrupted before it was recorded, or the record was edited.",
            mend=_build_again(recipe),
        )


class NoRecord(BuildError):
    """A recipe has not been recorded."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"There is no record {file}.", mend="Make one: skippy-patches build")


class RecordBroken(SkippyError):
    """A record file is not what this version of skippy-patches writes."""

    exit_status = 2

    def __init__(self, file: Path, problem: str, *, is_later: bool = False) -> None:
        mend = "Take it back from git, or record again."
        super().__init__(
            f"{file} is not a record: {problem}.",
            mend="A later version of skippy-patches made it: update yours." if is_later else mend,
        )
        self.file = file


class OtherEvidence(RecordBroken):
    """A statement or a bill of materials stands where a record is wanted. kind: what it is."""

    def __init__(self, file: Path, kind: str) -> None:
        super().__init__(file, f"it is {kind}")
        self.why = "Such a document is made of a record, and does not hold all that the record says."
        self.mend = (
            "Name the record that it was made of: skippy-patches record list\n"
            f"To hold this one against queue and libraries: skippy-patches verify {shlex.quote(str(file))}"
        )


class RecordDiffers(SkippyError):
    """The records folder has another record of the same commit, recipe and platform."""

    exit_status = 1

    def __init__(self, file: Path, differences: Sequence[str]) -> None:
        super().__init__(
            f"{file} holds another record of this commit and recipe.",
            why="\n".join(["From it to this one:", *(f"- {each}" for each in _shortened(differences))]),
            mend="To keep both: skippy-patches record --save --label WORD\n"
            "To replace it, delete it first; git keeps the old one.",
        )


class BadLabel(UsageError):
    """The label cannot be the end of a file's name."""

    def __init__(self, label: str) -> None:
        super().__init__(
            f"'{label}' is no label.",
            why="It ends the file's name: at most 40 letters, digits, dots, underscores, the first no dot.",
            mend="For example: --label clang16",
        )


class UnknownRecord(UsageError):
    """Nothing has this name."""

    def __init__(self, name: str, known: Sequence[str], nearest: str) -> None:
        listed = "\n".join(f"- {each}" for each in _shortened(known))
        super().__init__(
            f"There is no record '{name}'.",
            why=f"There are:\n{listed}" if known else "None was saved, and nothing was built here.",
            mend=nearest or ("skippy-patches record list" if known else "skippy-patches build"),
        )
        self.known = known
        self.nearest = nearest


class AmbiguousRecord(UsageError):
    """Several records begin so."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        listed = "\n".join(f"- {each}" for each in _shortened(names))
        super().__init__(f"{len(names)} records begin with '{name}'.", why=listed, mend="Write more of it.")


class NotVerifiable(UsageError):
    """The argument of `verify` is nothing that it could look at."""

    def __init__(self, place: Path, reason: str, mend: str = "") -> None:
        super().__init__(
            f"{place}: {reason}.",
            mend=mend or "Name a library, a folder of them or a record: skippy-patches verify --help",
        )


class NothingToVerify(UsageError):
    """The argument of `verify` is the name of nothing."""

    def __init__(self, word: str, known: Sequence[str], nearest: str) -> None:
        listed = "\n".join(f"- {each}" for each in _shortened(known))
        super().__init__(
            f"There is neither a file nor a record called '{word}'.",
            why="verify takes:\n"
            "- a library, or a folder of them\n"
            "- the file of a record, of an in-toto statement or of an SBOM\n"
            "- a record's name, or how it begins; recipe:NAME is that of a recipe's last build\n"
            + (f"Records:\n{listed}" if known else "No record was saved, and nothing was built here."),
            mend=nearest or ("skippy-patches record list" if known else "skippy-patches build"),
        )


class EvidenceBroken(SkippyError):
    """The file is JSON, or was, and no evidence of a kind that is known here."""

    exit_status = 2

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(
            f"{file} is no evidence: {problem}.",
            why="Known are records, in-toto statements and CycloneDX documents that skippy-patches wrote.",
            mend="Take it back from where it was published.",
        )


class SbomExtraMissing(UsageError):
    """What checks a bill of materials is not installed."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "`sbom` needs the library of CycloneDX with what it checks JSON with, which is not installed: "
            f"{' '.join(reason.split()).rstrip('. ')}.",
            why="A bill of materials is held against the published schema before it is written.",
            mend=f"Install the extra: {pip.install('skippy-patches[sbom]')}",
        )


class StatementInvalid(SkippyError):
    """The record leads to a statement that in-toto or SLSA does not allow."""

    exit_status = 2

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"No valid in-toto statement comes out of this record: {problem}.",
            why="A record that a build wrote gives a valid one: this one was edited.",
            mend="Take it back from git, or build again; if it is as it was built, please report this.",
        )


class SbomInvalid(SkippyError):
    """The record leads to a document that CycloneDX does not allow."""

    exit_status = 2

    def __init__(self, version: str, place: str, problem: str) -> None:
        super().__init__(
            f"No valid CycloneDX {version} comes out of this record: "
            f"at {place or 'the top'}: {textwrap.shorten(problem, _LONGEST)}.",
            why="A record that a build wrote gives a valid one: this one was edited.",
            mend="Take it back from git, or build again; if it is as it was built, please report this.",
        )


def _build_again(recipe: str) -> str:
    return f"Build again: skippy-patches build --recipe {shlex.quote(recipe)}"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(_shortened(texts))


def _shortened(texts: Sequence[str]) -> list[str]:
    more = len(texts) - _MOST_LISTED
    return [*texts[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
