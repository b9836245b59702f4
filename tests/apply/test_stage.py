"""The stage as a whole: what it makes, what it keeps, what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from skippy_patches.apply.errors import (
    EmptyQueue,
    ForeignWork,
    NoSuchPatch,
    PatchDoesNotApply,
    PatchHasNoEffect,
)
from skippy_patches.apply.stage import Request
from tests.apply.scenario import author_queue
from tests.world import Recorder, World, block, git


def _mtimes(world: World) -> dict[str, int]:
    files = (path for path in world.checkout.rglob("*") if ".git" not in path.parts and path.is_file())
    return {str(path.relative_to(world.checkout)): path.stat().st_mtime_ns for path in files}


@pytest.mark.case(30)
def test_a_commit_a_patch_and_every_one_of_them_there(world: World) -> None:
    author_queue(world)
    applied = world.apply().applied
    files = sorted(path.name for path in world.patches.iterdir())
    assert [patch.file for patch in applied.patches] == files
    assert world.inside("rev-list", "--count", f"{world.pin}..HEAD") == str(len(files))
    assert applied.patches[-1].commit == applied.patched.commit
    assert applied.upstream.commit == world.pin
    numbers = [(patch.files, patch.insertions, patch.deletions) for patch in applied.patches[:2]]
    assert numbers == [(1, 7, 0), (1, 1, 1)]


@pytest.mark.case(30)
def test_an_empty_queue_is_not_a_success(world: World) -> None:
    with pytest.raises(EmptyQueue):
        world.apply()
    assert world.apply(Request(to=0)).applied.patched.commit == world.pin


@pytest.mark.case(30)
def test_a_patch_without_effect_is_named(world: World) -> None:
    world.add(1, "one", {"src/new.cpp": "int one;\n"})
    patch = world.add(2, "two", {"src/new.cpp": "int two;\n"})
    patch.write_bytes(patch.read_bytes().replace(b"-int one;\n+int two;", b"-int one;\n+int one;"))
    with pytest.raises(PatchHasNoEffect, match=r"0002 changes nothing in src/new\.cpp"):
        world.apply()


@pytest.mark.case(25)
def test_a_second_apply_changes_nothing(world: World) -> None:
    author_queue(world)
    first = world.apply()
    before = _mtimes(world)
    second = world.apply()
    assert (first.moved, second.moved) == (True, False)
    assert second.applied.patched == first.applied.patched
    assert second.applied.reused == len(second.applied.patches)
    assert _mtimes(world) == before


@pytest.mark.case(26)
def test_only_files_whose_content_changed_get_a_new_mtime(world: World) -> None:
    author_queue(world)
    world.apply()
    before = _mtimes(world)
    last = world.patches / "0009-last.patch"
    last.write_bytes(last.read_bytes().replace(b"\n+new\n", b"\n+newer\n"))
    time.sleep(0.02)
    outcome = world.apply()
    after = _mtimes(world)
    assert outcome.applied.reused == 6
    assert {name for name in after if after[name] != before.get(name)} == {"docs/new/deep.md"}
    assert set(before) == set(after)


@pytest.mark.case(26)
def test_mtimes_never_go_back(world: World) -> None:
    world.add(1, "one", {"src/new.cpp": "int one;\n"})
    world.apply()
    moment = time.time_ns()
    (world.patches / "0001-one.patch").unlink()
    world.commit({"src/new.cpp": None}, "Away")
    world.add(1, "other", {"src/new.cpp": "int other;\n"})
    world.apply()
    assert (world.checkout / "src/new.cpp").stat().st_mtime_ns >= moment - 20_000_000


def test_to_stops_early_and_goes_on(world: World) -> None:
    author_queue(world)
    whole = world.apply().applied
    part = world.apply(Request(to=3))
    assert part.applied.patched.commit == whole.patches[2].commit
    assert part.applied.reused == 3
    assert world.inside("rev-parse", "HEAD") == whole.patches[2].commit
    assert world.apply().applied.patched == whole.patched
    with pytest.raises(NoSuchPatch, match="There is no patch 0004") as caught:
        world.apply(Request(to=4))
    assert "0001, 0002, 0003, 0005" in caught.value.why


def test_a_renumber_reuses_every_prefix(world: World) -> None:
    author_queue(world)
    before = world.apply().applied
    (world.patches / "0009-last.patch").rename(world.patches / "0012-the-last.patch")
    after = world.apply()
    assert (after.moved, after.applied.reused) == (False, len(before.patches))
    assert after.applied.queue_digest != before.queue_digest


def test_order_is_by_number_and_the_bytes_of_the_name(world: World) -> None:
    world.add(10, "b", {"f": "1\n"})
    world.add(2, "a", {"g": "2\n"})
    assert [patch.number for patch in world.apply().applied.patches] == [2, 10]


def test_git_am_agrees(world: World) -> None:
    author_queue(world)
    outcome = world.apply(Request(verify_with_git=True))
    assert outcome.applied.patched.commit == world.inside("rev-parse", "HEAD")
    assert world.inside("worktree", "list").count("\n") == 0


@pytest.mark.parametrize("choice", ["keep", "strip"])
def test_subject_prefix_is_a_choice(world: World, choice: str) -> None:
    author_queue(world)
    world.configure(f"subject_prefix: {choice}\n")
    subject = world.apply(Request(verify_with_git=True)).applied.patches[0].subject
    assert subject == ("[skippy] a tag of its own." if choice == "keep" else "a tag of its own.")


@pytest.mark.case(27)
def test_time_and_identity_do_not_enter(world: World, tmp_path: Path, upstream: Path) -> None:
    author_queue(world)
    first = world.apply().applied.patched.commit
    other = World.create(tmp_path / "other/project", upstream)
    for file in world.patches.iterdir():
        (other.patches / file.name).write_bytes(file.read_bytes())
    time.sleep(1.1)
    assert other.apply().applied.patched.commit == first


@pytest.mark.case(9)
def test_crlf_and_mixed_endings_survive(world: World) -> None:
    windows = world.source("src/windows.txt").replace("three\r\n", "three!\r\n")
    world.add(1, "crlf", {"src/windows.txt": windows})
    world.apply()
    assert (world.checkout / "src/windows.txt").read_bytes() == b"one\r\ntwo\r\nthree!\r\nfour\nfive\r\n"


@pytest.mark.case(18)
def test_binary_content_as_literal_and_as_delta(world: World) -> None:
    content = bytes(range(256)) * 8
    world.add(1, "literal", {"new.bin": b"\0\1\2\3"})
    world.add(2, "delta", {"logo.bin": content[:-3] + b"\0\0\0"})
    assert b"\ndelta " in (world.patches / "0002-delta.patch").read_bytes()
    world.apply(Request(verify_with_git=True))
    assert (world.checkout / "logo.bin").read_bytes() == content[:-3] + b"\0\0\0"


@pytest.mark.case(21, 22)
def test_abbreviated_ids_need_no_blob(world: World) -> None:
    """Text patches carry their preimage; a shallow checkout lacks every blob that an index line names."""
    text = world.source("src/llama.cpp").replace(block(5), "")
    world.commit({"src/llama.cpp": text}, "Abbreviated")
    patch = world.export(1, "abbreviated")
    full = next(line for line in patch.read_bytes().splitlines() if line.startswith(b"index "))
    patch.write_bytes(patch.read_bytes().replace(full, b"index 123456789..abcdef012 100644"))
    world.apply()
    assert block(5) not in (world.checkout / "src/llama.cpp").read_text(encoding="utf-8")


@pytest.mark.case(16)
def test_offsets_are_reported_and_fuzz_is_refused(world: World) -> None:
    """The last context line of the hunk is wrong: patch(1) would place it with fuzz."""
    text = world.source("src/llama.cpp")
    world.commit(
        {"src/llama.cpp": text.replace("void step_20() {\n", "void step_20() { // here\n")}, "Twenty"
    )
    patch = world.export(2, "twenty")
    world.commit({"src/llama.cpp": text}, "Back")
    world.commit({"src/llama.cpp": "// first\n// second\n" + text}, "Two lines above")
    world.export(1, "above")
    reporter = Recorder()
    world.apply(reporter=reporter)
    assert any("0002-twenty.patch: 1 of its hunks stand at an offset" in step for step in reporter.steps)
    assert any("(offset 2 lines)" in detail for detail in reporter.details)
    patch.write_bytes(patch.read_bytes().replace(b"\n     begin();\n", b"\n     begins();\n"))
    with pytest.raises(PatchDoesNotApply):
        world.apply()


def test_a_patch_that_does_not_apply_says_where_and_keeps_everything(world: World) -> None:
    text = world.source("src/llama.cpp")
    world.add(1, "fits", {"docs/readme.md": "# Fits\n"})
    world.add(7, "stale", {"src/llama.cpp": text.replace(block(12), block(12).replace("work();", "play();"))})
    world.apply(Request(to=1))
    stale = world.patches / "0007-stale.patch"
    stale.write_bytes(stale.read_bytes().replace(b"     begin();", b"     start();"))
    with pytest.raises(PatchDoesNotApply) as caught:
        world.apply()
    said = str(caught.value)
    assert "Patch 0007 does not apply: patches/0007-stale.patch" in said
    assert "src/llama.cpp: the hunk at patches/0007-stale.patch:" in said
    assert "most like it are lines" in said
    assert "-     start();" in said
    assert "+     begin();" in said
    assert "apply --to 1" in said
    assert "The patch before it applies and is kept" in said
    assert world.inside("rev-parse", "HEAD") == world.apply(Request(to=1)).applied.patched.commit
    assert world.inside("status", "--porcelain") == ""


def test_missing_and_existing_files_are_told_in_words(world: World) -> None:
    world.add(1, "adds", {"docs/added.md": "new\n"})
    world.add(2, "changes", {"docs/added.md": "newer\n"})
    (world.patches / "0001-adds.patch").rename(world.patches / "0003-adds.patch")
    with pytest.raises(PatchDoesNotApply, match=r"docs/added\.md: the patch changes it, and it is not there"):
        world.apply()


# What a person may have in the checkout


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
    _a_mode,
]


@pytest.mark.case(24, 25)
@pytest.mark.parametrize("work", FOREIGN)
def test_foreign_work_stops_apply_and_discard_saves_it(world: World, work: object) -> None:
    assert callable(work)
    author_queue(world)
    applied = world.apply().applied
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
    author_queue(world)
    world.apply()
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
    author_queue(world)
    world.apply()
    file = world.checkout / "src/llama.cpp"
    file.write_text("// staged\n", encoding="utf-8")
    world.inside("add", "-A")
    file.write_text("// edited\n", encoding="utf-8")
    saved = world.apply(Request(discard=True)).saved
    assert world.inside("show", f"{saved}:src/llama.cpp") == "// edited"
    assert world.inside("show", f"{saved}^2:src/llama.cpp") == "// staged"


@pytest.mark.case(23, 24)
def test_a_rebase_in_progress_is_neither_overwritten_nor_discarded(world: World) -> None:
    author_queue(world)
    world.apply()
    (world.checkout / ".git/rebase-apply").mkdir()
    for request in (Request(), Request(discard=True)):
        with pytest.raises(Exception, match=r"rebase is in progress|holds something that cannot be saved"):
            world.apply(request)
    (world.checkout / ".git/rebase-apply").rmdir()
    assert not world.apply().moved


def test_a_repository_inside_the_checkout_is_not_discarded(world: World) -> None:
    author_queue(world)
    world.apply()
    nested = world.checkout / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "mine").write_text("mine\n", encoding="utf-8")
    git(nested, "add", "-A")
    git(nested, "commit", "-q", "-m", "Mine")
    with pytest.raises(ForeignWork):
        world.apply()
    with pytest.raises(Exception, match="cannot be saved"):
        world.apply(Request(discard=True))
    assert (nested / "mine").exists()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_hidden_edits_are_seen(world: World, bit: str) -> None:
    author_queue(world)
    world.apply()
    world.inside("update-index", bit, "src/llama.cpp")
    _an_edit(world)
    for request in (Request(), Request(discard=True)):
        with pytest.raises(Exception, match=r"src/llama\.cpp: hidden from git|cannot be saved"):
            world.apply(request)
    assert (world.checkout / "src/llama.cpp").read_text(encoding="utf-8") == "// mine\n"


def test_an_untracked_file_in_the_way_of_a_patch_is_kept(world: World) -> None:
    world.add(1, "one", {"docs/new.md": "from the patch\n"})
    world.apply(Request(to=0))
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/exclude").write_text("docs/new.md\n", encoding="utf-8")
    (world.checkout / "docs/new.md").write_text("mine, and ignored\n", encoding="utf-8")
    with pytest.raises(Exception, match=r"docs/new\.md"):
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
    author_queue(world)
    world.apply()
    (world.checkout / ".git").rename(world.root / "elsewhere")
    (world.checkout / ".git").write_text(f"gitdir: {world.root / 'elsewhere'}\n", encoding="utf-8")
    assert world.run("apply").returncode == 5


def test_attributes_in_the_git_dir_are_refused(world: World) -> None:
    author_queue(world)
    world.apply()
    (world.checkout / ".git/info").mkdir(exist_ok=True)
    (world.checkout / ".git/info/attributes").write_text("* text eol=crlf\n", encoding="utf-8")
    (world.patches / "0009-last.patch").unlink()
    assert world.run("apply").returncode == 5


def test_settings_in_the_checkout_do_not_count(world: World) -> None:
    author_queue(world)
    expected = world.apply().applied.patched.commit
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


@pytest.mark.case(25)
@pytest.mark.parametrize("damage", ["{", "[]", '{"format": "skippy-patches ledger 1", "rows": {"x": 1}}'])
def test_a_damaged_ledger_costs_time_only(world: World, damage: str) -> None:
    author_queue(world)
    expected = world.apply().applied.patched
    (world.checkout / ".git/skippy/ledger.json").write_text(damage, encoding="utf-8")
    again = world.apply()
    assert (again.applied.patched, again.applied.reused) == (expected, 0)


@pytest.mark.case(25)
def test_objects_that_git_collected_are_made_again(world: World) -> None:
    author_queue(world)
    expected = world.apply().applied.patched
    world.apply(Request(to=0))
    world.inside("reflog", "expire", "--expire=now", "--all")
    world.inside("gc", "-q", "--prune=now")
    again = world.apply()
    assert (again.applied.patched, again.applied.reused) == (expected, 0)


def test_the_state_folder_hides_itself(world: World) -> None:
    author_queue(world)
    git(world.root, "init", "-q")
    world.apply()
    assert ".skippy" not in git(world.root, "status", "--porcelain", "--untracked-files=all")


def test_json_has_the_fields_of_the_contract(world: World) -> None:
    author_queue(world)
    done = world.run("apply", "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer) >= {
        "schema_version", "upstream", "patched", "queue_digest", "checkout", "applied", "reused", "patches"
    }  # fmt: skip
    assert set(answer["patches"][0]) == {
        "number", "file", "sha256", "subject", "commit", "tree", "files", "insertions", "deletions"
    }  # fmt: skip
    assert (answer["applied"], answer["reused"]) == (7, 0)
    command = f"cd {world.root} && sha256sum patches/*.patch | sha256sum"
    digest = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout.split()[
        0
    ]
    assert answer["queue_digest"] == digest


def test_exit_status_of_a_stale_patch(world: World) -> None:
    world.add(1, "adds", {"docs/added.md": "new\n"})
    world.add(2, "changes", {"docs/added.md": "newer\n"})
    (world.patches / "0001-adds.patch").unlink()
    done = world.run("apply")
    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.startswith("Fetching b1 from") or "error: Patch 0002" in done.stderr
    assert world.checkout.is_dir()
