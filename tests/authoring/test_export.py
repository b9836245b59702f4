"""Names and bytes of exported patches, beside what the hostile settings prove."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring.export import slug
from tests.authoring.desk import commit, contents, run, three_patches
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

SUBJECTS = (
    "Fix a..b/c -- d.",
    "[skippy] a tag",
    "Größe: ünï code",
    "a very long subject that is much longer than sixty four characters in total, yes",
    ".hidden start",
    "tab\tand 'quotes' \"both\"",
    "../../etc/passwd",
    "x.lock",
    "dots...",
)


@pytest.mark.case(20)
def test_names_are_those_of_format_patch(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "base")
    for number, subject in enumerate(SUBJECTS):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", f"{number}")
        git(tmp_path, "commit", "-q", "--allow-empty", "--amend", "--cleanup=verbatim", "-m", subject)
        name = git(tmp_path, "format-patch", "-1", "--always", "--filename-max-length=64")
        assert name == f"0001-{slug(subject)}.patch"
        assert len(name) <= 64


@pytest.mark.parametrize("subject", ["日本語", "", "...", "- -", "/"])
def test_a_name_is_never_empty(subject: str) -> None:
    assert slug(subject) == "patch"


@pytest.mark.thorough
def test_the_export_does_not_depend_on_the_folder(project: World) -> None:
    """Grafts and replacements, which git reads beside its settings."""
    three_patches(project)
    commit(project, "More\n", {"docs/more.cpp": "int a;\n" * 40})
    text = (project.checkout / "docs/more.cpp").read_text(encoding="utf-8")
    commit(project, "Again\n", {"docs/more.cpp": text.replace("int a;\n", "int a;\nint b;\n", 1)})
    graft = project.inside("rev-parse", "HEAD")
    project.inside("replace", "HEAD", "HEAD^")
    (project.checkout / ".git/info/grafts").write_text(f"{graft}\n", encoding="utf-8")
    run(project)
    written = contents(project)["0006-Again.patch"]
    assert written.count(b"\n+int b;\n") == 1
    assert written.count(b"\n@@ ") == 1
