"""Annotations and the step summary: GitHub's escaping, ten at most, and nothing that a name could inject."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from skippy_patches.cli.formats import github
from skippy_patches.queue.findings import Finding, error, printable, warning
from tests.inprocess import run
from tests.queue.made import good
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

HOSTILE = "p/0001-%0A::error,:`a`|<b>\n::warning::x\r\x1b[2J@me www.x.org \udcff.patch"


def _commands(*findings: Finding, prefix: str = "", summary: bool = False) -> list[str]:
    return list(github.commands(findings, len(findings), prefix=prefix, summary=summary))


def test_a_command() -> None:
    found = error("gap", ("p/0003-c.patch",), "50% gone: a, b", line=7, why="Because.\nAnd so.", mend="Do.")
    annotation, counts = _commands(found, prefix="sub/")
    assert annotation == (
        "::error file=sub/p/0003-c.patch,title=gap in the patch queue,line=7"
        "::50%25 gone: a, b%0ABecause.%0AAnd so.%0ADo."
    )
    assert counts == "1 patch: 1 error"


def test_no_file_and_no_line() -> None:
    assert _commands(warning("gap", (), "x"))[0] == "::warning title=gap in the patch queue::x"


def test_a_name_cannot_end_a_command_or_begin_one() -> None:
    lines = _commands(error("unsafe-path", (HOSTILE,), f"the path {HOSTILE} leaves", why=HOSTILE))
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    command = re.fullmatch(r"::error file=([^:,]*),title=[^:,]*::(.*)", lines[0])
    assert command is not None
    assert "%25" in command[1]
    assert re.sub(r"%(25|0A|3A|2C)", "", command[0]).count("%") == 0


def test_ten_at_most_and_errors_first() -> None:
    warnings = [warning("gap", (f"p/{n}",), "w") for n in range(8)]
    errors = [error("gap", (f"p/{n}",), "e") for n in range(5)]
    lines = _commands(*warnings, *errors)
    assert [line.split(" ")[0] for line in lines[:10]] == ["::error"] * 5 + ["::warning"] * 5
    assert lines[10:] == [
        "3 more findings: skippy-patches check shows all.",
        "13 patches: 5 errors, 8 warnings",
    ]
    assert "the summary of this step has all" in _commands(*warnings, *errors, summary=True)[10]
    assert len(_commands(*warnings[:5], *errors)) == 11  # ten, and no word of more


def test_the_summary_has_all_and_is_appended(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("# Before\n", encoding="utf-8")
    findings = [error("gap", (f"p/{n}.patch",), "e") for n in range(12)]
    github.append_summary(file, findings, 12, prefix="")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Before\n### Patch queue\n\n12 patches: 12 errors\n\n| |")
    assert len(re.findall(r"^\| error \|", text, re.MULTILINE)) == 12
    github.append_summary(file, [], 12, prefix="")
    assert file.read_text(encoding="utf-8").endswith("### Patch queue\n\n12 patches: no findings\n")


def test_a_name_is_no_markdown(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    github.append_summary(file, [error("gap", (HOSTILE,), "x", mend=HOSTILE)], 1, prefix="")
    (row,) = [line for line in file.read_text(encoding="utf-8").split("\n") if line.startswith("| error")]
    assert row.count("|") == 6
    cell = row.split(" | ")[1]
    assert not re.search(r"[`<>\[\]\\*_@.]|(?<!&)#", cell)
    assert html.unescape(cell) == printable(HOSTILE)


def test_a_summary_ends_before_it_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "_LARGEST_SUMMARY", 2000)
    file = tmp_path / "summary.md"
    github.append_summary(file, [error("gap", (f"p/{n}",), "e" * 100) for n in range(99)], 99, prefix="")
    text = file.read_text(encoding="utf-8")
    assert len(text) < 2500
    assert re.search(r"\n\d\d more findings: skippy-patches check shows all\.\n$", text)


def test_the_command_line_names_files_from_the_top(world: World) -> None:
    (world.patches / "0001-a.patch").write_bytes(good(1))
    (world.patches / "0001-b.patch").write_bytes(good(2))
    git(world.root.parent, "init", "-q")
    summary = world.root.parent / "summary.md"
    done = run(world.root, "check", "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=project/patches/0001-a.patch,title=duplicate-number in")
    assert done.stdout.endswith("\n2 patches: 1 error\n")
    assert "| error | project/patches/0001-a&#46;patch |" in summary.read_text(encoding="utf-8")
    assert run(world.root, "check", "--format", "github").stdout == done.stdout


def test_the_summary_is_measured_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "_LARGEST_SUMMARY", 9000)
    file = tmp_path / "summary.md"
    github.append_summary(file, [error("gap", (f"p/{n}",), "\u65e5" * 100) for n in range(99)], 99, prefix="")
    assert 8000 < file.stat().st_size < 9500


def test_a_summary_that_cannot_be_written_changes_no_exit_status(world: World, tmp_path: Path) -> None:
    (world.patches / "0001-a.patch").write_bytes(good(1))
    summary = {"GITHUB_STEP_SUMMARY": str(tmp_path / "nowhere/x")}
    done = world.run("check", "--format", "github", env=summary)
    assert (done.returncode, done.stdout) == (0, "1 patch: no findings\n")
    assert done.stderr.endswith(
        "/nowhere/x, of $GITHUB_STEP_SUMMARY, was not written: No such file or directory.\n"
    )
    (world.patches / "0001-b.patch").write_bytes(good(2))
    assert world.run("check", "--format", "github", env=summary).returncode == 1
