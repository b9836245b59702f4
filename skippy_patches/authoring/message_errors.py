"""Why a commit would not come back out of its patch file as it is: one class a condition (CASES 17, 19)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skippy_patches.errors import SkippyError
from skippy_patches.queue.findings import printable

if TYPE_CHECKING:
    from pathlib import Path
    from typing import ClassVar

    from skippy_patches.authoring.history import Commit


class DoesNotSurvive(SkippyError):
    """Base: the commit, written as a patch and applied again, would be another one."""

    exit_status: ClassVar[int] = 1

    def __init__(self, commit: Commit, what: str, *, why: str, mend: str) -> None:
        self.commit = commit
        named = f'Commit {commit.id.short} "{printable(commit.subject)}"'
        super().__init__(f"{named} {what}", why=why, mend=mend)

    def mend_at(self, checkout: Path, *, is_last: bool) -> None:
        """Add the command that opens this commit for changes."""
        commit = self.commit
        git = f"git -C {shlex.quote(str(checkout))}"
        command = (
            f"{git} commit --amend" if is_last else f"{git} rebase -i {commit.id.short}^  (reword, or edit)"
        )
        self.mend = f"{self.mend}\n{command}, then refresh again."


class CutMessage(DoesNotSurvive):
    """git ends the message in the middle."""

    def __init__(self, commit: Commit, number: int, line: str) -> None:
        super().__init__(
            commit,
            f"would lose its message from line {number} on: {printable(line)}",
            why="git am takes a line that begins with `---`, `diff -` or `Index: ` for the message's end.",
            mend="Indent that line or word it otherwise.",
        )


class LooksLikeMail(DoesNotSurvive):
    """A line of the message looks like the separator of a mailbox."""

    def __init__(self, commit: Commit, number: int, line: str) -> None:
        super().__init__(
            commit,
            f"would be cut in two at line {number} of its message: {printable(line)}",
            why="git mailsplit takes that line for the beginning of another mail.",
            mend="Indent that line or word it otherwise.",
        )


class InBodyHeader(DoesNotSurvive):
    """The body begins like the headers of a mail."""

    def __init__(self, commit: Commit, number: int, line: str) -> None:
        super().__init__(
            commit,
            f"would lose line {number} of its message: {printable(line)}",
            why="git am takes From:, Date:, Subject: and [PATCH] at the beginning of the body for headers,"
            " and changes author, date or subject by them.",
            mend="Begin the body with another word.",
        )


class TwoLineSubject(DoesNotSurvive):
    """The first paragraph has several lines."""

    def __init__(self, commit: Commit, second: str) -> None:
        super().__init__(
            commit,
            f"would get a subject of one line; line 2 of its message goes on: {printable(second)}",
            why="In a patch file the subject is one header: all lines up to the first blank one are joined.",
            mend="Put a blank line behind the first one.",
        )


class TaggedSubject(DoesNotSurvive):
    """git am strips the beginning of the subject."""

    def __init__(self, commit: Commit, subject: str, left: str) -> None:
        super().__init__(
            commit,
            f'would have the subject "{printable(left)}" instead of "{printable(subject)}" (line 1)',
            why="git am strips `Re:` and what stands in [brackets] from the beginning of a subject.",
            mend="Begin the subject with another word. To keep brackets in all patches, say in"
            " skippy-patches.yaml: subject_prefix: keep",
        )


class BlanksInMessage(DoesNotSurvive):
    """Blanks or blank lines that git tidies up."""

    def __init__(self, commit: Commit, number: int, line: str, what: str) -> None:
        super().__init__(
            commit,
            f'would have other blanks in line {number} of its message: "{printable(line)}"',
            why=f"There {what}, which git am tidies up.",
            mend="Take them out.",
        )


class EmptySubject(DoesNotSurvive):
    """There is no message, or no first line."""

    def __init__(self, commit: Commit) -> None:
        super().__init__(
            commit,
            "has no subject.",
            why="A patch is known by its subject; list and git log could not name it.",
            mend="Write one.",
        )


class ChangedMessage(DoesNotSurvive):
    """Another difference in the message."""

    def __init__(self, commit: Commit, number: int, line: str, left: str) -> None:
        super().__init__(
            commit,
            f'would have another line {number} in its message: "{printable(left)}" for "{printable(line)}"',
            why="git am reads it so out of the patch file.",
            mend="Word that line otherwise.",
        )


class CutAuthor(DoesNotSurvive):
    """git cuts something off the author's name or address."""

    def __init__(self, commit: Commit, left: str) -> None:
        super().__init__(
            commit,
            f'would have the author "{printable(left)}" instead of'
            f' "{printable(f"{commit.author} <{commit.email}>")}".',
            why="git am drops quotes and brackets from a From: header, and blanks and punctuation at either"
            " end of a name; a name that is empty then is the address.",
            mend='Give it another author: git commit --amend --author="NAME <ADDRESS>"',
        )


class BadAuthorDate(DoesNotSurvive):
    """The author's date cannot be written into a Date: header and read back."""

    def __init__(self, commit: Commit, left: str) -> None:
        super().__init__(
            commit,
            f'would have the date "{printable(left)}" instead of {commit.date}.',
            why="git reads dates of mails from 1970 to 2099, with a zone of up to 14 hours.",
            mend="Give it another date: git commit --amend --date=now",
        )


class EmptyCommit(DoesNotSurvive):
    """The commit changes no file, so that there is no patch of it."""

    def __init__(self, commit: Commit, patch: str) -> None:
        retired = (
            f"It is {patch} in the queue, and is retired: upstream or a patch before it has its change now."
            if patch
            else "It was begun with `new` and not filled yet, or an earlier commit has its change already"
            " (then it is retired)."
        )
        super().__init__(
            commit,
            "changes nothing, so that there is no patch of it.",
            why=f"{retired}\nIt is not broken: nothing of it failed to apply.",
            mend="",
        )
        self._drop = f", then: skippy-patches refresh --drop {patch.rpartition('/')[2][:4]}" if patch else ""

    def mend_at(self, checkout: Path, *, is_last: bool) -> None:
        """How to fill or drop it."""
        git = f"git -C {shlex.quote(str(checkout))}"
        if is_last:
            self.mend = (
                f"Fill it: {git} commit --all --amend\nOr drop it: {git} reset --hard HEAD^{self._drop}"
            )
        else:
            self.mend = f"Fill it (edit) or drop it: {git} rebase -i {self.commit.id.short}^{self._drop}"


class UnfaithfulExport(SkippyError):
    """The exported patch gives another tree: a defect of skippy-patches."""

    def __init__(self, commit: Commit, reason: str) -> None:
        super().__init__(
            f'The patch file of commit {commit.id} "{printable(commit.subject)}" does not give that commit.',
            why=f"{reason}\nThis is a defect of skippy-patches; no file was written.".strip(),
            mend="Please report it with this commit.",
        )
