"""Which patches can matter to another one."""

from __future__ import annotations

import pytest

from skippy_patches.bisect.related import needed_before, places
from skippy_patches.queue.patch import Patch


def patch(number: int, *files: str) -> Patch:
    """One that changes these files; `a>b` renames, `+a` adds."""
    diffs = []
    for name in files:
        old, _, new = name.lstrip("+").partition(">")
        head = f"diff --git a/{old} b/{new or old}\n"
        if new:
            diffs.append(f"{head}similarity index 100%\nrename from {old}\nrename to {new}\n")
        elif name.startswith("+"):
            diffs.append(
                f"{head}new file mode 100644\nindex 000..111\n--- /dev/null\n+++ b/{old}\n@@ -0,0 +1 @@\n+x\n"
            )
        else:
            diffs.append(f"{head}index 111..222 100644\n--- a/{old}\n+++ b/{old}\n@@ -1 +1 @@\n-x\n+y\n")
    text = f"From 0000 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: x\n\n---\n{''.join(diffs)}"
    return Patch("patches", f"{number:04d}-x.patch", number, text.encode())


@pytest.mark.parametrize(
    ("earlier", "last", "expected"),
    [
        ([("a",), ("b",)], ("a",), [1]),
        ([("a",), ("b",)], ("c",), []),
        ([("a",), ("a", "b"), ("c",)], ("b",), [1, 2]),  # by way of another
        ([("a", "b"), ("b",)], ("a",), [1]),  # 2 comes after 1: it changes nothing in a
        ([("a>b",)], ("b",), [1]),
        ([("a",)], ("a>b",), [1]),
        ([("+d/e",)], ("+d",), [1]),  # a file where the other needs a folder
        ([("+d",)], ("+d/e/f",), [1]),
        ([("d/e",)], ("d/f",), []),
    ],
)
def test_needed_before(earlier: list[tuple[str, ...]], last: tuple[str, ...], expected: list[int]) -> None:
    patches = [patch(number, *files) for number, files in enumerate([*earlier, last], start=1)]
    assert [each.number for each in needed_before(patches)] == expected


def test_places() -> None:
    assert places([patch(1, "a>b", "+c/d")]) == {"a", "b", "c/d"}
