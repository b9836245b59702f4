"""Every failure case that docs/cases.md claims to handle has a test with its number."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HANDLED = {*range(1, 21), *range(22, 32)}


@functools.cache
def _marked() -> set[int]:
    """The arguments of every `@pytest.mark.case(...)`."""
    numbers = set()
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.case":
                numbers |= {ast.literal_eval(argument) for argument in node.args}
    return numbers


@pytest.mark.parametrize("number", sorted(HANDLED))
def test_case_has_a_test(number: int) -> None:
    assert number in _marked()


def test_the_page_lists_them_all() -> None:
    page = (TESTS.parent / "docs/cases.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if re.match(r"\| \d", row)]
    listed = {int(number) for row in rows for number in re.findall(r"\d+", row.split("|")[1])}
    assert listed == set(range(1, 32))
