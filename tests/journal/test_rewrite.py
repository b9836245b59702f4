"""A rewrite of the queue's files: whole or not at all, in folder and index, and back again."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.journal import rewrite, settling, staging
from skippy_patches.journal.errors import (
    ChangedMeanwhile,
    ChangedSince,
    IndexBusy,
    JournalBroken,
    NothingToUndo,
    OtherBranch,
    UndoRefused,
    UnmergedPatches,
    WouldOverwrite,
)
from skippy_patches.journal.rewrite import Rewrite
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from pathlib import Path

CHAIN = {
    "patches/0021-x.patch": "patches/0022-x.patch",
    "patches/0022-x.patch": "patches/0023-x.patch",
    "patches/0020-a.patch": "patches/0021-a.patch",
}
CONTENTS = {"0020-a": b"a\r\n", "0021-x": b"x21", "0022-x": b"", "0030-b": b"b\xff"}


@pytest.fixture
def queue(world: World) -> World:
    """A committed queue of files that nobody applies."""
    for name, content in CONTENTS.items():
        (world.patches / f"{name}.patch").write_bytes(content)
    (world.patches / "series").write_text("0020-a.patch\n", encoding="utf-8")
    (world.patches / "0020-a.patch").chmod(0o755)
    git(world.root, "init", "-q")
    git(world.root, "add", "-A")
    git(world.root, "commit", "-q", "-m", "The queue")
    return world


def _state(world: World) -> tuple[dict[str, tuple[bytes, int]], str]:
    """Every file of the lane with its mode, and the index."""
    files = {path.name: (path.read_bytes(), path.stat().st_mode) for path in world.patches.iterdir()}
    return files, git(world.root, "ls-files", "--stage")


def _names(world: World) -> list[str]:
    return sorted(path.name for path in world.patches.iterdir())


def _carry_out(world: World, change: Rewrite) -> Recorder:
    reporter = Recorder()
    rewrite.carry_out(world.project(), change, reporter)
    return reporter


def test_a_chain_of_renames_in_folder_and_index(queue: World) -> None:
    before = _state(queue)
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    files, _ = _state(queue)
    assert sorted(files) == ["0021-a.patch", "0022-x.patch", "0023-x.patch", "0030-b.patch", "series"]
    assert files["0022-x.patch"] == before[0]["0021-x.patch"]
    assert files["0021-a.patch"] == (b"a\r\n", before[0]["0020-a.patch"][1])
    entries = dict(line.split("\t")[::-1] for line in before[1].splitlines())
    moved = {CHAIN.get(path, path): entry for path, entry in entries.items()}
    assert dict(line.split("\t")[::-1] for line in _state(queue)[1].splitlines()) == moved
    assert git(queue.root, "diff", "--name-only") == ""
    done = rewrite.undo(queue.project(), "renumber", Recorder())
    assert {each.path for each in done.plan.files} == {*CHAIN, *CHAIN.values()}
    assert _state(queue) == before
    with pytest.raises(NothingToUndo, match="There is no renumber to undo"):
        rewrite.undo(queue.project(), "renumber", Recorder())


def test_edits_that_are_not_staged_and_files_that_are_not_tracked(queue: World) -> None:
    (queue.patches / "0021-x.patch").write_bytes(b"edited")
    git(queue.root, "rm", "-q", "--cached", "patches/0022-x.patch")
    before = _state(queue)
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    status = git(queue.root, "status", "--porcelain", "--no-renames", "patches").splitlines()
    assert "AM patches/0021-a.patch" not in status
    assert "MM patches/0022-x.patch" in status
    assert "?? patches/0023-x.patch" in status
    assert (queue.patches / "0022-x.patch").read_bytes() == b"edited"
    assert git(queue.root, "show", ":patches/0022-x.patch") == "x21"
    rewrite.undo(queue.project(), "renumber", Recorder())
    assert _state(queue) == before


def test_files_alone_leave_the_index_alone(queue: World) -> None:
    index = _state(queue)[1]
    change = Rewrite(
        kind="refresh",
        files={
            "patches/0021-x.patch": (b"x21", b"new"),
            "patches/0022-x.patch": (b"", None),
            "patches/0040-new.patch": (None, b"40"),
            "patches/0030-b.patch": (b"b\xff", b"b\xff"),
        },
    )
    _carry_out(queue, change)
    files, after = _state(queue)
    assert after == index
    assert {name: files[name][0] for name in files if name != "series"} == {
        "0020-a.patch": b"a\r\n",
        "0021-x.patch": b"new",
        "0030-b.patch": b"b\xff",
        "0040-new.patch": b"40",
    }


def test_a_project_in_a_folder_of_the_repository_and_one_in_none(world: World) -> None:
    (world.patches / "0001-a.patch").write_bytes(b"a")
    change = Rewrite(kind="renumber", renames={"patches/0001-a.patch": "patches/0002-a.patch"})
    _carry_out(world, change)
    assert _names(world) == ["0002-a.patch"]
    rewrite.undo(world.project(), "renumber", Recorder())
    git(world.root.parent, "init", "-q")
    git(world.root.parent, "add", "-f", "project/patches")
    _carry_out(world, change)
    assert git(world.root.parent, "ls-files") == "project/patches/0002-a.patch"


def test_what_is_not_as_expected_stops_it_before_anything_changes(queue: World) -> None:
    before = _state(queue)
    with pytest.raises(ChangedMeanwhile, match=r"patches/0021-x\.patch"):
        _carry_out(queue, Rewrite(kind="refresh", files={"patches/0021-x.patch": (b"other", b"new")}))
    with pytest.raises(ChangedMeanwhile, match=r"patches/0077-gone\.patch"):
        _carry_out(queue, Rewrite(kind="renumber", renames={"patches/0077-gone.patch": "patches/0078.patch"}))
    with pytest.raises(WouldOverwrite, match=r"patches/0030-b\.patch"):
        _carry_out(queue, Rewrite(kind="renumber", renames={"patches/0021-x.patch": "patches/0030-b.patch"}))
    (queue.root / ".git/index.lock").touch()
    with pytest.raises(IndexBusy, match=r"index\.lock is there"):
        _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    (queue.root / ".git/index.lock").unlink()
    assert _state(queue) == before


def test_a_conflict_stops_it(queue: World) -> None:
    blob = git(queue.root, "rev-parse", ":patches/0021-x.patch")
    entries = "".join(f"100644 {blob} {stage}\tpatches/0021-x.patch\n" for stage in (1, 2, 3))
    command = ["git", "update-index", "--index-info"]
    subprocess.run(
        command, cwd=queue.root, input=f"0 {'0' * 40}\tpatches/0021-x.patch\n{entries}".encode(), check=True
    )
    with pytest.raises(UnmergedPatches, match=r"patches/0021-x\.patch"):
        _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))


def test_undo_after_a_file_was_changed(queue: World) -> None:
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    (queue.patches / "0023-x.patch").write_bytes(b"work of a person")
    state = _state(queue)
    with pytest.raises(UndoRefused, match=r"patches/0023-x\.patch"):
        rewrite.undo(queue.project(), "renumber", Recorder())
    assert _state(queue) == state


def test_undo_after_the_index_was_changed_leaves_the_index(queue: World) -> None:
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    git(queue.root, "rm", "-q", "--cached", "patches/0023-x.patch")
    index = _state(queue)[1]
    assert not rewrite.undo(queue.project(), "renumber", Recorder()).has_index
    assert (queue.patches / "0020-a.patch").exists()
    assert _state(queue)[1] == index


@pytest.mark.parametrize("point", ["before-index", "in-files", "after-index"])
def test_killed_in_between_and_finished_by_the_next(
    queue: World, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    places = {
        "before-index": (staging, "settle"),
        "in-files": (pathlib.Path, "unlink"),
        "after-index": (shutil, "rmtree"),
    }
    with monkeypatch.context() as patch:
        patch.setattr(*places[point], kill)
        with pytest.raises(Killed):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    rewrite.finish_pending(queue.project(), Recorder())
    assert _names(queue) == [
        "0021-a.patch", "0022-x.patch", "0023-x.patch", "0030-b.patch", "series",
    ]  # fmt: skip
    assert git(queue.root, "diff", "--name-only") == ""
    rewrite.undo(queue.project(), "renumber", Recorder())
    assert git(queue.root, "status", "--porcelain") == ""


def test_work_between_the_kill_and_the_next_command_stops_it(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(settling, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    (queue.patches / "0021-x.patch").write_bytes(b"work of a person")
    state = _state(queue)
    with pytest.raises(ChangedSince, match=r"patches/0021-x\.patch\n.*plan\.json"):
        rewrite.finish_pending(queue.project(), Recorder())
    assert _state(queue) == state


def test_a_garbled_journal_is_put_aside_and_told_once(queue: World) -> None:
    pending = queue.project().state / "rewrite/pending"
    pending.mkdir(parents=True)
    (pending / "plan.json").write_text("{", encoding="utf-8")
    with pytest.raises(JournalBroken, match="what was written down of it is damaged"):
        rewrite.finish_pending(queue.project(), Recorder())
    assert len(list(pending.parent.glob("broken-*/pending/plan.json"))) == 1
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    assert (queue.patches / "0021-a.patch").exists()


def _interrupted(queue: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A change that was killed when its journal stood and nothing else had happened."""
    with monkeypatch.context() as patch:
        patch.setattr(settling, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    return queue.project().state / "rewrite/pending"


def test_another_branch_is_no_place_to_finish_it(queue: World, monkeypatch: pytest.MonkeyPatch) -> None:
    git(queue.root, "branch", "other")
    pending = _interrupted(queue, monkeypatch)
    git(queue.root, "checkout", "-q", "other")
    with pytest.raises(OtherBranch, match="interrupted on the branch main; the branch other is checked"):
        rewrite.finish_pending(queue.project(), Recorder())
    git(queue.root, "checkout", "-q", "--detach", "main")
    with pytest.raises(OtherBranch, match="no branch is checked out now"):
        rewrite.finish_pending(queue.project(), Recorder())
    git(queue.root, "checkout", "-q", "main")
    rewrite.finish_pending(queue.project(), Recorder())
    assert not pending.exists()
    assert git(queue.root, "diff", "--name-only") == ""
    assert (queue.patches / "0023-x.patch").exists()


def test_what_was_removed_by_others_is_not_taken_for_done(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted(queue, monkeypatch)
    for name in CHAIN:
        (queue.root / name).unlink()
    with pytest.raises(ChangedSince, match=r"patches/002"):
        rewrite.finish_pending(queue.project(), Recorder())
    assert [name for name in _names(queue) if name[0] != "."] == ["0030-b.patch", "series"]


def test_what_the_system_refuses_it_refuses_before_anything_is_written_down(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _state(queue)
    write = settling._write_stand_in

    def refuse(file: Path, *rest: Any) -> None:
        if file.name.startswith("0023"):
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        write(file, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(settling, "_write_stand_in", refuse)
        with pytest.raises(OSError, match="No space left"):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    assert _state(queue) == before
    assert not (queue.project().state / "rewrite/pending").exists()


def test_what_cannot_be_finished_names_the_way_out(queue: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = _interrupted(queue, monkeypatch)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "patches/0021-a.patch")

    with monkeypatch.context() as patch:
        patch.setattr(settling, "settle", refuse)
        done = queue.run("list")
    assert done.returncode == 2
    assert "cannot be finished: patches/0021-a.patch: Permission denied." in done.stderr
    assert f"rm -r {pending}" in done.stderr


def test_the_longest_name_there_is(queue: World) -> None:
    name = f"0050-{'x' * 244}.patch"
    (queue.patches / name).write_bytes(b"long")
    change = Rewrite(kind="renumber", renames={f"patches/{name}": f"patches/0051{name[4:]}"})
    _carry_out(queue, change)
    assert (queue.patches / f"0051{name[4:]}").read_bytes() == b"long"


def test_undo_on_another_branch_says_so(queue: World) -> None:
    _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    git(queue.root, "commit", "-q", "-a", "-m", "Renumber")
    git(queue.root, "checkout", "-q", "-b", "other", "HEAD^")
    with pytest.raises(UndoRefused) as refused:
        rewrite.undo(queue.project(), "renumber", Recorder())
    assert "It was made on the branch main; the branch other is checked out now." in refused.value.mend


def test_a_file_that_was_only_announced_stays_so(queue: World) -> None:
    (queue.patches / "0025-n.patch").write_bytes(b"announced")
    git(queue.root, "add", "--intent-to-add", "patches/0025-n.patch")
    before = git(queue.root, "status", "--porcelain=v2", "-z")
    _carry_out(queue, Rewrite(kind="renumber", renames={"patches/0025-n.patch": "patches/0026-n.patch"}))
    after = git(queue.root, "status", "--porcelain=v2", "-z")
    assert after == before.replace("0025-n", "0026-n")
    assert git(queue.root, "diff", "--cached", "--name-only") == ""
    rewrite.undo(queue.project(), "renumber", Recorder())
    assert git(queue.root, "status", "--porcelain=v2", "-z") == before


_PROGRAM = """
import sys
from skippy_patches import config
from skippy_patches.journal import rewrite
from skippy_patches.progress import Silent
project = config.load(config.find(rewrite.Path(sys.argv[1])))
names = sorted(path.name for path in (project.root / "patches").iterdir() if path.suffix == ".patch")
renames = {f"patches/{name}": f"patches/{int(name[:4]) + 1:04}{name[4:]}" for name in names}
print("ready", flush=True)
rewrite.carry_out(project, rewrite.Rewrite(kind="renumber", renames=renames), Silent())
"""


def _kill_at(queue: World, seconds: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(queue.root)], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)


def _assert_old_or_new(queue: World, before: dict[str, bytes]) -> None:
    (queue.root / ".git/index.lock").unlink(missing_ok=True)
    rewrite.finish_pending(queue.project(), Recorder())
    after = {path.name: path.read_bytes() for path in queue.patches.glob("*.patch")}
    moved = {f"{int(name[:4]) + 1:04}{name[4:]}": content for name, content in before.items()}
    assert after in (before, moved)
    tracked = git(queue.root, "ls-files", "patches/*.patch").splitlines()
    assert tracked == sorted(f"patches/{name}" for name in after)


@pytest.mark.parametrize("rounds", [4, pytest.param(60, marks=pytest.mark.thorough)])
def test_kill_9_at_any_moment(queue: World, rounds: int) -> None:
    for number in range(50, 90):
        (queue.patches / f"{number:04}-more.patch").write_bytes(b"%d" % number)
    git(queue.root, "add", "-A")
    for at in range(rounds):
        before = {path.name: path.read_bytes() for path in queue.patches.glob("*.patch")}
        _kill_at(queue, 0.15 * at / rounds)
        _assert_old_or_new(queue, before)


def test_names_that_are_not_utf_8(queue: World) -> None:
    name = os.fsdecode(b"0050-\xff\xe4.patch")
    (queue.patches / name).write_bytes(b"odd")
    git(queue.root, "add", "-A")
    _carry_out(queue, Rewrite(kind="renumber", renames={f"patches/{name}": f"patches/0051{name[4:]}"}))
    assert (queue.patches / f"0051{name[4:]}").read_bytes() == b"odd"
    assert git(queue.root, "diff", "--name-only") == ""
    assert git(queue.root, "ls-files", "-z", "--", "patches/005*").split("\0")[0].startswith("patches/0051-")


@pytest.mark.parametrize("command", ["next-number", "check"])
def test_the_next_command_finishes_what_was_killed(
    queue: World, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(settling, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    done = queue.run(command)
    assert ("0031" if command == "next-number" else "patches/0023-x.patch: error") in done.stdout
    assert done.stderr == "Finishing a change of the queue that was interrupted\n"
    assert "0023-x.patch" in _names(queue)


def test_a_file_is_staged_with_the_renames_where_its_old_bytes_are(queue: World) -> None:
    old, new = b"0020-a.patch\n", b"0021-a.patch\n"
    change = Rewrite(
        kind="renumber",
        files={"patches/series": (old, new)},
        renames={"patches/0020-a.patch": "patches/0019-a.patch"},
    )
    before = _state(queue)
    _carry_out(queue, change)
    assert git(queue.root, "show", ":patches/series") == new.decode().strip()
    rewrite.undo(queue.project(), "renumber", Recorder())
    assert _state(queue) == before
    git(queue.root, "config", "core.autocrlf", "input")  # it is staged as git add would
    _carry_out(queue, change)
    assert git(queue.root, "diff", "--name-only") == ""
    rewrite.undo(queue.project(), "renumber", Recorder())
    (queue.patches / "series").write_bytes(b"# mine\n")
    _carry_out(
        queue, Rewrite(kind="renumber", files={"patches/series": (b"# mine\n", new)}, renames=change.renames)
    )
    assert git(queue.root, "show", ":patches/series") == old.decode().strip()


def test_what_a_command_left_that_was_killed_before_the_change_was_made(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _state(queue)
    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        patch.setattr(settling, "remove_stand_ins", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            _carry_out(queue, Rewrite(kind="renumber", renames=CHAIN))
    assert len([name for name in _names(queue) if name.startswith(".skippy-")]) == 3
    done = queue.run("list")
    assert (done.returncode, done.stderr) == (0, "")
    assert _state(queue) == before
    assert list((queue.project().state / "rewrite").iterdir()) == []
