"""One scenario under every hostile setting: the same commits each time, and the host as it was."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apply.scenario import author_queue
from tests.world import World, git

SETTINGS = {
    "advice.detachedHead": "true",
    "alias.am": "!false",
    "am.keepcr": "false",
    "am.messageId": "true",
    "am.threeWay": "true",
    "apply.ignoreWhitespace": "change",
    "apply.whitespace": "fix",
    "color.ui": "always",
    "column.ui": "always",
    "commit.gpgSign": "true",
    "commit.template": "/nonexistent",
    "core.abbrev": "4",
    "core.autocrlf": "true",
    "core.commentChar": "S",
    "core.editor": "false",
    "core.eol": "crlf",
    "core.fileMode": "false",
    "core.fsmonitor": "true",
    "core.pager": "false",
    "core.precomposeUnicode": "true",
    "core.quotePath": "false",
    "core.safecrlf": "true",
    "core.sparseCheckout": "true",
    "core.splitIndex": "true",
    "core.symlinks": "false",
    "core.untrackedCache": "true",
    "core.whitespace": "tab-in-indent,trailing-space,cr-at-eol",
    "diff.algorithm": "patience",
    "diff.external": "false",
    "diff.mnemonicPrefix": "true",
    "diff.noprefix": "true",
    "diff.renames": "copies",
    "fetch.fsckObjects": "true",
    "fetch.prune": "true",
    "format.signOff": "true",
    "format.subjectPrefix": "RFC",
    "gpg.program": "false",
    "i18n.commitEncoding": "ISO-8859-1",
    "i18n.logOutputEncoding": "ISO-8859-1",
    "init.defaultBranch": "skippy",
    "log.showSignature": "true",
    "mailinfo.scissors": "true",
    "mailinfo.quotedCr": "strip",
    "merge.conflictStyle": "diff3",
    "protocol.version": "0",
    "rerere.enabled": "true",
    "safe.bareRepository": "explicit",
    "status.showUntrackedFiles": "no",
    "submodule.recurse": "true",
    "tag.gpgSign": "true",
    "transfer.fsckObjects": "true",
    "user.email": "someone@example.com",
    "user.name": "Someone Else",
    "user.signingKey": "none",
    "user.useConfigOnly": "true",
}
LOCALES = ("C", "C.UTF-8", "de_DE.ISO-8859-1", "tr_TR.UTF-8")
COMPILED = {"de_DE.ISO-8859-1": "de_DE", "tr_TR.UTF-8": "tr_TR"}  # charset and upper case of their own
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns")
_FAST = {("Asia/Kathmandu", "de_DE.ISO-8859-1")}
PLACES = [
    pytest.param(*place, marks=[] if place in _FAST else pytest.mark.thorough)
    for place in itertools.product(ZONES, LOCALES)
]


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory, upstream: Path) -> World:
    """A project with the scenario's queue, never applied itself."""
    world = World.create(tmp_path_factory.mktemp("hermetic") / "project", upstream)
    author_queue(world)
    return world


@pytest.fixture(scope="module")
def expected(queue: World, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What git am makes of the queue, in a repository without any configuration."""
    folder = tmp_path_factory.mktemp("reference")
    git(folder, "clone", "-q", str(queue.upstream), "llama")
    clone = folder / "llama"
    committer = {"GIT_COMMITTER_NAME": "Skippy Patches", "GIT_COMMITTER_EMAIL": "skippy-patches@localhost"}
    switches = ("--keep-cr", "--no-scissors", "--committer-date-is-author-date", "--whitespace=nowarn")
    files = sorted(str(file) for file in queue.patches.iterdir())
    git(clone, "am", "-q", *switches, *files, env=committer)
    return git(clone, "rev-parse", "HEAD")


@pytest.fixture
def world(queue: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A copy of the project that was never applied, inside a host repository; nothing is cached."""
    monkeypatch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(tmp_path / "cache"))
    host = tmp_path / "host"
    shutil.copytree(queue.root, host / "project")
    git(host, "init", "-q")
    git(host, "add", "-A")
    git(host, "commit", "-q", "-m", "The host")
    return World(root=host / "project", upstream=queue.upstream, desk=queue.desk)


def _configure_user(setting: str, value: str) -> None:
    home = Path(os.environ["HOME"])
    subprocess.run(["git", "config", "--file", str(home / ".gitconfig"), "--add", setting, value], check=True)


def _attributes(home: Path) -> None:
    (home / ".config/git").mkdir(parents=True, exist_ok=True)
    (home / ".config/git/attributes").write_text("* text eol=crlf\n*.cpp -diff\n", encoding="utf-8")
    (home / ".config/git/ignore").write_text("*\n", encoding="utf-8")


def _hooks(home: Path) -> None:
    """Hooks that change or refuse everything, and a template that would install more of them."""
    for folder in (home / "hooks", home / "template/hooks"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (
            "applypatch-msg",
            "pre-applypatch",
            "post-checkout",
            "post-commit",
            "reference-transaction",
        ):
            (folder / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            (folder / name).chmod(0o755)
    (home / "template/info").mkdir(exist_ok=True)
    (home / "template/info/attributes").write_text("* text eol=crlf\n", encoding="utf-8")
    _configure_user("core.hooksPath", str(home / "hooks"))
    _configure_user("init.templateDir", str(home / "template"))


def _check(world: World, expected: str) -> None:
    """Apply twice: everything, then everything again from nothing but the reused prefix."""
    before = git(world.root, "rev-parse", "HEAD")
    assert world.apply().applied.patched.commit == expected
    assert world.inside("rev-parse", "HEAD") == expected
    assert world.inside("status", "--porcelain") == ""
    assert world.inside("symbolic-ref", "HEAD") == "refs/heads/skippy"
    again = world.apply()
    assert (again.moved, again.applied.reused) == (False, 7)
    assert git(world.root, "rev-parse", "HEAD") == before
    assert git(world.root, "status", "--porcelain") == ""


@pytest.mark.thorough  # all of them together are tried below
@pytest.mark.case(4, 5, 6, 7, 8)
@pytest.mark.parametrize("setting", SETTINGS)
def test_one_hostile_setting(world: World, expected: str, setting: str) -> None:
    _configure_user(setting, SETTINGS[setting])
    _check(world, expected)


@pytest.mark.case(4, 5, 6, 7, 8, 9, 27)
def test_all_hostile_settings_together(
    world: World, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = Path(os.environ["HOME"])
    for setting, value in SETTINGS.items():
        _configure_user(setting, value)
    _attributes(home)
    _hooks(home)
    for name, value in _hostile_environment(world, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_ALL", "de_DE.ISO-8859-1")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    _check(world, expected)


def test_hostile_attributes_and_ignores_of_the_user(world: World, expected: str) -> None:
    _attributes(Path(os.environ["HOME"]))
    _check(world, expected)


def test_hostile_hooks_and_templates(world: World, expected: str) -> None:
    _hooks(Path(os.environ["HOME"]))
    _check(world, expected)


def _hostile_environment(world: World, tmp_path: Path) -> dict[str, str]:
    host = world.root.parent
    decoy = tmp_path / "decoy-index"
    shutil.copy(host / ".git/index", decoy)
    return {
        "GIT_DIR": str(host / ".git"),
        "GIT_WORK_TREE": str(host),
        "GIT_INDEX_FILE": str(decoy),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "apply.whitespace",
        "GIT_CONFIG_VALUE_0": "error-all",
        "GIT_CONFIG_PARAMETERS": "'core.autocrlf'='true'",
        "GIT_AUTHOR_NAME": "Nobody",
        "GIT_COMMITTER_NAME": "Nobody",
        "GIT_COMMITTER_DATE": "1 +0000",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_ATTR_SOURCE": "HEAD",
        "GIT_TRACE": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_QUARANTINE_PATH": str(tmp_path),
        "EMAIL": "nobody@example.com",
    }


@pytest.mark.case(2, 3)
@pytest.mark.parametrize(
    "name",
    ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_TRACE"],
)
def test_one_hostile_variable(
    world: World, expected: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hostile = _hostile_environment(world, tmp_path)
    for each in (key for key in hostile if key.startswith(name.removesuffix("_COUNT"))):
        monkeypatch.setenv(each, hostile[each])
    _run_and_compare(world, expected, dict(os.environ))


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled locales; a system knows few, and silently takes C for others."""
    return tmp_path_factory.mktemp("locales")


def _compile(locales: Path, name: str) -> None:
    """One locale with localedef(1), a second of CPU."""
    if not (locales / name).exists():
        command = ["localedef", "-i", COMPILED[name], "-f", name.split(".")[1], str(locales / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (locales / name).is_dir(), f"sh scripts/system-packages.sh installs locales: {done.stderr}"


@pytest.mark.case(27)
@pytest.mark.parametrize(("zone", "locale"), PLACES)
def test_locale_and_time_zone(world: World, expected: str, locale: str, zone: str, locales: Path) -> None:
    place = {}
    if locale in COMPILED:
        _compile(locales, locale)
        place["LOCPATH"] = str(locales)
    env = {**os.environ, **place, "LC_ALL": locale, "TZ": zone, "LANG": locale}
    _run_and_compare(world, expected, env)


def test_the_compiled_locale_is_in_force(locales: Path) -> None:
    """Else the test above would prove nothing."""
    _compile(locales, "de_DE.ISO-8859-1")
    env = {**os.environ, "LOCPATH": str(locales), "LC_ALL": "de_DE.ISO-8859-1"}
    command = [sys.executable, "-c", "import sys; print(sys.getfilesystemencoding())"]
    assert (
        subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout == "iso8859-1\n"
    )


def _run_and_compare(world: World, expected: str, env: dict[str, str]) -> None:
    """Run the real command line in `env`, then look with a clean one."""
    host_index = (world.root.parent / ".git/index").read_bytes()
    done = world.run("apply", env=env)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    assert world.inside("rev-parse", "HEAD") == expected
    assert (world.root.parent / ".git/index").read_bytes() == host_index


@pytest.mark.case(2, 3)
def test_inside_a_hook_of_a_linked_worktree(world: World, expected: str, tmp_path: Path) -> None:
    """git exports GIT_DIR and GIT_INDEX_FILE there, and they name the host."""
    host = world.root.parent
    linked = tmp_path / "linked"
    git(host, "worktree", "add", "-q", "-b", "work", str(linked))
    hook = host / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    program = f'"{sys.executable}" -m skippy_patches -C "{linked}/project"'
    call = f'{program} apply --format json >"{tmp_path}/out.json"'
    hook.write_text(f'#!/bin/sh\nset -e\nenv >"{tmp_path}/env"\n{call}\n', encoding="utf-8")
    hook.chmod(0o755)
    (linked / "file").write_text("staged\n", encoding="utf-8")
    git(linked, "add", "file")
    home = {name: os.environ[name] for name in ("HOME", "SKIPPY_PATCHES_CACHE_DIR")}
    git(linked, "commit", "-q", "-m", "Through the hook", env={**home, "PYTHONPATH": str(Path.cwd())})
    assert "GIT_INDEX_FILE=" in (tmp_path / "env").read_text(encoding="utf-8")
    assert expected in (tmp_path / "out.json").read_text(encoding="utf-8")
    assert git(linked, "show", "--format=%s", "--name-only", "HEAD").split() == [
        "Through",
        "the",
        "hook",
        "file",
    ]
    assert git(linked / "project/.skippy/llama.cpp", "rev-parse", "HEAD") == expected
    assert git(linked, "status", "--porcelain") == ""
