"""What is remarkable about a queue: each kind once, and nothing about a queue made in one way."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.queue.observe import Observation, observe
from skippy_patches.queue.patch import Patch

if TYPE_CHECKING:
    from tests.queue.corpus import Desk

ZERO, FULL = "0" * 40, "1" * 40
GIT_DATE = "Mon Sep 17 00:00:00 2001"
DIFF = f"diff --git a/f b/f\nindex {FULL}..{'2' * 40} 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
STAT = "---\n f | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"


def _patch(
    number: int,
    name: str = "change-a-thing",
    *,
    subject: str = "[PATCH] change a thing",
    first: str = f"From {ZERO} {GIT_DATE}\n",
    headers: str = "",
    body: str = "Why.",
    above: str = STAT,
    diff: str = DIFF,
    end: str = "-- \n2.39.5\n\n",
) -> Patch:
    head = (
        f"{first}From: A <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nSubject: {subject}\n{headers}"
    )
    text = f"{head}\n{body}\n{above}{diff}{end}"
    return Patch("patches", f"{number:04d}-{name}.patch", number, text.encode("utf-8", "surrogateescape"))


def _one(code: str, *patches: Patch) -> Observation:
    """The only observation."""
    (found,) = observe(patches)
    assert found.code == code
    return found


def test_nothing_about_an_even_queue() -> None:
    assert observe([_patch(3), _patch(4)]) == ()
    assert observe([]) == ()


def test_stale_counts() -> None:
    found = _one(
        "stale-count",
        _patch(1, subject="[PATCH 1/3] change a thing"),
        _patch(2, subject="[PATCH v2 2/9] change a thing"),
        _patch(3, subject="[PATCH skippy 3/3] change a thing"),
    )
    assert found.count == 1
    assert found.examples == ("patches/0002-change-a-thing.patch: [PATCH v2 2/9], and it is 2/3",)


@pytest.mark.parametrize(
    ("name", "subject", "is_told"),
    [
        ("ggml-fix-a-b-c", '[PATCH] ggml: fix "a/b", (c).', False),
        ("a..b", "a..b", True),  # git makes one dot of two
        ("a.b", "a..b", False),
        ("x" * 52, "x" * 60, False),
        ("xx", "xxx", True),
        ("Fix", "[tag] [PATCH] Re: Fix", False),
        ("fix", "Fix", True),
        ("schl-ssel", "schl\u00fcssel", False),
    ],
)
def test_names(name: str, subject: str, is_told: bool) -> None:
    found = observe([_patch(1, name, subject=subject)])
    assert [each.code for each in found] == ["name-differs"] * is_told


def test_names_are_those_of_git(desk: Desk) -> None:
    for subject in ("a: b (c) -- d...", "x/y z_", "1. two.  three!", "caf\u00e9 au lait", "v1.2..3 - end."):
        desk.write({"plain.txt": subject.encode()})
        desk.commit(subject)
        (name,) = desk.git("format-patch", "-1", "--filename-max-length=200").decode().split("\n")[:1]
        content = (desk.root / name).read_bytes()
        (desk.root / name).unlink()
        desk.git("reset", "-q", "--hard", "base")
        codes = [each.code for each in observe([Patch("p", name, 1, content)])]
        assert "name-differs" not in codes, name


def test_abbreviated_ids() -> None:
    found = _one(
        "abbreviated-ids", _patch(1), _patch(2, diff=DIFF.replace(FULL, "1" * 9).replace("2" * 40, "2" * 9))
    )
    assert (found.count, found.examples) == (1, ("patches/0002-change-a-thing.patch: 111111111..222222222",))


def test_ids_in_the_message_are_its_own_business() -> None:
    assert observe([_patch(1, body="index 1111111..2222222")]) == ()


@pytest.mark.parametrize(
    ("code", "other", "told"),
    [
        ("mixed-diffstat", _patch(3, above="---\n"), "1 with --- alone"),
        ("mixed-diffstat", _patch(3, above=""), "1 with the diff right below the message"),
        ("mixed-signature", _patch(3, end=""), "1 with no signature"),
        ("mixed-signature", _patch(3, end="--\n2.47.1 (Apple Git-1)\n"), "1 with git 2.47.1 (Apple Git-1)"),
        ("mixed-signature", _patch(3, end="-- \nCheers\n"), "1 with a signature of somebody's own"),
        ("mixed-from-line", _patch(3, first=""), "1 with no such line"),
        ("mixed-from-line", _patch(3, first=f"From {FULL} {GIT_DATE}\n"), "1 with the commit that"),
    ],
)  # fmt: skip
def test_mixed_formats(code: str, other: Patch, told: str) -> None:
    found = _one(code, _patch(1), _patch(2), other)
    assert found.count == 3
    assert found.examples[0].startswith("2 with ")
    assert found.examples[1].startswith(told)


def test_dates_of_mailboxes() -> None:
    line = f"From {ZERO} Thu Jan  1 12:00:00 2026"
    found = _one("mbox-date", _patch(1), _patch(2, first=f"{line}\n"))
    assert found.examples == (f"patches/0002-change-a-thing.patch: {line}",)


@pytest.mark.parametrize(
    ("headers", "body", "told"),
    [
        ("Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n", "W\u00e4rme", None),
        ("", "W\u00e4rme", None),
        ("Content-Type: text/plain; charset=iso-8859-1\n", "W\udce4rme", "iso-8859-1"),
        ("Content-Transfer-Encoding: base64\n", "V2h5Lg==", "base64"),
        ("", "W\udce4rme", "bytes that are not UTF-8, and no charset that names them"),
    ],
)
def test_encodings(headers: str, body: str, told: str | None) -> None:
    found = [each for each in observe([_patch(1, headers=headers, body=body)]) if each.code == "encoding"]
    expected = [(f"patches/0001-change-a-thing.patch: {told}",)] if told else []
    assert [each.examples for each in found] == expected


def test_gaps_and_few_examples() -> None:
    found = _one("gap", *(_patch(number) for number in (1, 3, 6, 8, 10)))
    assert (found.count, found.examples) == (4, ("0002", "0004 to 0005", "0007"))


def test_every_code_is_documented() -> None:
    source = Path(inspect.getfile(observe)).read_text(encoding="utf-8")
    codes = set(re.findall(r'(?:_observation\(\s*|^    \()"([a-z-]+)"', source, re.MULTILINE))
    page = (Path(__file__).parents[2] / "docs/adopting.md").read_text(encoding="utf-8")
    assert codes == set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    assert len(codes) == 9
