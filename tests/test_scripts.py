"""The scripts and recipes that newcomers and CI run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JUST = Path(sys.executable).parent / "just"
WANTED = {
    "setup",
    "check",
    "apply",
    "build",
    "test",
    "native-test",
    "native-test-each",
    "test-all",
    "bench",
    "lint",
}


@pytest.mark.parametrize("script", ["scripts/setup.sh", "scripts/system-packages.sh", ".ci/run"])
def test_scripts_are_shell(script: str) -> None:
    shell = "bash" if script == ".ci/run" else "sh"
    subprocess.run([shell, "-n", str(ROOT / script)], check=True)


def test_every_recipe_is_documented() -> None:
    done = subprocess.run(
        [JUST, "--list", "--unsorted"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    documented = {line.split()[0] for line in done.stdout.splitlines()[1:] if " # " in line}
    assert documented >= WANTED


def test_recipes_are_thin() -> None:
    """Each line calls the CLI, a test tool or the setup script."""
    lines = re.findall(r"^    (.+)$", (ROOT / "justfile").read_text(encoding="utf-8"), re.MULTILINE)
    calls = re.compile(
        r"(@just --list|sh scripts/setup\.sh|\{\{bin\}\}/(skippy-patches|python|ruff|mypy|lint-imports))"
    )
    assert lines
    assert [line for line in lines if not calls.match(line)] == []


def test_check_runs() -> None:
    done = subprocess.run([JUST, "check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_setup_names_a_python_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text(
        "#!/bin/sh\ncase $1 in --version) echo Python 3.9.1;; *) exit 1;; esac\n", encoding="utf-8"
    )
    old.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "PYTHON": str(old)}
    done = subprocess.run(
        ["sh", "scripts/setup.sh"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "3.11 or newer is needed" in done.stderr
    assert "Python 3.9.1" in done.stderr


def test_ci_finds_readme_s_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^    (sh scripts/setup\.sh dev .*)$", readme, re.MULTILINE)
    assert len(found) == 1
    assert "pytest" in found[0]


def test_workflow_has_pinned_actions_and_least_permissions() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in used)
    assert "permissions:\n  contents: read\n" in workflow
    for event in ("push:", "pull_request:", "merge_group:"):
        assert event in workflow
