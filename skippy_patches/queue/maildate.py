"""Whether git can read a Date: header, as its parse_date() does; imported for unusual dates only."""

from __future__ import annotations

import re

GOOD = "good"
ZONELESS = "zoneless"
BAD = "bad"

_MONTHS = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_NAMED_DAY = re.compile(
    rb"\b(?:(?P<before>\d{1,2})\s+" + _MONTHS + rb"|" + _MONTHS + rb"\s+(?P<behind>\d{1,2})(?![\d:]))\b",
    re.IGNORECASE,
)
_YEAR = re.compile(rb"(?<![\d:+-])\d{4}(?!\d)")
_NUMERIC_DAY = re.compile(rb"\b(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!\d)")
_TIME = re.compile(
    rb"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-6]\d)?(?:\.\d+)?"
    rb"(?P<zone>\s*(?:Z\b|[+-]\d{2}:?\d{2}\b)|\s+[A-Z]{2,5}\b)?"
)
_ZONE_AT_END = re.compile(rb"\s[+-]\d{4}$")
_EPOCH = re.compile(rb"(?:@\d+|\d{9,})\s+[+-]\d{4}")


def judge(text: bytes) -> str:
    """`good`, `zoneless` (git takes the machine's time zone) or `bad` (git stops: invalid date format)."""
    if _EPOCH.fullmatch(text):
        return GOOD
    time = _TIME.search(text)
    if time is None or not _has_day(text):
        return BAD
    return GOOD if time["zone"] or _ZONE_AT_END.search(text) else ZONELESS


def _has_day(text: bytes) -> bool:
    named = _NAMED_DAY.search(text)
    if named is None:
        return _NUMERIC_DAY.search(text) is not None
    return 1 <= int(named["before"] or named["behind"]) <= 31 and _YEAR.search(text) is not None
