"""The check as a whole: everything at once, in an order that does not depend on how it was read."""

from __future__ import annotations

from skippy_patches.queue.check import Policy, check
from skippy_patches.queue.snapshot import Lane, Snapshot
from tests.queue.made import good, mailed, queue, text_diff


def test_everything_is_found_at_once() -> None:
    snapshot = queue(
        {
            "0003-a.patch": good(1),
            "0003-b.patch": mailed(),
            "0007-c.patch": mailed(text_diff("../x")),
            "8-d.patch": good(4),
        }
    )
    found = check(snapshot, Policy())
    assert [(finding.code, finding.files[0], finding.severity) for finding in found] == [
        ("duplicate-number", "patches/0003-a.patch", "error"),
        ("empty-patch", "patches/0003-b.patch", "error"),
        ("gap", "patches/0007-c.patch", "warning"),
        ("unsafe-path", "patches/0007-c.patch", "error"),
        ("malformed-name", "patches/8-d.patch", "error"),
    ]
    assert all(finding.what and finding.mend for finding in found)


def test_order_of_reading_does_not_matter() -> None:
    files = {"0001-a.patch": mailed(), "0001-b.patch": good(2), "0004-c.patch": b"", "x.patch": good(3)}
    forwards, backwards = queue({**files}), queue(dict(reversed(files.items())))
    assert [finding.code for finding in check(forwards, Policy())] == [
        finding.code for finding in check(backwards, Policy())
    ]


def test_an_empty_queue_is_fine() -> None:
    assert check(Snapshot("folder", (Lane("patches", True, (), None),)), Policy("forbid")) == ()
