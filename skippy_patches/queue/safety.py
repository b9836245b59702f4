"""Checks that no patch writes outside the tree: paths, symlinks, and writes through symlinks (CASES 20).

git refuses most of these itself when it applies; here they are found before anything is applied, and by
the rules of every system that the queue may be checked out on (git's core.protectNTFS and protectHFS).
"""

from __future__ import annotations

import os

from skippy_patches.queue.diff import DELETE, RENAME, SYMLINK_MODE
from skippy_patches.queue.findings import Finding, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skippy_patches.queue.content import Reading
    from skippy_patches.queue.diff import Diff, FileDiff
    from skippy_patches.queue.patch import Patch

# Code points that HFS+ leaves out when it compares names, so that ".g\u200cit" is ".git" there.
_HFS_IGNORED = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF), ""
)  # fmt: skip
_MEND = "Do not apply it. Ask where the patch comes from, and export it again from a commit."


def check(readings: Sequence[Reading]) -> list[Finding]:
    """Findings about the patches in apply order."""
    findings: list[Finding] = []
    links: set[str] = set()  # that the queue has made up to here
    for patch, diff in readings:
        for file in diff.files:
            findings += _paths(patch, file) + _target(patch, file)
        findings += _through_links(patch, diff, links)
    return findings


def path_danger(path: str) -> str:
    """Why a patch must not touch `path`; empty when it may.

    Each is the end of a sentence that begins with the path: 'leaves the tree', 'enters .git'.
    """
    parts = path.split("/")
    if path.startswith(("/", "\\")) or (path[1:2] == ":" and path[0].isalpha()):
        return "is absolute"
    if any(".." in (part, *part.split("\\")) for part in parts):
        return "leaves the tree"
    if any(part in ("", ".") for part in parts) or "\0" in path:
        return "has an empty component"
    if any(_is_git_folder(piece) for part in parts for piece in part.split("\\")):
        return "enters .git"
    return ""


def _is_git_folder(name: str) -> bool:
    """Whether a file system may take `name` for .git: case, HFS+ ignorables, NTFS blanks, dots, streams."""
    if name[:1] not in (".", "g", "G") and name.isascii():
        return False
    plain = name.translate(_HFS_IGNORED).lower().partition(":")[0].rstrip(" .")
    return plain in (".git", "git~1")


def _paths(patch: Patch, file: FileDiff) -> list[Finding]:
    findings = []
    for path in dict.fromkeys((file.old_path, file.new_path)):
        danger = path_danger(path) if path is not None else ""
        if danger:
            findings.append(_unsafe("unsafe-path", patch, file, f"the path {path} {danger}"))
    return findings


def _target(patch: Patch, file: FileDiff) -> list[Finding]:
    target = file.symlink_target
    if target is None or file.new_path is None:
        return []
    text = os.fsdecode(target)
    danger = _target_danger(file.new_path, text)
    if not danger:
        return []
    return [_unsafe("unsafe-symlink", patch, file, f"the symbolic link {file.new_path} -> {text} {danger}")]


def _target_danger(link: str, target: str) -> str:
    if link.rpartition("/")[2].lower() == ".gitmodules":
        return "stands for .gitmodules, which git refuses to follow"
    if target.startswith(("/", "\\")) or (target[1:2] == ":" and target[0].isalpha()):
        return "is absolute"
    parts = link.split("/")[:-1]
    for part in target.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                return "leaves the tree"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "enters .git" if any(map(_is_git_folder, parts)) else ""


def _through_links(patch: Patch, diff: Diff, links: set[str]) -> list[Finding]:
    """Follow the queue's own symlinks over one patch, and find files below one of them.

    links: without regard to case, as macOS and Windows hold Dir/file to be below the symlink dir.
    """
    made = {_folded(file.new_path) for file in diff.files if file.new_mode == SYMLINK_MODE}
    moved = {_folded(file.new_path) for file in diff.files if _folded(file.old_path) in links}
    gone = {_folded(file.old_path) for file in diff.files if file.kind in (DELETE, RENAME)}
    links -= gone
    older = frozenset(links)
    links |= (made | moved) - {""}
    findings = []
    for file in diff.files:
        # What is deleted below a folder may become a symlink in the same patch.
        link = _link_above(_folded(file.path), older if file.kind == DELETE else links)
        if link:
            what = f"{file.path} lies below {link}, which the queue makes a symbolic link"
            findings.append(_unsafe("through-symlink", patch, file, what))
    return findings


def _link_above(path: str, links: Iterable[str]) -> str:
    return next((link for link in sorted(links) if path.startswith(f"{link}/")), "")


def _folded(path: str | None) -> str:
    return (path or "").lower()


def _unsafe(code: str, patch: Patch, file: FileDiff, what: str) -> Finding:
    why = "Applying it could write to files outside the checkout, or to git's own."
    return error(code, (patch.path,), what, line=file.line, why=why, mend=_MEND)
