"""`init`: a queue inside a larger repository is described, checked, applied once, and left as it was."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.inprocess import run
from tests.world import World, git

if TYPE_CHECKING:
    from pathlib import Path

INIT = ("init", "--queue", "patches", "--pin", "upstream.txt")


@pytest.fixture
def place(world: World) -> World:
    """Two patches and a pin file in a folder of a repository; nothing of skippy-patches."""
    text = world.source("docs/readme.md")
    world.commit({"docs/readme.md": f"# First\n{text}"}, "docs: add a title")
    world.export(1, "docs-add-a-title")
    world.commit({"docs/readme.md": f"# Second\n# First\n{text}"}, "docs: add another one")
    world.export(3, "second-title", "--subject-prefix=PATCH 4/9")
    for file in ("skippy-patches.yaml", "upstream.commit"):
        (world.root / file).unlink()
    (world.root / "upstream.txt").write_text(f"{world.pin}\n", encoding="utf-8")
    top = world.root.parent
    (top / ".gitignore").write_text("*-desk\n", encoding="utf-8")
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "Before")
    return world


def _status(place: World) -> list[str]:
    return git(place.root.parent, "status", "--porcelain", "-uall").splitlines()


def test_adopted(place: World) -> None:
    done = run(place.root, *INIT, "--repository", str(place.upstream))
    assert done.returncode == 0, done.stderr
    assert _status(place) == ["?? project/skippy-patches.yaml"]
    assert f"Wrote {place.root}/skippy-patches.yaml: the queue on {place.pin}" in done.stdout
    assert "2 patches: 1 warning" in done.stdout
    assert "  1 patch: the subject counts a series as it once was [stale-count]" in done.stdout
    assert "    patches/0003-second-title.patch: [PATCH 4/9], and it is 2/2" in done.stdout
    assert "  1 patch: the file's name is not made from the subject [name-differs]" in done.stdout
    assert "  1 hole: numbers are missing in between [gap]\n    0002\n" in done.stdout
    assert "Nothing was rewritten." in done.stdout
    assert f"Applied 2 patches on {place.pin[:12]}, commit {place.inside('rev-parse', 'HEAD')}" in done.stdout
    assert run(place.root, "apply").stdout.startswith("Up to date")
    again = run(place.root, *INIT)
    assert again.returncode == 2
    assert "skippy-patches.yaml is there already." in again.stderr
    assert _status(place) == ["?? project/skippy-patches.yaml"]


def test_as_json(place: World) -> None:
    done = run(place.root, *INIT, "--format", "json", "--repository", str(place.upstream))
    answer = json.loads(done.stdout)
    assert answer["upstream"]["commit_file"] == str(place.root / "upstream.txt")
    assert (answer["check"]["patches"], answer["check"]["warnings"]) == (2, 1)
    assert {each["code"]: each["count"] for each in answer["observations"]} == {
        "stale-count": 1,
        "name-differs": 1,
        "gap": 1,
    }
    assert answer["applied"]["patched"]["commit"] == place.inside("rev-parse", "HEAD")
    assert answer["error"] is None


def test_what_stops_the_apply_is_told_and_the_file_stays(place: World) -> None:
    patch = place.patches / "0003-second-title.patch"
    patch.write_bytes(patch.read_bytes().replace(b"\n # First", b"\n # Worst"))
    done = run(place.root, *INIT, "--format", "json", "--repository", str(place.upstream))
    assert done.returncode == 4
    answer = json.loads(done.stdout)
    assert answer["applied"] is None
    assert answer["error"]["what"].startswith("Patch 0003 does not apply")
    assert "error: Patch 0003 does not apply" in done.stderr
    assert (place.root / "skippy-patches.yaml").exists()


def test_a_pin_that_cannot_be_fetched(place: World, tmp_path: Path) -> None:
    cache = {"SKIPPY_PATCHES_CACHE_DIR": str(tmp_path / "cache")}
    done = run(place.root, *INIT, "--repository", str(tmp_path / "nothing"), env=cache)
    assert done.returncode != 0
    assert "2 patches: 1 warning" in done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"^error: .*", done.stderr, re.MULTILINE)
    assert (place.root / "skippy-patches.yaml").exists()


def test_a_queue_with_errors_is_not_applied(place: World) -> None:
    (place.patches / "0003-second-title.patch").rename(place.patches / "0001-second-title.patch")
    done = run(place.root, *INIT, "--repository", str(place.upstream))
    assert done.returncode == 1
    assert "[duplicate-number]" in done.stdout
    assert done.stdout.endswith("Not applied: mend the errors, then: skippy-patches apply\n")
    assert not (place.root / ".skippy").exists()


def test_the_options_are_asked_for(place: World) -> None:
    done = run(place.root, "init", "--queue", "patches")
    assert done.returncode == 2
    assert "Missing option '--pin'" in done.stderr


def test_an_empty_queue_is_called_empty(place: World) -> None:
    (place.root / "none").mkdir()
    done = run(place.root, "init", "--queue", "none", "--pin", "upstream.txt")
    assert "It has no patches yet." in done.stdout
    assert "Every patch" not in done.stdout
