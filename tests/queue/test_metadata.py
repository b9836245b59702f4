"""Trailers and DEP-3 fields: what git finds, and what a project may require."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from skippy_patches import hook
from skippy_patches.queue import metadata, required
from skippy_patches.queue.check import check_project
from skippy_patches.queue.patch import Patch
from skippy_patches.queue.reader import read_folder
from tests.inprocess import run
from tests.queue.made import HEADERS, mailed, text_diff

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.queue.findings import Finding
    from tests.queue.corpus import Desk
    from tests.world import World

UNSIGNED = "Nobody signed it."


def _patch(message: str = "Why.", header: str = "", number: int = 1) -> Patch:
    """A patch whose mail has this body and these header lines."""
    content = mailed(text_diff("src/a.cpp"), headers=HEADERS + header.encode())
    return Patch("patches", f"{number:04d}-a.patch", number, content.replace(b"Why.", message.encode(), 1))


def _read(message: str, header: str = "") -> list[tuple[str, str]]:
    (fields,) = metadata.read([_patch(message, header)])
    return [(field.name, field.value) for field in fields]


def test_trailers() -> None:
    message = "Why.\n\nOrigin: upstream, https://example.org/1\nsigned-off-by: A <a@example.org>\n  folded\n"
    assert _read(message) == [
        ("Origin", "upstream, https://example.org/1"),
        ("signed-off-by", "A <a@example.org> folded"),
    ]


def test_fields_of_the_mail_header() -> None:
    header = "oriGin: vendor\nBug-debian: https://bugs.example.org/1\nX-Mailer: none\nForwarded: no\n"
    assert _read("Why.", header) == [
        ("Origin", "vendor"),
        ("Bug-Debian", "https://bugs.example.org/1"),
        ("Forwarded", "no"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "No: trailers here, since a paragraph of prose\nis not a list of them.",
        "Origin: upstream\n\nThe last paragraph.",
        "Why.\n\n---\nOrigin: behind the end of the message",
    ],
)
def test_what_is_no_trailer(message: str) -> None:
    assert _read(message) == []


def test_each_patch_keeps_its_own() -> None:
    patches = [_patch("Why.\n\nA: 1"), _patch("Why."), _patch("Why.\n\nB: 2\nB: 3"), Patch("p", "x", 1, b"")]
    found = [[field.value for field in fields] for fields in metadata.read(patches)]
    assert found == [["1"], [], ["2", "3"], []]
    assert metadata.read([]) == []


def test_as_git_reads_the_commit(desk: Desk) -> None:
    """What git finds in a patch is what it finds in the commit that the patch was made from."""
    message = "subject\n\nWhy.\n\nReviewed-by: R\u00fcdiger <r@example.org>\nOrigin: backport\n of two\n"
    desk.write({"plain.txt": b"changed\n"})
    desk.commit(message)
    told = desk.git("log", "-1", "--format=%(trailers:only,unfold)").decode().strip()
    patch = Patch("patches", "0001-a.patch", 1, desk.export())
    (fields,) = metadata.read([patch])
    assert "\n".join(f"{field.name}: {field.value}" for field in fields) == told


def _check(patch: Patch, *names: str) -> list[Finding]:
    return required.check([patch], names)


def test_nothing_is_missing() -> None:
    patch = _patch("Why.\n\nFORWARDED: not-needed\nSigned-off-by: A <a@example.org>", "Origin: vendor\n")
    assert _check(patch, "Origin", "Forwarded", "signed-off-by") == []


def test_from_and_subject_stand_for_author_and_description() -> None:
    assert _check(_patch(), "Author", "description") == []


def test_missing_fields_are_told_at_once() -> None:
    (finding,) = _check(_patch(), "Origin", "Bug")
    assert (finding.code, finding.severity, finding.files) == (
        "missing-field",
        "error",
        ("patches/0001-a.patch",),
    )
    assert finding.what == "the message has no Origin, Bug"
    assert finding.mend.endswith("a line each: Origin: ...; Bug: ...")


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("Why.\n\nOrigim: upstream", "It has 'Origim'. Did you mean 'Origin'?"),
        ("Why.\n\nOrigin:", "It has 'Origin:', but nothing behind it."),
        ("origin: upstream\n\nWhy.", "Line 6 begins with 'Origin:', but git looks for trailers in the last"),
        ("Why.\n\nUnlike: it", "skippy-patches.yaml requires it of every patch ('require')."),
    ],
    ids=["misspelt", "empty", "elsewhere", "none"],
)
def test_a_hint_at_what_was_meant(message: str, hint: str) -> None:
    (finding,) = _check(_patch(message), "Origin")
    assert finding.why.splitlines()[-1].startswith(hint)


@pytest.mark.parametrize(
    ("field", "is_fine"),
    [
        ("Forwarded: no", True),
        ("Forwarded: Not-Needed", True),
        ("Forwarded: yes", True),
        ("Forwarded: https://example.org/pull/1", True),
        ("Forwarded: maybe", False),
        ("Last-Update: 2026-01-31", True),
        ("Last-Update: 2026-02-31", False),
        ("Last-Update: 20260131", False),
        ("Last-Update: yesterday", False),
    ],
)
def test_values_of_required_fields(field: str, is_fine: bool) -> None:
    patch = _patch(f"Why.\n\n{field}")
    findings = _check(patch, field.partition(":")[0].upper())
    assert [(found.code, found.severity) for found in findings] == [("dep3-value", "warning")] * (not is_fine)
    assert _check(patch) == []


def _require(world: World, *names: str) -> None:
    world.configure(f"require: [{', '.join(names)}]\n")
    (world.patches / "0001-a.patch").write_bytes(_patch(UNSIGNED).content)


def test_what_a_project_requires(world: World) -> None:
    _require(world, "Origin")
    project = world.project()
    assert [found.code for found in check_project(read_folder(project), project)] == ["missing-field"]
    world.configure()
    project = world.project()
    assert check_project(read_folder(project), project) == ()


def test_check_the_hook_and_status_say_so(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    _require(world, "Origin")
    done = run(world.root, "check", "--format", "json")
    assert [found["code"] for found in json.loads(done.stdout)["findings"]] == ["missing-field"]
    assert done.returncode == 1
    assert hook.run(["-C", str(world.root)]) == 1
    assert "the message has no Origin [missing-field]" in capsys.readouterr().out
    status = json.loads(run(world.root, "status", "--format", "json").stdout)
    assert status["queue"]["errors"] == 1


def test_a_field_does_not_stop_an_apply(world: World) -> None:
    world.add(1, "a", {"docs/readme.md": "# New\n"})
    world.configure("require: [Origin]\n")
    assert len(world.apply().applied.patches) == 1


def test_the_hook_starts_no_git_for_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _require(world)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert hook.run(["-C", str(world.root)]) == 0


def test_list_verbose(world: World, tmp_path: Path) -> None:
    (world.patches / "0001-a.patch").write_bytes(_patch("Why.\n\nOrigin: up\x1b[2Jstream").content)
    (world.patches / "0002-b.patch").write_bytes(_patch(number=2).content)
    text = run(world.root, "list", "-v").stdout
    assert "  Origin: up\\x1b[2Jstream\n0002 " in text
    first, second = json.loads(run(world.root, "list", "--verbose", "--format", "json").stdout)["patches"]
    assert first["metadata"] == [{"name": "Origin", "value": "up\x1b[2Jstream"}]
    assert second["metadata"] == []
    assert "metadata" not in json.loads(run(world.root, "list", "--format", "json").stdout)["patches"][0]
