"""Names, numbers, series and kinds of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.numbers import Band, Pinned
from skippy_patches.queue.check import Policy, check
from skippy_patches.queue.snapshot import OTHER, SERIES, SYMLINK, UNMERGED, Entry, Lane, Snapshot
from tests.queue.made import good, goods, lane, queue

if TYPE_CHECKING:
    from skippy_patches.queue.findings import Finding


def _found(snapshot: Snapshot, gaps: str = "allow") -> list[Finding]:
    return list(check(snapshot, Policy(gaps=gaps)))


def _only(snapshot: Snapshot, gaps: str = "allow") -> Finding:
    (finding,) = _found(snapshot, gaps)
    return finding


def test_a_good_queue_has_no_findings() -> None:
    assert _found(queue(goods("0001-a.patch", "0002-b.patch")), "forbid") == []


def test_duplicate_number_names_all_files_and_the_next_number() -> None:
    finding = _only(queue(goods("0001-a.patch", "0021-b.patch", "0021-c.patch", "0021-d.patch")))
    assert (finding.code, finding.severity) == ("duplicate-number", "error")
    assert finding.files == ("patches/0021-b.patch", "patches/0021-c.patch", "patches/0021-d.patch")
    assert "0021 is used 3 times" in finding.what
    assert all(file in finding.what for file in finding.files)
    assert "Next free number: 0022" in finding.mend


def test_numbers_are_unique_across_lanes() -> None:
    lanes = (lane({"0001-a.patch": good(1)}, path="a"), lane({"0001-b.patch": good(2)}, path="b"))
    assert _only(Snapshot("folder", lanes)).files == ("a/0001-a.patch", "b/0001-b.patch")


def test_no_number_is_left() -> None:
    assert "9999 is taken" in _only(queue(goods("9999-a.patch", "9999-b.patch"))).mend


@pytest.mark.case(14)
@pytest.mark.parametrize(("policy", "severity"), [("warn", "warning"), ("forbid", "error")])
def test_gap(policy: str, severity: str) -> None:
    finding = _only(queue(goods("0018-a.patch", "0028-b.patch")), policy)
    assert (finding.code, finding.severity, finding.files) == ("gap", severity, ("patches/0028-b.patch",))
    assert "0019 to 0027" in finding.what
    assert "gaps: allow" in finding.mend


def test_gap_of_one_and_policy_allow() -> None:
    snapshot = queue(goods("0001-a.patch", "0003-b.patch"))
    assert "no patch has number 0002" in _only(snapshot, "warn").what
    assert _found(snapshot, "allow") == []


@pytest.mark.parametrize(
    ("name", "rule", "suggestion"),
    [
        ("fix.patch", "does not begin with a number", "0002-fix.patch"),
        ("21-fix.patch", "2 digits instead of 4", "0021-fix.patch"),
        ("00021-fix.patch", "5 digits instead of 4", "0021-fix.patch"),
        ("0021_fix.patch", "no '-' between", "0021-fix.patch"),
        ("0021fix.patch", "no '-' between", "0021-fix.patch"),
        ("0021-fix.PATCH", "ends in .PATCH", "0021-fix.patch"),
        ("0021-fix.diff", "ends in .diff", "0021-fix.patch"),
        ("0021-.patch", "no subject", ""),
        ("0021.patch", "no subject", ""),
        ("12345-fix.patch", "number above 9999", ""),
        ("0021-f\nix.patch", "control character", ""),
        (
            "\u0660\u0660\u0662\u0661-fix.patch",
            "does not begin with a number",
            "0002-\u0660\u0660\u0662\u0661-fix.patch",
        ),
    ],
)
def test_malformed_name(name: str, rule: str, suggestion: str) -> None:
    finding = _only(queue({"0001-a.patch": good(1), name: good(2)}))
    assert (finding.code, finding.severity, finding.files) == (
        "malformed-name",
        "error",
        (f"patches/{name}",),
    )
    assert rule in finding.what
    assert finding.mend == (f"Rename it to {suggestion}." if suggestion else "Rename it.")


def test_names_that_differ_in_case() -> None:
    codes = [finding.code for finding in _found(queue(goods("0001-Fix.patch", "0001-fix.patch")))]
    assert codes == ["case-collision", "duplicate-number"]


def test_names_that_macos_holds_for_equal() -> None:
    files = goods("0001-gru\u0308n.patch", "0001-gr\u00fcn.patch")
    assert "case-collision" in [finding.code for finding in _found(queue(files))]


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        (Entry("0001-a.patch", SYMLINK, b"/etc/passwd"), "not-a-file", "symbolic link to /etc/passwd"),
        (Entry("0001-a.patch", OTHER, b""), "not-a-file", "not a regular file"),
        (Entry("0001-a.patch", UNMERGED, b""), "unmerged", "merge conflict"),
    ],
)
def test_kinds(entry: Entry, code: str, words: str) -> None:
    finding = _only(queue({"0001-a.patch": entry}))
    assert (finding.code, finding.severity, words in finding.what) == (code, "error", True)


def test_missing_lane() -> None:
    missing = lane({}, exists=False)
    assert _only(Snapshot("folder", (missing,))).severity == "error"
    assert _only(Snapshot("index", (missing,))).severity == "warning"


@pytest.mark.case(13)
@pytest.mark.parametrize(
    ("series", "line", "code", "words"),
    [
        (b"0001-a.patch\n0002-b.patch\n0003-c.patch\n", 3, "series-missing", "'0003-c.patch' is listed, but"),
        (b"0001-a.patch\n0002-b.patch\n\n0001-a.patch\n", 4, "series-twice", "first at line 1"),
        (b"0001-a.patch \n0002-b.patch\n", 1, "series-blanks", "behind '0001-a.patch'"),
        (b"0001-a.patch\r\n0002-b.patch\n", 1, "series-blanks", "CR"),
        (b"0001-a.patch -p0\n0002-b.patch\n", 1, "series-option", "'-p0'"),
        (
            b"0001-a.patch\n0002-b.patch\n../0001-a.patch\n",
            3,
            "series-outside",
            "'../0001-a.patch' lies outside",
        ),
    ],
)
def test_series_lines(series: bytes, line: int, code: str, words: str) -> None:
    finding = _only(queue(goods("0001-a.patch", "0002-b.patch"), series=series))
    assert (finding.code, finding.line, finding.files) == (code, line, ("patches/series",))
    assert words in finding.what


@pytest.mark.case(13)
def test_patch_that_the_series_does_not_list() -> None:
    finding = _only(
        queue(goods("0001-a.patch", "0002-b.patch"), series=b"# later: 0001-a.patch\n0002-b.patch\n")
    )
    assert (finding.code, finding.files) == ("series-extra", ("patches/0001-a.patch", "patches/series"))
    assert "never applied" in finding.what


def test_series_that_is_a_symlink() -> None:
    snapshot = Snapshot("folder", (Lane("patches", True, (), Entry(SERIES, SYMLINK, b"../series")),))
    assert _only(snapshot).code == "not-a-file"


def test_a_good_series_has_no_findings() -> None:
    series = b"# order\n\n0002-b.patch  # first\n0001-a b.patch\n"
    assert _found(queue(goods("0001-a b.patch", "0002-b.patch"), series=series)) == []


@pytest.mark.case(14)
@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([1, 100], ""),  # the border of a band is no hole
        ([99, 200], ""),  # nor are the numbers of an empty band
        ([100, 102, 250], "number 0101 between 0100 and 0102"),
        ([98, 201], "the numbers 0099, 0200 between 0098 and 0201"),
        ([300, 304, 310, 320], "the numbers 0311 to 0319 between 0310 and 0320"),  # 0304, 0310 are pinned
        ([400, 403], "number 0401 between 0400 and 0403"),  # 0402 is of a patch that is gone
        ([500, 502], "number 0501 between 0500 and 0502"),  # the pinned 0501 has another number
    ],
)
def test_what_bands_and_pins_keep_open_is_no_hole(numbers: list[int], missing: str) -> None:
    pinned = (Pinned(304, ""), Pinned(310, "0310-x.patch"), Pinned(402, ""), Pinned(501, "0501-x.patch"))
    policy = Policy(gaps="forbid", bands=(Band("mtp", 100, 199),), pinned=pinned)
    found = check(queue(goods(*(f"{number:04}-x.patch" for number in numbers))), policy)
    assert [finding.what for finding in found] == ([f"no patch has {missing}"] if missing else [])
    assert all("unless a record or a pin keeps it open" in finding.mend for finding in found)


def test_a_lane_that_is_a_link_is_said_instead_of_missing() -> None:
    linked = Lane("a/patches", False, (), None, "a")
    finding = _only(Snapshot("index", (linked,)))
    assert (finding.code, finding.severity, finding.files) == ("linked-lane", "error", ("a/patches",))
    assert "in the index a symbolic link is in the place of a, on the way to it" in finding.what
