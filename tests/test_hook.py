"""skippy-patches-check: exit statuses, what it imports, and real hooks of real git."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from skippy_patches import __version__, hook
from tests import inprocess
from tests.queue.corpus import ENVIRONMENT
from tests.queue.made import good, mailed, text_diff

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent
CONFIG = """\
upstream:
  repository: https://example.org/llama.cpp.git
  commit: 14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840
"""
HEAVY = {
    "typer",
    "click",
    "pydantic",
    "rich",
    "git",
    "gitdb",
    "dataclasses",
    "inspect",
    "subprocess",
    "shutil",
}


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT, **variables, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def git(folder: Path, *arguments: str) -> str:
    done = run(folder, "git", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one patch, committed."""
    root = tmp_path / "project"
    (root / "patches").mkdir(parents=True)
    (root / "skippy-patches.yaml").write_text(CONFIG)
    (root / "patches/0001-a.patch").write_bytes(good(1))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    return root


# The program


def test_no_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hook.run(["-C", str(project / "patches")]) == 0
    assert capsys.readouterr() == ("1 patch: no findings\n", "")


def test_errors_are_printed_and_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "patches/0001-b.patch").write_bytes(good(2))
    (project / "patches/0004-c.patch").write_bytes(good(3))
    assert hook.run(["-C", str(project)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("patches/0001-a.patch: error: number 0001 is used 2 times")
    assert lines[0].endswith("[duplicate-number]")
    assert any("Next free number: 0005" in line for line in lines)
    assert any(": warning: " in line and "[gap]" in line for line in lines)
    assert lines[-1] == "3 patches: 1 error, 1 warning"


def test_warnings_alone_pass_and_quiet_hides_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "patches/0004-c.patch").write_bytes(good(3))
    assert hook.run(["-C", str(project)]) == 0
    assert "[gap]" in capsys.readouterr().out
    assert hook.run(["-C", str(project), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_staged_reads_the_index(project: Path) -> None:
    (project / "patches/0001-b.patch").write_bytes(good(2))
    assert hook.run(["-C", str(project), "--staged"]) == 0
    git(project, "add", ".")
    assert hook.run(["-C", str(project), "--staged"]) == 1


@pytest.mark.parametrize("arguments", [(), ("--staged",)])
def test_configuration_errors(
    arguments: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "skippy-patches.yaml").write_text(CONFIG + "quue: x\n")
    git(project, "add", ".")
    assert hook.run(["-C", str(project), *arguments]) == 2
    assert "unknown key 'quue'" in capsys.readouterr().err


def test_no_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hook.run(["-C", str(tmp_path)]) == 2
    assert "No skippy-patches.yaml" in capsys.readouterr().err


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        hook.run(["--no-such-option"])
    assert exited.value.code == 2
    with pytest.raises(SystemExit) as exited:
        hook.run(["--version"])
    assert exited.value.code == 0
    assert capsys.readouterr().out == f"skippy-patches-check {__version__}\n"


def test_the_command(project: Path) -> None:
    assert run(project, "skippy-patches-check").stdout == "1 patch: no findings\n"
    odd = os.fsdecode(b"0001-\xff\xc3\xbc.patch")
    (project / "patches" / odd).write_bytes(mailed(text_diff("../x")))
    done = run(project, "skippy-patches-check", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert "0001-\\xff\\xfc.patch" in done.stdout
    assert "[unsafe-path]" in done.stdout
    assert run(project, "skippy-patches-check", "-x").returncode == 2


def test_internal_errors_are_told_apart(project: Path) -> None:
    broken = "import skippy_patches.queue.check as c, skippy_patches.hook as h; c.check = None; h.main()"
    done = run(project, sys.executable, "-c", broken)
    assert done.returncode == 3
    assert "TypeError" in done.stderr


def test_what_the_system_refuses_is_told_without_a_trace(project: Path) -> None:
    done = run(project, "bash", "-c", "exec skippy-patches-check >/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("error: The operating system refused: No space left on device.\n")
    too_long = "x" * 300
    done = run(project, "skippy-patches-check", "-C", too_long)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {too_long}: File name too long.\n")
    assert "Traceback" not in done.stderr


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for command in ("skippy-patches-check", "skippy-patches check", "skippy-patches apply"):
        gone.mkdir(exist_ok=True)
        done = run(gone, "bash", "-c", f"rmdir '{gone}'; exec {command}")
        assert done.returncode == 2
        assert done.stderr.startswith("error: The current folder was deleted.")


@pytest.mark.parametrize("command", ["skippy-patches-check", "check", "apply"])
@pytest.mark.parametrize(
    ("folder", "said"), [("nope", "does not exist"), ("patches/0001-a.patch", "is not a folder")]
)
def test_the_folder_to_start_in_must_be_one(
    command: str, folder: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "skippy-patches-check":
        with contextlib.chdir(project):
            status = hook.run(["-C", folder])
        told = capsys.readouterr().err
    else:
        assert inprocess.glance(project, "-C", folder, command) is None
        done = inprocess.run(project, "-C", folder, command)
        status, told = done.returncode, done.stderr
    assert status == 2
    assert told.startswith(f"error: {folder} {said}.")


def test_a_reader_that_leaves_early(project: Path) -> None:
    (project / "patches/0001-b.patch").write_bytes(good(2))
    done = run(project, "bash", "-c", "skippy-patches-check | true; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("arguments", [(), ("--staged",)])
def test_nothing_heavy_is_imported(arguments: tuple[str, ...], project: Path) -> None:
    script = "from skippy_patches import hook; hook.main()"
    done = run(project, sys.executable, "-X", "importtime", "-c", script, *arguments)
    assert (done.returncode, done.stdout) == (0, "1 patch: no findings\n")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"yaml", "argparse", "skippy_patches.queue.safety"} <= imported
    assert {name.partition(".")[0] for name in imported} & HEAVY == set()
    ours = {name for name in imported if name.startswith("skippy_patches.")}
    light = (
        "queue",
        "hook",
        "config",
        "errors",
        "yamlfile",
        "lateyaml",
        "lighttuple",
        "numbers",
        "objectid",
        "git_host",
        "setting",
        "compilercache",
        "streams",
    )
    assert [name for name in ours if name.split(".")[1] not in light] == []


def test_yaml_is_whole_when_imported_late() -> None:
    script = (
        "import re, skippy_patches.lateyaml, yaml\n"
        "assert type(re.compile('x')) is re.Pattern\n"
        "text = '[1, 2026-01-01, yes, 1.5]'\n"
        "read = [yaml.load(text, loader) for loader in (yaml.SafeLoader, yaml.CSafeLoader)]\n"
        "assert read[0] == read[1], read\n"
        "try: yaml.load('\\x07', yaml.SafeLoader)\n"
        "except yaml.reader.ReaderError: print('found')\n"
    )
    done = run(ROOT, sys.executable, "-c", script)
    assert (done.stdout, done.stderr) == ("found\n", "")


# Real hooks


def _hook_definition() -> dict[str, object]:
    (definition,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert isinstance(definition, dict)
    return definition


def test_the_definition_of_the_hook() -> None:
    definition = _hook_definition()
    assert definition["id"] == "skippy-patches-check"
    assert definition["entry"] == "skippy-patches-check --staged"
    assert definition["language"] == "python"
    assert (definition["always_run"], definition["pass_filenames"]) == (True, False)
    assert definition["stages"] == ["pre-commit", "pre-merge-commit", "pre-push", "manual"]


def _install(project: Path, repository: dict[str, object]) -> None:
    """Real pre-commit, real git hooks; the configuration is committed, as it always is."""
    configured = {"default_install_hook_types": ["pre-commit", "pre-merge-commit"], "repos": [repository]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(configured))
    git(project, "add", ".")
    git(project, "commit", "-qm", "hooks")
    done = run(project, "pre-commit", "install")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test leaves a copy of its project with hooks for the others."""
    return tmp_path_factory.mktemp("installed") / "project"


@pytest.fixture
def hooked(project: Path, installed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The project with the hook of our definition; only how it is installed differs: it is there already."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    if installed.exists():
        shutil.rmtree(project)
        shutil.copytree(installed, project)
        git(project, "update-index", "-q", "--refresh")
    else:
        _install(project, {"repo": "local", "hooks": [{**_hook_definition(), "language": "system"}]})
        shutil.copytree(project, installed)
    return project


def _add(folder: Path, name: str, number: int) -> None:
    (folder / "patches" / name).write_bytes(good(number))
    git(folder, "add", f"patches/{name}")


def _assert_blocked(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    assert "[duplicate-number]" in done.stdout + done.stderr


def test_colliding_commit(hooked: Path) -> None:
    _add(hooked, "0002-b.patch", 2)
    git(hooked, "commit", "-qm", "fine")
    before = git(hooked, "rev-parse", "HEAD")
    _add(hooked, "0002-c.patch", 3)
    _assert_blocked(run(hooked, "git", "commit", "-m", "collides"))
    assert git(hooked, "rev-parse", "HEAD") == before


def test_colliding_commit_in_a_linked_worktree(hooked: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(hooked, "worktree", "add", "-q", str(linked))
    _add(hooked, "0001-only-in-main.patch", 4)
    _add(linked, "0002-b.patch", 2)
    git(linked, "commit", "-qm", "fine: the other work tree does not count")
    _add(linked, "0001-c.patch", 3)
    _assert_blocked(run(linked, "git", "commit", "-m", "collides"))


def test_partial_commit(hooked: Path) -> None:
    """`git commit FILE` commits a temporary index: only that file counts."""
    _add(hooked, "0001-collides.patch", 2)
    _add(hooked, "0002-b.patch", 3)
    git(hooked, "commit", "-qm", "fine", "patches/0002-b.patch")
    _assert_blocked(run(hooked, "git", "commit", "-m", "collides", "patches/0001-collides.patch"))
    assert git(hooked, "ls-tree", "--name-only", "HEAD", "patches/").split() == [
        "patches/0001-a.patch",
        "patches/0002-b.patch",
    ]


def test_colliding_merge_commit(hooked: Path) -> None:
    git(hooked, "checkout", "-qb", "side")
    _add(hooked, "0002-side.patch", 2)
    git(hooked, "commit", "-qnm", "side")
    git(hooked, "checkout", "-q", "main")
    _add(hooked, "0002-main.patch", 3)
    git(hooked, "commit", "-qnm", "main")
    before = git(hooked, "rev-parse", "HEAD")
    _assert_blocked(run(hooked, "git", "merge", "--no-edit", "side"))
    assert git(hooked, "rev-parse", "HEAD") == before


@pytest.mark.e2e
def test_installed_by_pre_commit_itself(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A clone of this project as the hook's repository: built, installed with its dependencies, and run."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    source = tmp_path / "skippy-patches"
    ignored = shutil.ignore_patterns(".git", ".venv", ".skippy", "__pycache__", ".mypy_cache", ".ruff_cache")
    shutil.copytree(ROOT, source, ignore=ignored)
    git(source, "init", "-q")
    git(
        source,
        "add",
        "-f",
        "skippy_patches",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".pre-commit-hooks.yaml",
    )
    git(source, "commit", "-qm", "as it is")
    revision = git(source, "rev-parse", "HEAD")
    _install(project, {"repo": str(source), "rev": revision, "hooks": [{"id": "skippy-patches-check"}]})
    _add(project, "0001-b.patch", 2)
    _assert_blocked(run(project, "git", "commit", "-m", "collides"))
