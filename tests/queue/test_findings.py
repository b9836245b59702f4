"""The text of findings."""

from __future__ import annotations

from skippy_patches.queue.errors import QueueError
from skippy_patches.queue.findings import counted, describe, error, printable, summarise, warning


def test_describe() -> None:
    finding = error(
        "a-code", ("q/1.patch", "q/2.patch"), "is odd", line=7, why="Because.\nTruly.", mend="Do it."
    )
    assert describe(finding) == ("q/1.patch:7: error: is odd [a-code]\n    Because.\n    Truly.\n    Do it.")


def test_describe_without_line_why_and_mend() -> None:
    assert describe(warning("a-code", ("q",), "is odd")) == "q: warning: is odd [a-code]"


def test_nothing_reaches_the_terminal_raw() -> None:
    assert printable("a\x1b[31m\n\udcffb\u00fc") == "a\\x1b[31m\\n\\xffb\u00fc"
    text = describe(error("c", ("q/\x1b.patch",), "what \x07", why="why \x08", mend="mend \u202e"))
    assert "".join(text.split("\n")).isprintable()


def test_summary() -> None:
    bad, odd = error("c", (), "x"), warning("c", (), "x")
    assert summarise([], 1) == "1 patch: no findings"
    assert summarise([bad, odd, odd], 24) == "24 patches: 1 error, 2 warnings"
    assert summarise([odd], 0) == "0 patches: 1 warning"


def test_counted() -> None:
    assert [counted(0, "error"), counted(1, "patch", "patches")] == ["0 errors", "1 patch"]
    assert counted(2, "patch", "patches") == "2 patches"


def test_queue_error_lists_every_finding() -> None:
    raised = QueueError([error("one", ("a",), "is bad"), error("two", ("b",), "is worse")])
    assert raised.exit_status == 1
    assert "2 errors" in str(raised)
    assert "a: error: is bad [one]" in str(raised)
    assert "b: error: is worse [two]" in str(raised)
    assert [finding.code for finding in raised.findings] == ["one", "two"]
