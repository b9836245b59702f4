"""The commands as a person, a script and a careless typist meet them."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skippy_patches import __version__, config
from skippy_patches.cli import app as application
from tests import inprocess
from tests.apply.scenario import apply_queue, author_queue
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = ("apply", "check", "list", "next-number", "renumber", "status", "build", "test", "record")


@pytest.fixture
def queue(world: World) -> World:
    """A project with the scenario's queue."""
    author_queue(world)
    return world


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(world: World, command: str) -> None:
    done = world.run(command, "--help")
    assert done.returncode == 0
    assert "Example: " in done.stdout
    assert "Usage: " in done.stdout


def test_version(world: World) -> None:
    assert world.run("--version").stdout == f"skippy-patches {__version__}\n"


def test_list(queue: World) -> None:
    table = queue.run("list").stdout
    assert re.search(r"0007 +patches/0007-umlaut\.patch +Umlaut im Betreff: Größe +-", table)
    apply_queue(queue)
    answer = json.loads(queue.run("list", "--format", "json").stdout)
    assert answer["schema_version"] == 1
    assert [patch["number"] for patch in answer["patches"]] == [1, 2, 3, 5, 6, 7, 9]
    assert answer["patches"][-1]["commit"] == queue.inside("rev-parse", "HEAD")
    assert answer["patches"][0]["subject"] == "a tag of its own."


def test_next_number(queue: World) -> None:
    assert queue.run("next-number").stdout == "0010\n"
    assert json.loads(queue.run("next-number", "--format", "json").stdout)["next_number"] == 10


def test_next_number_ends_with_four_digits(queue: World) -> None:
    (queue.patches / "0009-last.patch").rename(queue.patches / "9999-last.patch")
    for arguments in ([], ["--format", "json"]):
        done = queue.run("next-number", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert "error: There is no next number" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_json_is_json_whatever_stdout_can_write(world: World, encoding: str) -> None:
    world.commit({"f": "1\n"}, "Zo\u00eb: \U0001f600")
    world.export(1, "\u00e9")
    for command in ("list", "apply", "check", "status"):
        done = inprocess.run(world.root, command, "--format", "json", encoding=encoding)
        assert json.loads(done.stdout), command
    glanced = world.start("apply", "--format", "json", env={"PYTHONIOENCODING": encoding})
    assert json.loads(glanced.stdout)
    listed = json.loads(inprocess.run(world.root, "list", "--format", "json", encoding=encoding).stdout)
    assert listed["patches"][0]["file"] == "0001-\u00e9.patch"
    assert listed["patches"][0]["subject"] == "Zo\u00eb: \U0001f600"


def test_check_finds_and_exits_1(queue: World) -> None:
    good = queue.run("check")
    assert good.returncode == 0
    assert good.stdout.count("[gap]") == 2
    assert good.stdout.endswith("7 patches: 2 warnings\n")
    (queue.patches / "0009-other.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    bad = queue.run("check")
    assert bad.returncode == 1
    assert "[duplicate-number]" in bad.stdout
    answer = json.loads(queue.run("check", "--format", "json").stdout)
    codes = {finding["code"] for finding in answer["findings"]}
    assert "duplicate-number" in codes
    assert answer["errors"] >= 1


def test_check_and_hook_say_the_same(queue: World) -> None:
    (queue.patches / "0009-other.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    hook = subprocess.run(
        [sys.executable, "-m", "skippy_patches.hook", "-C", str(queue.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert queue.run("check").stdout == hook.stdout
    assert hook.returncode == 1


def test_quiet_checks_print_errors_and_nothing_else(queue: World) -> None:
    def hook() -> str:
        command = [sys.executable, "-m", "skippy_patches.hook", "-q", "-C", str(queue.root)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert queue.run("-q", "check").stdout == hook() == ""
    (queue.patches / "0009-other.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    (queue.patches / "0020-gap.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    said = queue.run("-q", "check").stdout
    assert "[duplicate-number]" in said
    assert ": warning: " not in said
    assert said == hook()


def test_check_staged_reads_the_index(queue: World) -> None:
    git(queue.root, "init", "-q")
    git(queue.root, "add", "-A")
    (queue.patches / "0009-other.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    assert queue.run("check").returncode == 1
    assert queue.run("check", "--staged").returncode == 0
    git(queue.root, "add", "-A")
    assert queue.run("check", "--staged").returncode == 1


def test_apply_refuses_a_queue_with_errors(queue: World) -> None:
    (queue.patches / "0009-other.patch").write_bytes((queue.patches / "0009-last.patch").read_bytes())
    done = queue.run("apply")
    assert done.returncode == 1
    assert "[duplicate-number]" in done.stderr
    assert not queue.checkout.exists()


def test_status_follows_the_work(queue: World) -> None:
    def state() -> str:
        answer = json.loads(queue.run("status", "--format", "json").stdout)
        return str(answer["checkout"]["state"])

    assert state() == "missing"
    apply_queue(queue)
    assert state() == "applied"
    (queue.patches / "0009-last.patch").unlink()
    assert state() == "outdated"
    (queue.checkout / "mine.txt").write_text("mine\n", encoding="utf-8")
    assert state() == "foreign"
    text = queue.run("status").stdout
    assert "mine.txt: untracked" in text
    assert "6 patches" in text


def test_apply_prints_where_work_was_saved(queue: World) -> None:
    apply_queue(queue)
    (queue.checkout / "mine.txt").write_text("mine\n", encoding="utf-8")
    refused = queue.run("apply")
    assert refused.returncode == 5
    assert "- mine.txt: untracked" in refused.stderr
    assert "apply --discard" in refused.stderr
    done = queue.run("apply", "--discard")
    assert "Up to date" not in done.stdout
    assert "Restored 7 patches on b1, commit " in done.stdout
    assert _get_back(done.stdout).startswith("saved-20")
    assert (queue.checkout / "mine.txt").read_text(encoding="utf-8") == "mine\n"
    assert _get_back(queue.run("apply", "--discard").stdout).startswith("saved-20")  # a second time


def _get_back(said: str) -> str:
    """Do as `apply --discard` said; return the name of the branch."""
    hint = re.search(r"get it back: +(git -C .+)", said)
    assert hint is not None
    subprocess.run(hint[1], shell=True, check=True, capture_output=True)
    return hint[1].split()[-2]


def test_what_to_copy_is_quoted(tmp_path: Path, upstream: Path) -> None:
    world = World.create(tmp_path / "it's a project", upstream)
    world.add(1, "one", {"f": "1\n"})
    world.run("apply")
    (world.checkout / "mine.txt").write_text("mine\n", encoding="utf-8")
    _get_back(world.run("apply", "--discard").stdout)
    assert (world.checkout / "mine.txt").exists()


def test_verify_with_git_says_so(queue: World) -> None:
    assert "git am makes the same commits" in queue.run("apply", "--verify-with-git").stdout


def test_dash_c_names_the_project(queue: World, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skippy_patches", "-C", str(queue.patches), "next-number"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "0010\n"


def test_dash_c_dots_lead_out_of_a_folder(queue: World) -> None:
    command = ("-C", "..", "apply")
    assert "Applied 7 patches" in inprocess.run(queue.patches, *command).stdout
    assert "Up to date: 7 patches" in (inprocess.glance(queue.patches, *command) or "")
    for wrong in ("nope", "patches/0009-last.patch"):  # at a glance, neither is taken for the project
        assert queue.glance("-C", wrong, "apply") is None
        assert queue.run("-C", wrong, "apply").returncode == 2


def test_a_variable_is_blamed_for_what_it_says(queue: World) -> None:
    done = queue.run("apply", env={"SKIPPY_PATCHES_CHECKOUT": "."})
    assert done.returncode == 2
    assert "error: The variable SKIPPY_PATCHES_CHECKOUT is '.'" in done.stderr
    assert "yaml" not in done.stderr


def test_a_repository_beside_the_project(queue: World, tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to(queue.upstream)
    queue.configure(upstream="  repository: ../up\n")
    done = queue.run("-C", "patches", "apply", env={"SKIPPY_PATCHES_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    assert "Applied 7 patches" in done.stdout


def test_quiet_and_verbose(queue: World) -> None:
    normal = queue.run("apply")
    assert "Applying ..." in normal.stderr
    (queue.checkout / ".git/skippy/ledger.json").unlink()
    queue.run("apply", "--to", "0")
    (queue.root / ".skippy/applied.stamp").unlink()
    assert queue.run("-q", "apply").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["aply"], 2, "No such command 'aply'"),
        (["apply", "--to", "x"], 2, "is not a valid int"),
        (["apply", "--to", "4"], 2, "There is no patch 0004"),
        (["apply", "--format", "yaml"], 2, "is not one of"),
        (["-C", "/nonexistent", "apply"], 2, "/nonexistent does not exist."),
        (["-C", "/", "apply"], 2, "No skippy-patches.yaml"),
        (["build", "--recipe", "cpuu"], 2, "There is no recipe 'cpuu'"),
        (["build", "--cuda", "--cpu"], 2, "One recipe at a time, not cpu and cuda."),
        (["record"], 2, "There is no recipe 'cpu'"),
    ],
)
def test_usage_errors(queue: World, arguments: list[str], status: int, said: str) -> None:
    done = queue.run(*arguments, env={"COLUMNS": "200"})
    assert done.returncode == status
    assert said in done.stderr
    assert done.stdout == ""


def test_a_flag_beats_the_variable(queue: World) -> None:
    both = queue.run("build", "--cuda", env={"SKIPPY_PATCHES_RECIPE": "cpu"})
    assert "There is no recipe 'cuda'" in both.stderr
    alone = queue.run("build", env={"SKIPPY_PATCHES_RECIPE": "mine"})
    assert "There is no recipe 'mine'" in alone.stderr


def test_a_full_disk_is_told_at_a_glance_too(queue: World) -> None:
    apply_queue(queue)
    assert queue.run("apply").returncode == 0
    assert queue.glance("apply")
    command = f"{sys.executable} -m skippy_patches apply >/dev/full"
    done = subprocess.run(command, shell=True, cwd=queue.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: The operating system refused: No space left on device.")


def test_pipes_get_no_colour_and_no_wrapping(queue: World) -> None:
    (queue.patches / "0009-last.patch").rename(queue.patches / f"0009-{'long-' * 40}name.patch")
    text = queue.run("list", env={"COLUMNS": "40"}).stdout
    assert "\x1b" not in text
    assert len(text.splitlines()) == 8
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_colour_is_asked_for_or_forced(queue: World) -> None:
    assert "\x1b[" in queue.run("--color", "always", "list").stdout
    assert "\x1b[" in queue.run("list", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in queue.run("list", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" in queue.run("--color=always", "apply", "--to", "4").stderr
    assert "\x1b[" not in queue.run("--color=never", "list", env={"FORCE_COLOR": "1"}).stdout


def test_names_of_others_cannot_drive_the_terminal(world: World) -> None:
    world.commit({"f": "1\n"}, "A subject with \x1b[31mred\x1b[0m in it")
    world.export(1, "red")
    assert "\x1b" not in world.run("list").stdout
    (world.patches / "0002-\x1b[2J.patch").write_bytes(b"x")
    done = world.run("apply")
    assert done.returncode == 1
    assert "\x1b" not in done.stderr


def test_what_the_system_refuses_is_told_without_a_trace(queue: World) -> None:
    (queue.root / ".skippy").write_text("a file where a folder belongs\n", encoding="utf-8")
    done = queue.run("apply")
    assert done.returncode == 2
    assert re.search(r"error: \S+/\.skippy\S*: (Not a directory|File exists)\.", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_line_end_in_a_name_breaks_no_line(queue: World) -> None:
    apply_queue(queue)
    (queue.checkout / "a\nb.txt").write_text("mine\n", encoding="utf-8")
    assert "a\\nb.txt: untracked\n" in queue.run("status").stdout
    (queue.patches / "x\ny\u00e9.patch").write_text("", encoding="utf-8")
    said = queue.run("check").stdout
    assert "patches/x\\ny\u00e9.patch: error: the name has a control character in it" in said
    assert "y\u00e9.patch\n" not in said
    assert "Rename it to" not in said


@pytest.mark.parametrize(("arguments", "is_traced"), [([], False), (["-v"], True)])
def test_a_refusal_without_a_name_says_what_it_can(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], is_traced: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(config, "find", refuse)
    monkeypatch.setattr(sys, "argv", ["skippy-patches", *arguments, "status"])
    with pytest.raises(SystemExit) as caught:
        application.run()
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert "error: The operating system refused: No space left on device." in said
    assert "skippy-patches -v" in said
    assert ("in refuse" in said) == is_traced


def test_an_internal_error_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise LookupError("nobody foresaw this")

    monkeypatch.setattr(application, "app", fail)
    with pytest.raises(SystemExit) as caught:
        application.run()
    said = capsys.readouterr().err
    assert caught.value.code == 3
    assert "Traceback" in said
    assert "error: An internal error of skippy-patches" in said
    assert "nobody foresaw this" in said
