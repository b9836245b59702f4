"""Ways in which a person's work could be lost or stuck, each found by trying."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply import move
from skippy_patches.apply.errors import (
    CannotSave,
    ForeignAttributes,
    ForeignWork,
    IndexLocked,
    InTheWay,
    PatchDoesNotApply,
)
from skippy_patches.apply.stage import Request
from skippy_patches.errors import WrongTree
from tests.once import once
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def queue(world: World) -> World:
    """Two patches that add a file each, applied."""
    once(world, _two)
    return world


def _two(world: World) -> None:
    world.add(1, "one", {"src/one.c": "int one;\n"})
    world.add(2, "two", {"src/two.c": "int two;\n"})
    world.apply()


def _is_clean(world: World) -> bool:
    return world.inside("status", "--porcelain") == ""


@pytest.mark.case(24)
def test_a_commit_on_our_branch_while_another_is_checked_out(queue: World) -> None:
    (queue.checkout / "mine.c").write_text("mine\n", encoding="utf-8")
    queue.inside("add", "-A")
    queue.inside("commit", "-q", "-m", "Mine")
    mine = queue.inside("rev-parse", "HEAD")
    queue.inside("checkout", "-q", "-b", "other", "HEAD~1")
    with pytest.raises(ForeignWork, match=f"the branch skippy is at {mine}"):
        queue.apply()
    saved = queue.apply(Request(discard=True)).saved
    assert saved in queue.inside("for-each-ref", "--format=%(refname)", f"--contains={mine}").split()


@pytest.mark.parametrize("keep", [True, False])
def test_a_folder_becomes_a_file_and_back(world: World, keep: bool) -> None:
    world.add(1, "swap", {"docs/readme.md": None})
    world.commit({"docs": "a file\n"}, "A file now")
    world.export(2, "file")
    if not keep:
        world.apply(Request(to=0))
    world.apply()
    assert (world.checkout / "docs").read_text(encoding="utf-8") == "a file\n"
    world.apply(Request(to=0))
    assert (world.checkout / "docs/readme.md").exists()
    assert world.apply().moved
    assert _is_clean(world)


@pytest.mark.case(24)
def test_an_ignored_file_keeps_a_folder_from_becoming_a_file(world: World) -> None:
    world.add(1, "swap", {"docs/readme.md": None})
    world.commit({"docs": "a file\n"}, "A file now")
    world.export(2, "file")
    world.apply(Request(to=0))
    (world.checkout / "docs/notes.log").write_text("mine\n", encoding="utf-8")
    for request in (Request(), Request(discard=True)):
        with pytest.raises(InTheWay, match="- docs"):
            world.apply(request)
    assert (world.checkout / "docs/notes.log").read_text(encoding="utf-8") == "mine\n"
    assert (world.checkout / "docs/readme.md").exists()


@pytest.mark.case(20, 24)
def test_an_ignored_symlink_in_place_of_a_folder(world: World, tmp_path: Path) -> None:
    world.commit({"x.log/f": "new\n"}, "Below an ignored name")
    git(world.desk, "add", "-f", "x.log/f")
    git(world.desk, "commit", "-q", "--amend", "--no-edit")
    world.export(1, "below")
    world.apply(Request(to=0))
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.checkout / "x.log").symlink_to(outside)
    with pytest.raises(InTheWay):
        world.apply()
    assert (world.checkout / "x.log").is_symlink()
    assert list(outside.iterdir()) == []


@pytest.mark.case(24)
def test_a_tracked_folder_moved_away_and_linked(queue: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(queue.checkout / "src", elsewhere)
    (queue.checkout / "src").symlink_to(elsewhere)
    (elsewhere / "mine.c").write_text("mine\n", encoding="utf-8")
    before = sorted(path.name for path in elsewhere.iterdir())
    outcome = queue.apply(Request(discard=True))
    assert _is_clean(queue)
    assert not (queue.checkout / "src").is_symlink()
    assert sorted(path.name for path in elsewhere.iterdir()) == before
    assert queue.inside("cat-file", "blob", f"{outcome.saved}:src") == str(elsewhere)


@pytest.mark.case(24)
def test_a_file_made_a_folder_with_an_ignored_file_in_it(queue: World) -> None:
    (queue.checkout / "src/one.c").unlink()
    (queue.checkout / "src/one.c").mkdir()
    (queue.checkout / "src/one.c/mine.log").write_text("ignored\n", encoding="utf-8")
    (queue.checkout / "src/one.c/mine.c").write_text("mine\n", encoding="utf-8")
    refs = queue.inside("for-each-ref")
    with pytest.raises(InTheWay, match=r"src/one\.c"):
        queue.apply(Request(discard=True))
    assert (queue.checkout / "src/one.c/mine.c").exists()
    assert queue.inside("for-each-ref") == refs
    assert not (queue.checkout / ".git/skippy/journal.json").exists()


@pytest.mark.case(24)
def test_a_tracked_file_that_was_forgotten_and_is_ignored(world: World) -> None:
    world.commit({}, "x")
    (world.desk / "t.log").write_text("theirs\n", encoding="utf-8")
    git(world.desk, "add", "-f", "t.log")
    git(world.desk, "commit", "-q", "--amend", "-m", "A log")
    world.export(1, "log")
    world.apply()
    world.inside("rm", "-q", "--cached", "t.log")
    (world.checkout / "t.log").write_text("mine\n", encoding="utf-8")
    saved = world.apply(Request(discard=True)).saved
    assert world.inside("show", f"{saved}:t.log") == "mine"
    assert (world.checkout / "t.log").read_text(encoding="utf-8") == "theirs\n"
    assert _is_clean(world)


@pytest.mark.case(24)
def test_an_unmerged_index_is_not_discarded(queue: World) -> None:
    blob = queue.inside("hash-object", "-w", "src/one.c")
    entries = "".join(f"100644 {blob} {number}\tsrc/one.c\n" for number in (1, 2, 3))
    command = ["git", "update-index", "--index-info"]
    subprocess.run(
        command, cwd=queue.checkout, input=f"0 {'0' * 40}\tsrc/one.c\n{entries}", text=True, check=True
    )
    with pytest.raises(CannotSave, match=r"src/one\.c: unmerged"):
        queue.apply(Request(discard=True))


def test_another_work_tree_of_the_checkout_survives_the_referee(queue: World, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    queue.inside("worktree", "add", "-q", "--detach", str(mine))
    (mine / "mine.c").write_text("mine\n", encoding="utf-8")
    git(mine, "add", "-A")
    git(mine, "commit", "-q", "-m", "Mine")
    commit = git(mine, "rev-parse", "HEAD")
    mine.rename(tmp_path / "away")
    queue.apply(Request(verify_with_git=True))
    (tmp_path / "away").rename(mine)
    assert git(mine, "rev-parse", "HEAD") == commit


@pytest.mark.case(23)
def test_two_names_of_one_checkout_have_one_lock(queue: World) -> None:
    link = queue.root / "link"
    link.symlink_to(queue.checkout)
    queue.configure(checkout="link")
    assert queue.apply().applied.checkout == queue.checkout.resolve()
    assert sorted(path.name for path in queue.root.glob(".*.lock")) == []


def test_a_checkout_elsewhere_leaves_its_neighbours_alone(world: World, tmp_path: Path) -> None:
    world.add(1, "one", {"one.c": "int one;\n"})
    place = tmp_path / "trees"
    (place / ".llama.new-mine").mkdir(parents=True)
    (place / ".llama.new-mine/mine").write_text("mine\n", encoding="utf-8")
    world.configure(checkout=str(place / "llama"))
    world.apply()
    assert (place / ".llama.new-mine/mine").exists()


@pytest.mark.case(23)
def test_a_refusal_is_no_kill(queue: World) -> None:
    """A git of the user's may hold index.lock; only after a kill it can be one that died."""
    (queue.checkout / "mine.c").write_text("mine\n", encoding="utf-8")
    with pytest.raises(ForeignWork):
        queue.apply()
    lock = queue.checkout / ".git/index.lock"
    lock.write_bytes(b"")
    (queue.checkout / "mine.c").unlink()
    with pytest.raises(IndexLocked, match=r"index\.lock is there"):
        queue.apply(Request(to=1))
    assert lock.exists()


@pytest.mark.case(9)
def test_attributes_in_the_tree_do_not_decide_bytes(world: World) -> None:
    """A checkout that came by them step by step holds what a fresh one holds."""
    world.add(1, "attributes", {".gitattributes": "*.md text eol=crlf\n*.txt text\n*.cpp filter=x ident\n"})
    world.apply(Request(to=0))
    world.inside("config", "filter.x.smudge", "false")
    world.apply()
    readme = (world.checkout / "docs/readme.md").read_bytes()
    windows = (world.checkout / "src/windows.txt").read_bytes()
    assert _is_clean(world)
    subprocess.run(["rm", "-rf", str(world.checkout)], check=True)
    world.apply()
    assert (world.checkout / "docs/readme.md").read_bytes() == readme == b"# Upstream\n\nMore text.\n"
    assert (world.checkout / "src/windows.txt").read_bytes() == windows == _blob(world, "src/windows.txt")
    assert _is_clean(world)


def _blob(world: World, name: str) -> bytes:
    command = ["git", "-C", str(world.checkout), "cat-file", "blob", f"HEAD:{name}"]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.case(9, 24)
def test_what_is_saved_is_what_was_there(queue: World) -> None:
    (queue.checkout / "mine.md").write_bytes(b"a\r\nb\n")
    saved = queue.apply(Request(discard=True)).saved
    command = ["git", "-C", str(queue.checkout), "cat-file", "blob", f"{saved}:mine.md"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"a\r\nb\n"


def test_a_person_s_attributes_are_named_and_kept(queue: World) -> None:
    file = queue.checkout / ".git/info/attributes"
    file.write_text("*.md diff=markdown\n", encoding="utf-8")
    with pytest.raises(ForeignAttributes, match="info/attributes was changed"):
        queue.apply(Request(to=1))
    assert file.read_text(encoding="utf-8") == "*.md diff=markdown\n"


def test_a_saved_ref_is_named_whatever_happens_then(queue: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (queue.checkout / "mine.c").write_text("mine\n", encoding="utf-8")

    def fail(*_: object) -> None:
        raise WrongTree("something else")

    monkeypatch.setattr(move, "carry_out", fail)
    with pytest.raises(WrongTree) as caught:
        queue.apply(Request(discard=True))
    assert "Your work is saved as refs/skippy/saved/" in caught.value.mend


def test_a_submodule_in_the_way_of_a_hunk_is_no_internal_error(world: World) -> None:
    commit = git(world.desk, "rev-parse", "HEAD")
    git(world.desk, "update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    git(world.desk, "commit", "-q", "-m", "A submodule")
    world.export(1, "module")
    other = git(world.desk, "rev-parse", "HEAD")
    git(world.desk, "update-index", "--cacheinfo", f"160000,{other},module")
    git(world.desk, "commit", "-q", "-m", "Another commit of it")
    patch = world.export(2, "moved")
    patch.write_bytes(patch.read_bytes().replace(commit.encode(), b"1" * 40))
    with pytest.raises(PatchDoesNotApply, match="module"):
        world.apply()


# The answer at a glance


class _Editor(Recorder):
    """Edits a file of the checkout as soon as patches are applied."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def advance(self, label: str, done: int, total: int | None) -> None:
        super().advance(label, done, total)
        if label == "Applying" and done == total:
            self.file.write_text("edited meanwhile\n", encoding="utf-8")


@pytest.mark.case(24, 25)
def test_an_edit_during_apply_leaves_no_fingerprint(queue: World) -> None:
    queue.add(3, "three", {"src/three.c": "int three;\n"})
    outcome = queue.apply(reporter=_Editor(queue.checkout / "src/trailing.txt"))
    assert outcome.moved
    assert outcome.fingerprint is None
    assert (queue.checkout / "src/trailing.txt").read_text(encoding="utf-8") == "edited meanwhile\n"


@pytest.mark.case(25)
def test_a_patch_edited_during_apply_is_no_input_of_its_answer(queue: World) -> None:
    """The stamp names what was read, not what lies there when it is written."""
    patch = queue.patches / "0002-two.patch"
    content = patch.read_bytes()
    stop = threading.Event()

    def edit() -> None:
        flip = False
        while not stop.is_set():
            patch.write_bytes(content.replace(b"int two", b"int TWO") if flip else content)
            flip = not flip
            time.sleep(0.003)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for _ in range(4):
            queue.run("apply")
    finally:
        stop.set()
        editor.join()
    patch.write_bytes(content)
    shown = queue.start("apply").stdout
    assert queue.inside("rev-parse", "HEAD") in shown
    assert (queue.checkout / "src/two.c").read_text(encoding="utf-8") == "int two;\n"


def _misspelt(world: World) -> None:
    (world.patches / "0003-x.PATCH").write_bytes(b"x")


def _a_diff(world: World) -> None:
    (world.patches / "0003-x.diff").write_bytes(b"x")


def _a_symlink(world: World) -> None:
    patch = world.patches / "0002-two.patch"
    patch.rename(world.root / "two")
    patch.symlink_to("../two")


def _a_bisection(world: World) -> None:
    (world.checkout / ".git/BISECT_LOG").write_text("x\n", encoding="utf-8")


def _a_sequence(world: World) -> None:
    (world.checkout / ".git/sequencer").mkdir()


def _attributes(world: World) -> None:
    (world.checkout / ".git/info/attributes").write_text("*.c -diff\n", encoding="utf-8")


@pytest.mark.case(25)
@pytest.mark.parametrize(
    "change",
    [
        _misspelt,
        _a_sequence,
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in (_a_diff, _a_symlink, _a_bisection, _attributes)
        ),
    ],
)
def test_what_the_long_way_refuses_is_not_up_to_date(queue: World, change: object) -> None:
    assert callable(change)
    queue.run("apply")
    assert queue.glance("apply")
    change(queue)
    assert queue.glance("apply") is None
    assert queue.run("apply").returncode in (1, 5)


@pytest.mark.case(25)
def test_packed_refs_are_read(queue: World) -> None:
    queue.inside("pack-refs", "--all")
    queue.run("apply")
    assert queue.glance("apply")
