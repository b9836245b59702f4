"""What a person may have in the checkout, or have put in its place: refused, or saved first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from skippy_patches.apply.errors import CannotSave, ForeignWork, InTheWay
from skippy_patches.apply.stage import Request
from tests.apply.scenario import apply_queue, author_queue
from tests.world import World, git


def _an_edit(world: World) -> str:
    (world.checkout / "src/llama.cpp").write_text("// mine\n", encoding="utf-8")
    return "src/llama.cpp: modified"


def _a_staged_edit(world: World) -> str:
    (world.checkout / "src/llama.cpp").write_text("// mine\n", encoding="utf-8")
    world.inside("add", "src/llama.cpp")
    return "src/llama.cpp: modified in the index"


def _an_untracked_file(world: World) -> str:
    (world.checkout / "src/mine.cpp").write_text("// mine\n", encoding="utf-8")
    return "src/mine.cpp: untracked"


def _a_commit(world: World) -> str:
    (world.checkout / "src/mine.cpp").write_text("// mine\n", encoding="utf-8")
    world.inside("add", "-A")
    world.inside("commit", "-q", "-m", "Mine")
    return f"the branch skippy is at {world.inside('rev-parse', 'HEAD')}; the commit that apply left is"


def _a_branch(world: World) -> str:
    world.inside("checkout", "-q", "-b", "mine")
    return "the branch mine is checked out"


def _a_detached_head(world: World) -> str:
    world.inside("checkout", "-q", "--detach")
    return "HEAD is detached"


def _a_deletion(world: World) -> str:
    (world.checkout / "src/trailing.txt").unlink()
    return "src/trailing.txt: deleted"


def _a_mode(world: World) -> str:
    (world.checkout / "src/llama.cpp").chmod(0o755)
    return "src/llama.cpp: modified"


FOREIGN = [
    _an_edit,
    _a_staged_edit,
    _an_untracked_file,
    _a_commit,
    _a_branch,
    _a_detached_head,
    _a_deletion,
    pytest.param(_a_mode, marks=pytest.mark.thorough),  # told as an edit is
]


@pytest.mark.case(24, 25)
@pytest.mark.parametrize("work", FOREIGN)
def test_foreign_work_stops_apply_and_discard_saves_it(world: World, work: object) -> None:
    assert callable(work)
    applied = apply_queue(world)
    said = work(world)
    before = _content(world)
    (world.patches / "0009-last.patch").unlink()
    with pytest.raises(ForeignWork) as caught:
        world.apply()
    assert said in str(caught.value)
    assert _content(world) == before
    outcome = world.apply(Request(discard=True))
    assert outcome.saved is not None
    assert world.inside("rev-parse", "HEAD") == applied.patches[-2].commit
    assert world.inside("status", "--porcelain") == ""
    world.inside("checkout", "-q", outcome.saved)
    assert _content(world) == before


def _content(world: World) -> dict[str, tuple[bytes, int]]:
    files = (path for path in world.checkout.rglob("*") if ".git" not in path.parts and path.is_file())
    return {
        str(path.relative_to(world.checkout)): (path.read_bytes(), path.stat().st_mode & 0o100)
        for path in files
    }


@pytest.mark.case(24)
def test_ignored_files_stay_where_they_are(world: World) -> None:
    apply_queue(world)
    (world.checkout / "build").mkdir()
    (world.checkout / "build/object.o").write_bytes(b"hours of work")
    (world.checkout / "mine.log").write_bytes(b"notes")
    (world.patches / "0009-last.patch").unlink()
    assert world.apply().moved
    _an_edit(world)
    assert world.apply(Request(discard=True)).saved
    assert (world.checkout / "build/object.o").read_bytes() == b"hours of work"
    assert (world.checkout / "mine.log").read_bytes() == b"notes"


@pytest.mark.case(24)
def test_the_index_is_saved_beside_the_work_tree(world: World) -> None:
    apply_queue(world)
    file = world.checkout / "src/llama.cpp"
    file.write_text("// staged\n", encoding="utf-8")
    world.inside("add", "-A")
    file.write_text("// edited\n", encoding="utf-8")
    saved = world.apply(Request(discard=True)).saved
    assert world.inside("show", f"{saved}:src/llama.cpp") == "// edited"
    assert world.inside("show", f"{saved}^2:src/llama.cpp") == "// staged"


@pytest.mark.case(23, 24)
def test_a_rebase_in_progress_is_neither_overwritten_nor_discarded(world: World) -> None:
    apply_queue(world)
    (world.checkout / ".git/rebase-apply").mkdir()
    with pytest.raises(ForeignWork, match="git am or git rebase is in progress"):
        world.apply()
    with pytest.raises(CannotSave, match="git am or git rebase is in progress"):
        world.apply(Request(discard=True))
    (world.checkout / ".git/rebase-apply").rmdir()
    assert not world.apply().moved


def test_a_repository_inside_the_checkout_is_not_discarded(world: World) -> None:
    apply_queue(world)
    nested = world.checkout / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "mine").write_text("mine\n", encoding="utf-8")
    git(nested, "add", "-A")
    git(nested, "commit", "-q", "-m", "Mine")
    with pytest.raises(ForeignWork):
        world.apply()
    with pytest.raises(CannotSave, match="nested/: a git repository of its own"):
        world.apply(Request(discard=True))
    assert (nested / "mine").exists()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_hidden_edits_are_seen(world: World, bit: str) -> None:
    apply_queue(world)
    world.inside("update-index", bit, "src/llama.cpp")
    _an_edit(world)
    with pytest.raises(ForeignWork, match=r"src/llama\.cpp: hidden from git"):
        world.apply()
    with pytest.raises(CannotSave, match=r"src/llama\.cpp: hidden from git"):
        world.apply(Request(discard=True))
    assert (world.checkout / "src/llama.cpp").read_text(encoding="utf-8") == "// mine\n"


def test_an_untracked_file_in_the_way_of_a_patch_is_kept(world: World) -> None:
    world.add(1, "one", {"docs/new.md": "from the patch\n"})
    world.apply(Request(to=0))
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/exclude").write_text("docs/new.md\n", encoding="utf-8")
    (world.checkout / "docs/new.md").write_text("mine, and ignored\n", encoding="utf-8")
    with pytest.raises(InTheWay, match=r"- docs/new\.md"):
        world.apply()
    assert (world.checkout / "docs/new.md").read_text(encoding="utf-8") == "mine, and ignored\n"
    (world.checkout / "docs/new.md").unlink()
    assert world.apply().moved


@pytest.mark.case(1)
@pytest.mark.parametrize("command", ["apply", "status", "list", "build", "test"])
def test_a_checkout_without_git_never_reaches_the_host(world: World, command: str) -> None:
    """git would climb to the repository around it and rewrite that one's HEAD."""
    author_queue(world)
    shutil.copytree(Path(__file__).parents[2] / "recipes", world.root / "recipes")
    world.apply()
    host = world.root
    git(host, "init", "-q")
    git(host, "add", "-A")
    git(host, "commit", "-q", "-m", "Host")
    before = {path: path.read_bytes() for path in (host / ".git").rglob("*") if path.is_file()}
    subprocess.run(["rm", "-rf", str(world.checkout / ".git")], check=True)
    done = world.run(command)
    assert done.returncode == 5, done.stderr
    assert "its .git is missing" in done.stderr
    assert {path: path.read_bytes() for path in (host / ".git").rglob("*") if path.is_file()} == before


@pytest.mark.case(1)
def test_a_checkout_of_somebody_else_is_refused(world: World) -> None:
    author_queue(world)
    world.checkout.parent.mkdir()
    git(world.root, "clone", "-q", str(world.upstream), str(world.checkout))
    done = world.run("apply")
    assert (done.returncode, "another tool or person made this repository" in done.stderr) == (5, True)
    assert "hint: Move it away" in done.stderr


@pytest.mark.case(1)
def test_a_git_file_that_leads_elsewhere_is_refused(world: World) -> None:
    apply_queue(world)
    (world.checkout / ".git").rename(world.root / "elsewhere")
    (world.checkout / ".git").write_text(f"gitdir: {world.root / 'elsewhere'}\n", encoding="utf-8")
    assert world.run("apply").returncode == 5


def test_attributes_in_the_git_dir_are_refused(world: World) -> None:
    apply_queue(world)
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/attributes").write_text("* text eol=crlf\n", encoding="utf-8")
    (world.patches / "0009-last.patch").unlink()
    assert world.run("apply").returncode == 5


def test_settings_in_the_checkout_do_not_count(world: World) -> None:
    expected = apply_queue(world).patched.commit
    for setting, value in {
        "core.autocrlf": "true",
        "apply.whitespace": "fix",
        "commit.gpgSign": "true",
    }.items():
        world.inside("config", setting, value)
    (world.checkout / ".git/skippy/ledger.json").unlink()
    world.apply(Request(to=0))
    assert world.apply().applied.patched.commit == expected
    assert b"one\r\n" in (world.checkout / "src/windows.txt").read_bytes()
