"""Ctest's JUnit file -> rows (cmCTestTestHandler::WriteJUnitXML, CMake 3.24 to 4.4).

<testcase name time status="run|fail|notrun|disabled">
  <failure message="Timeout|SEGFAULT|..."/> or <skipped message="SKIP_RETURN_CODE=77|..."/>
  <system-out>...
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from skippy_patches.build import skips
from skippy_patches.build.report import FAILED, NOT_RUN, PASSED, SKIPPED, TIMEOUT, TestRow

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.recipe import TestPlan

OUTPUT_LINES = 40


def read(file: Path, plan: TestPlan) -> tuple[TestRow, ...]:
    """One row a test, in ctest's order. A test that `plan` requires fails when it skips.

    Raises ValueError when the file is not JUnit.
    """
    try:
        root = ET.parse(file).getroot()  # noqa: S314 - our own ctest has just written it
    except ET.ParseError as error:
        raise ValueError(str(error)) from error
    return tuple(_row(case, plan) for case in root.iter("testcase"))


def _row(case: ET.Element, plan: TestPlan) -> TestRow:
    output = case.findtext("system-out") or ""
    status, reason = _status(case, output)
    name = case.get("name", "")
    has_skipped, is_required = status == SKIPPED, plan.is_required(name)
    if has_skipped and is_required:
        status, reason = FAILED, f"the recipe requires it, but it skipped: {reason}"
    lines = skips.plain(output).splitlines()
    return TestRow(
        name=name,
        status=status,
        seconds=float(case.get("time", "0")),
        reason=reason,
        output="" if status == PASSED else "\n".join(lines[-OUTPUT_LINES:]),
        is_required=is_required,
        has_skipped=has_skipped,
    )


def _status(case: ET.Element, output: str) -> tuple[str, str]:
    state = case.get("status")
    if state == "run":
        reason = skips.reason(output)
        return (SKIPPED, reason) if reason else (PASSED, "")
    if state == "disabled":
        return SKIPPED, "disabled in its CMakeLists.txt"
    if state == "notrun":
        message = _message(case, "skipped")
        if message.startswith("SKIP_"):
            return SKIPPED, _last_words(output) or message
        return NOT_RUN, message or "could not start"
    message = _message(case, "failure")
    return (TIMEOUT, "timed out") if message == "Timeout" else (FAILED, message.lower() or "failed")


def _message(case: ET.Element, tag: str) -> str:
    element = case.find(tag)
    return "" if element is None else element.get("message", "")


def _last_words(output: str) -> str:
    lines = [line.strip() for line in skips.plain(output).splitlines() if line.strip()]
    return lines[-1] if lines else ""
