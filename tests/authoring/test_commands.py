"""new, edit, continue and refresh as a person and a script meet them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.authoring.desk import FILE, amend, commit, edit, names, three_patches

if TYPE_CHECKING:
    from tests.world import World

PERSON = {"GIT_AUTHOR_NAME": "Per Son", "GIT_AUTHOR_EMAIL": "per@example.org"}


def test_refresh_in_json(project: World) -> None:
    three_patches(project)
    edit(project, 27, "more")
    commit(project, "More\n")
    written = json.loads(project.run("refresh", "--format", "json").stdout)
    assert (written["schema_version"], written["changed"], written["written"]) == (1, True, True)
    assert [patch["action"] for patch in written["patches"]] == ["kept", "kept", "kept", "new"]


@pytest.mark.thorough
def test_the_whole_way(project: World) -> None:
    three_patches(project)
    stopped = project.run("edit", "2")
    assert "Stopped at patches/0002-patch2.patch" in stopped.stdout
    assert "behind it: 1 patch." in stopped.stdout
    edit(project, 12, "amended")
    amend(project)
    done = project.run("continue")
    assert done.stdout.splitlines()[-1] == "Write it into the queue: skippy-patches refresh"
    begun = project.run("new", "kv: count pages", "--number", "9", env=PERSON)
    assert begun.stdout.startswith("Began 0009-kv-count-pages.patch: commit ")
    edit(project, 27, "filled")
    amend(project)
    written = json.loads(project.run("refresh", "--format", "json").stdout)
    assert written["schema_version"] == 1
    assert (written["changed"], written["written"]) == (True, True)
    assert [patch["action"] for patch in written["patches"]] == ["kept", "rewritten", "kept", "new"]
    assert written["patches"][-1]["file"] == "patches/0009-kv-count-pages.patch"
    assert written["saved"].startswith("refs/skippy/saved/")
    assert project.run("apply").stdout.startswith("Up to date: 4 patches on b1")


@pytest.mark.thorough
def test_what_is_shown(project: World) -> None:
    three_patches(project)
    assert project.run("edit").returncode == 2
    assert project.run("edit", "2", "--abort").returncode == 2
    project.run("edit", "2")
    assert "An edit of patches/0002-patch2.patch is stopped" in project.run("refresh").stderr
    edit(project, 12, "amended")
    amend(project)
    assert "an edit of patches/0002-patch2.patch is stopped" in project.run("status").stdout
    project.run("continue")
    planned = project.run("refresh", "--dry-run")
    assert planned.returncode == 1
    assert planned.stdout.splitlines()[-1] == "Would write: 2 kept, 1 rewritten"
    written = project.run("refresh").stdout.splitlines()
    assert written[4].startswith("Wrote: 2 kept, 1 rewritten. The checkout is at ")
    again = project.run("refresh", "--dry-run")
    assert (again.returncode, again.stdout.startswith("Up to date: ")) == (0, True)


@pytest.mark.thorough
def test_a_drop_shows_the_plan_and_the_word_for_it(project: World) -> None:
    three_patches(project)
    project.inside("reset", "-q", "--hard", "HEAD^")
    done = project.run("refresh")
    assert done.returncode == 1
    assert "dropped  0004    patches/0004-patch4.patch" in done.stdout
    assert "hint: If it is to go: skippy-patches refresh --drop 4" in done.stderr
    assert project.run("refresh", "--drop", "4").returncode == 0
    assert names(project) == ["0001-patch1.patch", "0002-patch2.patch"]


@pytest.mark.thorough
def test_a_conflict_has_its_exit_status(world: World) -> None:
    world.add(1, "one", {"docs/f": "one\n"})
    world.add(2, "two", {"docs/f": "two\n"})
    world.apply()
    world.run("edit", "1")
    (world.checkout / "docs/f").write_text("uno\n", encoding="utf-8")
    amend(world)
    done = world.run("continue")
    assert done.returncode == 4
    assert "patches/0002-two.patch is in conflict with your change" in done.stderr
    assert "- docs/f" in done.stderr
    gone = world.run("edit", "--abort")
    assert "The checkout holds the whole queue again" in gone.stdout
    assert "What was there is saved as refs/skippy/saved/" in gone.stdout


@pytest.mark.case(1)
@pytest.mark.thorough
@pytest.mark.parametrize("command", ["refresh", "edit 1", "continue", "edit --abort", "new x"])
def test_a_checkout_without_git_never_reaches_the_host(world: World, command: str) -> None:
    world.add(1, "one", {"docs/f": "one\n"})
    assert world.run(*command.split(), env=PERSON).returncode == 2
    world.checkout.mkdir(parents=True)
    (world.checkout / "file").write_text("x", encoding="utf-8")
    done = world.run(*command.split(), env=PERSON)
    assert done.returncode == 5, done.stderr
    assert "its .git is missing" in done.stderr


@pytest.mark.thorough
@pytest.mark.case(2, 3)
def test_variables_of_a_hook_do_not_count(world: World) -> None:
    three_patches(world)
    edit(world, 5, "mine")
    commit(world, "Mine\n")
    host = {"GIT_DIR": str(world.desk / ".git"), "GIT_INDEX_FILE": str(world.desk / ".git/index")}
    before = (world.desk / ".git/index").read_bytes()
    assert world.run("refresh", env=host).returncode == 0
    assert names(world)[-1] == "0005-Mine.patch"
    assert world.run("edit", "1", env=host).returncode == 0
    assert world.run("new", "x", env=host | PERSON).returncode == 0
    assert world.inside("log", "-2", "--format=%s") == "x\npatch1: change 1"
    assert (world.desk / ".git/index").read_bytes() == before
    assert FILE


def test_each_answers_in_json(project: World) -> None:
    def answer(*arguments: str) -> dict[str, Any]:
        done = project.run(*arguments, "--format", "json", env=PERSON)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found.pop("schema_version") == 1
        assert isinstance(found, dict)
        return found

    three_patches(project)
    checkout = str(project.checkout)
    stopped = answer("edit", "2")
    at = project.inside("rev-parse", "HEAD")
    file = "patches/0002-patch2.patch"
    assert stopped == {"stopped": {"file": file, "commit": at, "behind": 1}, "checkout": checkout}
    status = answer("status")["checkout"]
    assert (status["state"], status["editing"]) == ("editing", {"file": file, "conflict": False})
    edit(project, 12, "amended")
    amend(project)
    tip = answer("continue")
    head = project.inside("rev-parse", "HEAD")
    assert tip == {"commit": head, "changed": True, "queue_changed": False, "left_out": []}
    answer("refresh")
    begun = answer("new", "kv: count pages")
    head = project.inside("rev-parse", "HEAD")
    assert begun == {"file": "0005-kv-count-pages.patch", "commit": head, "checkout": checkout}
    project.inside("reset", "-q", "--hard", "HEAD^")
    answer("edit", "1")
    project.inside("reset", "-q", "--hard", "HEAD^")
    aborted = answer("edit", "--abort")
    assert aborted["commit"] == answer("apply")["patched"]["commit"]
    assert aborted["saved"].startswith("refs/skippy/saved/")
