"""Small queues made by hand, as values."""

from __future__ import annotations

from skippy_patches.queue.snapshot import FILE, SERIES, Entry, Lane, Snapshot

HEADERS = (
    b"From 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840 Mon Sep 17 00:00:00 2001\n"
    b"From: A U Thor <author@example.org>\n"
    b"Date: Thu, 1 Jan 2026 12:00:00 +0000\n"
    b"Subject: [PATCH] change a thing\n"
)


def text_diff(path: str, line: str = "new", *, at: int = 1) -> bytes:
    """One hunk in which `line` comes in."""
    return (
        f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n+++ b/{path}\n"
        f"@@ -{at},2 +{at},3 @@\n one\n+{line}\n two\n"
    ).encode()


def link_diff(path: str, target: str) -> bytes:
    """A new symbolic link."""
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n"
        f"+++ b/{path}\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
    ).encode()


def removal(path: str, mode: str = "100644") -> bytes:
    """A file of one line, deleted."""
    return (
        f"diff --git a/{path} b/{path}\ndeleted file mode {mode}\nindex 1111111..0000000\n--- a/{path}\n"
        "+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    ).encode()


def mailed(*diffs: bytes, headers: bytes = HEADERS) -> bytes:
    """A patch file."""
    return headers + b"\nWhy.\n---\n" + b"".join(diffs) + b"-- \n2.39.5\n\n"


def lane(
    files: dict[str, bytes | Entry],
    *,
    path: str = "patches",
    series: bytes | None = None,
    exists: bool = True,
) -> Lane:
    """A lane; a file's content alone stands for a regular file."""
    entries = (
        content if isinstance(content, Entry) else Entry(name, FILE, content)
        for name, content in files.items()
    )
    listing = None if series is None else Entry(SERIES, FILE, series)
    return Lane(path, exists, tuple(entries), listing)


def queue(files: dict[str, bytes | Entry], *, series: bytes | None = None) -> Snapshot:
    """A queue of one lane."""
    return Snapshot("folder", (lane(files, series=series),))


def good(number: int) -> bytes:
    """A patch without fault, another one for each number."""
    return mailed(text_diff(f"src/file{number}.cpp", f"new {number}"))


def goods(*names: str) -> dict[str, bytes | Entry]:
    """Patches without fault under these names."""
    return {name: good(position) for position, name in enumerate(names)}
