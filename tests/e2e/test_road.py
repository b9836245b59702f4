"""The whole road on the real llama.cpp, from a fresh clone and an empty cache. Minutes: `pytest -m e2e`."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

REPOSITORY = Path(__file__).parents[2]
# As the person has it, taken before any fixture: npm and pip want their own settings.
ENVIRONMENT = {
    name: text
    for name, text in os.environ.items()
    if not name.startswith(("GIT_", "SKIPPY_PATCHES_", "PYTEST_", "VIRTUAL_ENV", "PYTHON"))
}
# None, so that what is compiled is compiled; ccache makes a run of one's own a matter of minutes.
LAUNCHER = os.environ.get("E2E_LAUNCHER", "none")
KILLS = 20
NEW_TESTS = ("test-skippy-kv-page-abi", "test-skippy-kv-page-transfer", "test-skippy-kv-page-families")


class Clone:
    """A clone of this project, and the commands of a person in it."""

    def __init__(self, folder: Path, cache: Path, **environment: str) -> None:
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(folder)], check=True, env=ENVIRONMENT)
        self.folder = folder
        command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
        self.cloned = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        self.environment = {**ENVIRONMENT, "SKIPPY_PATCHES_CACHE_DIR": str(cache), **environment}
        self.program = folder / ".venv/bin/skippy-patches"
        self.front: tuple[str, ...] = ()

    def shell(self, line: str) -> str:
        """Run a line; both streams."""
        done = self._run(line)
        return done.stdout + done.stderr

    def answer(self, *arguments: str) -> dict[str, Any]:
        """The JSON that a command prints."""
        line = shlex.join([*self.front, str(self.program), *arguments, "--format", "json"])
        content = json.loads(self._run(line).stdout)
        assert isinstance(content, dict)
        return content

    def _run(self, line: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done

    def run(self, *arguments: str) -> str:
        return self.shell(" ".join([str(self.program), *arguments]))

    def configure(self, sources: str) -> None:
        """Replace where the pin comes from."""
        file = self.folder / "skippy-patches.yaml"
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"  repository: .*\n", "", text)
        file.write_text(re.sub(r"  mirrors:.*\n(    .*\n)+", sources, text), encoding="utf-8")

    @property
    def record(self) -> dict[str, object]:
        content = json.loads((self.folder / ".skippy/build/cpu/record.json").read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        return content

    @property
    def applied(self) -> str:
        return str(self.answer("apply")["patched"]["commit"])


def readme_command(beginning: str) -> str:
    """The one indented line of README.md that begins so."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^    ({re.escape(beginning)}.*)$", readme, re.MULTILINE)
    return str(line)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all of this."""
    return tmp_path_factory.mktemp("road")


@pytest.fixture(scope="module")
def first(place: Path) -> Clone:
    """A fresh clone, on which README's first command was run, with an empty cache and no compiler cache."""
    clone = Clone(place / "a", place / "cache", SKIPPY_PATCHES_LAUNCHER=LAUNCHER)
    print(clone.shell(readme_command("sh scripts/setup.sh && ")))
    return clone


@pytest.fixture(scope="module")
def second(place: Path, first: Clone) -> Clone:
    """Another person's clone, in a folder with a longer name; the pin comes out of a git folder."""
    home = place / "another home"
    home.mkdir()
    settings = "[core]\n\tautocrlf = true\n\tabbrev = 5\n[apply]\n\twhitespace = fix\n[user]\n\tname = B\n"
    (home / ".gitconfig").write_text(settings, encoding="utf-8")
    folder = place / "a folder with a much longer name and blanks"
    clone = Clone(
        folder,
        place / "another cache",
        SKIPPY_PATCHES_LAUNCHER=LAUNCHER,
        HOME=str(home),
        TZ="Asia/Kathmandu",
        CCACHE_DIR=str(place / "another ccache"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # ccache: `first` has none
    )
    clone.program = first.program
    clone.configure(f"  mirrors:\n    - directory: {first.folder}/.skippy/llama.cpp\n")
    return clone


def test_the_record_holds_hashes_and_counts(first: Clone) -> None:
    record = first.record
    artifacts = {each["name"]: each["sha256"] for each in record["artifacts"]}  # type: ignore[attr-defined]
    assert next(iter(artifacts)).startswith("libllama.")
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in artifacts.values())
    tests = record["tests"]
    assert isinstance(tests, dict)
    assert tests["run"] >= 40
    assert (tests["failed"], tests["passed"]) == (0, tests["run"])
    patches = record["patches"]
    assert isinstance(patches, list)
    assert len(patches) == len(list((first.folder / "patches").glob("*.patch")))
    print(json.dumps({"artifacts": artifacts, "tests": tests}, indent=1))


def test_the_host_is_untouched(first: Clone) -> None:
    assert first.shell("git status --porcelain") == ""
    assert first.shell("git rev-parse HEAD").strip() == first.cloned
    assert first.shell("git stash list") == ""


def test_a_second_run_compiles_nothing_and_tests_again(first: Clone) -> None:
    said = first.run("test", "-R", "skippy")
    assert "files compiled: 0" in said
    for test in NEW_TESTS:
        assert re.search(rf"{test} +passed", said)
    assert f"{len(NEW_TESTS)} passed, 0 failed, 0 skipped" in said


def test_the_real_git_am_makes_the_same_commits(first: Clone) -> None:
    assert "git am makes the same commits" in first.run("apply", "--verify-with-git")


def test_another_person_and_another_carrier_give_the_same_commit(first: Clone, second: Clone) -> None:
    assert second.applied == first.applied


def test_the_npm_carrier_gives_the_same_commit(first: Clone, place: Path) -> None:
    clone = Clone(place / "npm", place / "npm-cache")
    clone.program = first.program
    mirrors = re.search(
        r"  mirrors:.*\n(    .*\n)+", (clone.folder / "skippy-patches.yaml").read_text("utf-8")
    )
    assert mirrors is not None
    clone.configure(mirrors[0])
    assert clone.applied == first.applied
    clone.shell("git -C .skippy/llama.cpp fsck --connectivity-only")


def test_another_folder_and_user_and_launcher_give_the_same_bytes(first: Clone, second: Clone) -> None:
    """Every library: with ccache, whose cache is empty, where the first had none, or the other way round."""
    second.front = ("unshare", "--user", "--map-user=4321", "--map-group=4321")
    other = "none" if LAUNCHER == "ccache" else "ccache"
    made = second.answer("build", "--launcher", other)
    second.front = ()
    there = {each["name"]: each["sha256"] for each in made["artifacts"]}
    here = {each["name"]: each["sha256"] for each in first.record["artifacts"]}  # type: ignore[attr-defined]
    assert {"libllama.so", "libggml-cpu.so", "libllama-common.so"} <= set(there)
    assert there == here


def test_editing_the_last_patch_compiles_only_what_it_changed(first: Clone) -> None:
    patch = max((first.folder / "patches").glob("*.patch"))
    before = patch.read_bytes()
    file, end = _comment(before)
    mtimes = _mtimes(first)
    patch.write_bytes(before[:end] + b" (edited)" + before[end:])
    try:
        said = first.run("build")
        changed = {name for name, mtime in _mtimes(first).items() if mtimes.get(name) != mtime}
        assert changed == {file}
        compiled = re.search(r"files compiled: (\d+)", said)
        assert compiled is not None
        # the file itself, and the generated build-info.cpp, which names the new commit
        assert int(compiled[1]) == 2, said[-2000:]
    finally:
        patch.write_bytes(before)


def _comment(patch: bytes) -> tuple[str, int]:
    """A source of the library in which the patch adds a line of comment, and where in the patch that ends."""
    section = rb"^\+\+\+ b/(src/\S+\.cpp)\n((?:[ +@\\-].*\n)*)"
    for found in re.finditer(section, patch, re.MULTILINE):
        if line := re.search(rb"^\+// [^\n]+$", found[2], re.MULTILINE):
            return found[1].decode(), found.start(2) + line.end()
    raise AssertionError("the last patch has no comment to edit")


def _mtimes(clone: Clone) -> dict[str, int]:
    root = clone.folder / ".skippy/llama.cpp"
    command = ["git", "-C", str(root), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: (root / name).lstat().st_mtime_ns for name in listed.stdout.split("\0") if name}


def test_killed_at_random_moments(first: Clone) -> None:
    """Every kill hits a move of the real work tree, or what leads to it; an ignored note survives them."""
    expected = first.applied
    checkout = first.folder / ".skippy/llama.cpp"
    (checkout / "build").mkdir(exist_ok=True)
    (checkout / "build/notes.log").write_text("mine\n", encoding="utf-8")
    begin = time.monotonic()
    first.run("apply", "--to", "0")
    seconds = time.monotonic() - begin
    chance = random.Random(4)
    for attempt in range(KILLS):
        arguments = ["apply", "--to", "0"] if attempt % 2 else ["apply"]
        process = subprocess.Popen(
            [str(first.program), *arguments], cwd=first.folder, env=first.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(chance.uniform(0, seconds))
        os.kill(process.pid, signal.SIGKILL) if attempt % 3 else os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert first.applied == expected
    assert first.shell("git -C .skippy/llama.cpp status --porcelain") == ""
    assert first.shell("git -C .skippy/llama.cpp rev-parse HEAD").strip() == expected
    assert (checkout / "build/notes.log").read_text(encoding="utf-8") == "mine\n"
