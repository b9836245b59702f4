"""The tools of a record, held against those of this machine: each alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.evidence import evidencefile, machine
from tests.evidence.made import changed

if TYPE_CHECKING:
    from skippy_patches.evidence.record import Record


def test_a_tool_of_which_nothing_is_said(known: Record) -> None:
    tools = {"cxx": {"name": "c++", "version": "", "sha256": ""}}
    (row,) = machine.tools(evidencefile.of_record(changed(known, toolchain=tools)))
    assert (row.outcome, row.why) == ("unknown", "neither its version nor its hash is in it")


@pytest.mark.parametrize("value", ["/nowhere/c++", "c++ -O2", "'"])
def test_a_compiler_that_is_missing_hides_no_other_tool(
    known: Record, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("CXX", value)
    rows = {each.name: each for each in machine.tools(evidencefile.of_record(known))}
    assert [name for name, row in rows.items() if row.outcome == "unknown"] == ["cxx"]
    assert rows["cxx"].why.startswith(f"CXX={value}: ")


def test_another_compiler_is_told_with_what_chose_it(known: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = {"cxx": {"name": "clang++-99", "version": "99", "sha256": "0" * 64}}
    monkeypatch.setenv("CXX", "c++")
    (row,) = machine.tools(evidencefile.of_record(changed(known, toolchain=tools)))
    assert row.outcome == "differs"
    assert row.why == "CXX=c++: another one is taken; to take that: CXX=clang++-99"


def test_what_was_looked_for_without_a_toolkit(known: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = {"version": "1", "sha256": ""}
    tools = {"cuda": tool | {"name": "nvcc"}, "launcher": tool | {"name": "sccache"}}
    monkeypatch.setattr("skippy_patches.build.cuda.find", lambda _: None)
    monkeypatch.setattr("skippy_patches.build.launcher.places", lambda *_: ())
    rows = list(machine.tools(evidencefile.of_record(changed(known, toolchain=tools))))
    assert [row.outcome for row in rows] == ["unknown", "unknown"]
    assert rows[0].why.startswith("no nvcc was found; looked at: CUDACXX, CUDAToolkit_ROOT, ")
    assert "It is neither beside this Python nor on PATH" in rows[1].why
