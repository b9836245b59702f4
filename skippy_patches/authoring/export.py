"""A commit as a patch file: the same bytes on every machine, whatever its settings, locale or git are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skippy_patches.authoring import history
from skippy_patches.queue.patch import SUFFIX

if TYPE_CHECKING:
    from skippy_patches.authoring.history import Commit
    from skippy_patches.git import Repository

# Each option has its setting, or its default, that would change bytes; docs/authoring.md names the form.
_OPTIONS = (
    "--stdout",
    "--zero-commit",
    "--no-signature",
    "--full-index",
    "--no-numbered",
    "--no-stat",
    "--binary",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-M",
    "-l0",
    "--diff-algorithm=myers",
    "-U3",
    "--inter-hunk-context=0",
    "--indent-heuristic",
    "--no-relative",
    "--no-attach",
    "--no-signoff",
    "--no-cover-letter",
    "--no-base",
    "--no-from",
    "--no-add-header",
    "--no-to",
    "--no-cc",
    "--no-thread",
    "--encode-email-headers",
    "--subject-prefix=PATCH",
    "--suffix=.patch",
    "--filename-max-length=64",
    "--no-notes",
    "--submodule=short",
    "-O/dev/null",
)
_SETTINGS = (
    "diff.suppressBlankEmpty=false",
    "diff.context=3",
    "diff.interHunkContext=0",
    "diff.wsErrorHighlight=none",
    "diff.renameLimit=0",
    "i18n.logOutputEncoding=UTF-8",
    "core.attributesFile=/dev/null",
)
_LONGEST_NAME = 63  # of a file, as git format-patch cuts it at 64: number, subject, suffix and a NUL
_LONGEST_SLUG = _LONGEST_NAME - len("0000-") - len(SUFFIX)
NAMELESS = "patch"


def export(bench: Repository, commit: Commit) -> bytes:
    """The patch file of `commit`, against its parent. bench: a repository without settings (bench.py).

    A text that is not UTF-8 is converted first, as applying the patch would do it. Raises GitFailed.
    """
    exported = commit.id
    if not commit.is_utf8:
        exported = history.make(bench, commit, tree=commit.tree, parents=commit.parents)
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    return bench.run(*settings, "format-patch", *_OPTIONS, "-1", exported).stdout


def slug(subject: str) -> str:
    """The part of a patch's file name behind the number, as git format-patch makes it from a subject.

    Letters, digits, `.` and `_` of ASCII; runs of anything else become one `-` (format_sanitized_subject in
    git's pretty.c). At most 52 bytes, never empty.
    """
    words = re.sub(r"[^A-Za-z0-9._]+", "-", subject).lstrip("-")
    return re.sub(r"\.+", ".", words)[:_LONGEST_SLUG].rstrip("-.") or NAMELESS
