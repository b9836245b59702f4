"""Every carrier of the pin gives the genuine commit, or says why not."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading
from typing import TYPE_CHECKING

import pytest

from skippy_patches.upstream.errors import NoSource
from tests.world import Recorder, World, git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    monkeypatch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def queue(world: World) -> World:
    """A project with one patch."""
    world.add(1, "one", {"src/new.cpp": "int one;\n"})
    return world


@pytest.fixture
def squashed(queue: World, tmp_path: Path) -> Path:
    """A repository whose only commit has the pin's tree and is not the pin."""
    folder = tmp_path / "squashed"
    shutil.copytree(queue.upstream, folder, ignore=shutil.ignore_patterns(".git"))
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "## SQUASHED ##")
    return folder


def _bundle(folder: Path, file: Path, *refs: str) -> str:
    git(folder, "bundle", "create", "-q", str(file), *(refs or ("HEAD",)))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _mirrors(world: World, *lines: str, repository: str = "/nowhere/at/all") -> None:
    listed = "".join(f"    - {line}\n" for line in lines)
    world.configure(upstream=f"  repository: {repository}\n  mirrors:\n{listed}")


def _assert_genuine(world: World) -> None:
    """The pin is there with its own bytes, and whole."""
    assert world.inside("rev-parse", "HEAD^") == world.pin
    assert world.inside("log", "-1", "--format=%an %s", "HEAD^") == "Ada Author The pin"
    git(world.checkout, "fsck", "--connectivity-only")
    assert world.inside("rev-list", "--count", "HEAD") == "2"


def test_repository(queue: World) -> None:
    queue.apply()
    _assert_genuine(queue)


def test_every_carrier_gives_the_same_commit(
    queue: World, squashed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _bundle(squashed, tmp_path / "squashed.bundle")
    _bundle(queue.upstream, tmp_path / "genuine.bundle", "main")
    carriers = (
        f"directory: {queue.upstream}",
        f"directory: {squashed}",
        f"{{bundle: {tmp_path}/squashed.bundle, sha256: {digest}}}",
        f"bundle: {tmp_path}/genuine.bundle",
        f"bundle: {squashed}",
    )
    commits = set()
    for number, carrier in enumerate(carriers):
        monkeypatch.setenv("SKIPPY_PATCHES_CACHE_DIR", str(tmp_path / f"cache-{number}"))
        subprocess.run(["rm", "-rf", str(queue.checkout)], check=True)
        _mirrors(queue, carrier)
        commits.add(queue.apply().applied.patched.commit)
        _assert_genuine(queue)
    assert len(commits) == 1


def test_the_cache_serves_the_second_checkout(queue: World) -> None:
    first = queue.apply().applied
    subprocess.run(["rm", "-rf", str(queue.checkout)], check=True)
    queue.configure(upstream="  repository: /nowhere/at/all\n")
    reporter = Recorder()
    assert queue.apply(reporter=reporter).applied.patched == first.patched
    assert not [step for step in reporter.steps if "Fetching" in step]


def test_a_damaged_cache_is_made_again(queue: World, cache: Path) -> None:
    queue.apply()
    subprocess.run(["rm", "-rf", str(queue.checkout)], check=True)
    place = cache / "upstream" / f"{queue.pin}.git"
    for pack in place.glob("objects/pack/*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:-40] + bytes(40))
    for loose in place.glob("objects/??/*"):
        loose.chmod(0o644)
        loose.write_bytes(b"garbage")
    reporter = Recorder()
    queue.apply(reporter=reporter)
    assert any("cannot be used and is made again" in step for step in reporter.steps)
    _assert_genuine(queue)


def test_what_a_killed_fetch_left_is_removed_after_a_day(queue: World, cache: Path) -> None:
    old, young = cache / "upstream/abandoned-1", cache / "upstream/busy-2"
    for folder in (old, young):
        (folder / "repository.git").mkdir(parents=True)
    os.utime(old, (1, 1))
    queue.apply()
    assert sorted(path.name for path in (cache / "upstream").iterdir()) == sorted(
        [f"{queue.pin}.git", "busy-2"]
    )


def test_nothing_is_left_of_a_failed_fetch(queue: World, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.bundle").write_bytes(b"# v2 git bundle\nnot a bundle")
    _mirrors(queue, f"bundle: {tmp_path}/broken.bundle")
    with pytest.raises(NoSource):
        queue.apply()
    assert list((cache / "upstream").iterdir()) == []


def test_every_failure_is_listed_with_its_reason(queue: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "Another tree")
    _bundle(other, tmp_path / "other.bundle")
    _mirrors(
        queue,
        f"directory: {tmp_path}/missing",
        f"directory: {other}",
        f"bundle: {tmp_path}/missing.bundle",
        f"{{bundle: {tmp_path}/other.bundle, sha256: {'0' * 64}}}",
        "bundle: ftp://example.org/llama.bundle",
    )
    done = queue.run("apply")
    assert done.returncode == 2
    reasons = (
        "/nowhere/at/all",
        "there is no such folder",
        "it carries tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904, the pin's is",
        "missing.bundle cannot be read: No such file or directory",
        "the configuration says 0000",
        "only http, https and file addresses can be downloaded",
        "hint: Mend one of them",
    )
    for reason in reasons:
        assert reason in done.stderr


def test_without_a_commit_object_only_the_commit_will_do(queue: World, squashed: Path) -> None:
    text = (queue.root / "skippy-patches.yaml").read_text(encoding="utf-8")
    plain = "\n".join(line for line in text.splitlines() if "commit_object" not in line)
    (queue.root / "skippy-patches.yaml").write_text(
        plain.replace(str(queue.upstream), str(squashed)), "utf-8"
    )
    with pytest.raises(NoSource, match=r"not our ref|only the commit itself will do|did not contain"):
        queue.apply()
    (queue.root / "skippy-patches.yaml").write_text(plain, "utf-8")
    queue.apply()
    _assert_genuine(queue)


@pytest.mark.parametrize("change", [b"\n", b" "])
def test_a_changed_commit_object_is_named(queue: World, change: bytes) -> None:
    file = queue.root / "upstream.commit"
    file.write_bytes(file.read_bytes() + change)
    done = queue.run("apply")
    assert done.returncode == 2
    assert f"not the pin {queue.pin}" in done.stderr
    assert f"git cat-file commit {queue.pin} > upstream.commit" in done.stderr


def test_moving_the_pin_keeps_the_checkout_genuine(queue: World, upstream: Path, tmp_path: Path) -> None:
    """The old pin's boundary stays, the new one's is drawn beside it."""
    queue.apply()
    newer = tmp_path / "newer"
    git(tmp_path, "clone", "-q", str(upstream), str(newer))
    (newer / "docs/readme.md").write_text("# Newer\n", encoding="utf-8")
    git(newer, "commit", "-q", "-a", "-m", "The pin\n\nNewer")
    moved = World(root=queue.root, upstream=newer, desk=queue.desk)
    moved.configure()
    moved.apply()
    _assert_genuine(moved)
    assert moved.inside("show", "HEAD:docs/readme.md") == "# Newer"


# Downloads


class _Handler(http.server.SimpleHTTPRequestHandler):
    cut = False

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def copyfile(self, source: object, outputfile: object) -> None:
        content = source.read()  # type: ignore[attr-defined]
        outputfile.write(content[: len(content) // 2] if self.cut else content)  # type: ignore[attr-defined]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, type[_Handler]]]:
    """A web server on loopback that serves the test's folder; with `cut` it hangs up half way."""
    handler = type("Handler", (_Handler,), {})
    serving = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(tmp_path))
    )
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}", handler
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_a_bundle_at_an_address(
    queue: World, squashed: Path, tmp_path: Path, server: tuple[str, type[_Handler]]
) -> None:
    digest = _bundle(squashed, tmp_path / "llama.bundle")
    _mirrors(queue, f"{{bundle: {server[0]}/llama.bundle, sha256: {digest}}}")
    reporter = Recorder()
    queue.apply(reporter=reporter)
    _assert_genuine(queue)
    size = (tmp_path / "llama.bundle").stat().st_size
    assert ("Downloading", size, size) in reporter.progress


def test_an_interrupted_download_is_never_used(
    queue: World, squashed: Path, tmp_path: Path, server: tuple[str, type[_Handler]]
) -> None:
    _bundle(squashed, tmp_path / "llama.bundle")
    server[1].cut = True
    _mirrors(queue, f"bundle: {server[0]}/llama.bundle")
    with pytest.raises(NoSource, match="the download ended early"):
        queue.apply()
    server[1].cut = False
    queue.apply()
    _assert_genuine(queue)


def test_an_address_that_answers_with_an_error(queue: World, server: tuple[str, type[_Handler]]) -> None:
    _mirrors(queue, f"bundle: {server[0]}/missing.bundle")
    with pytest.raises(NoSource, match="404"):
        queue.apply()


# npm: the real npm, packing a folder in place of a registry's package


def _package(folder: Path, bundle: Path) -> Path:
    """A tarball as `npm pack` leaves it, which npm can be asked to pack again."""
    content = {
        "package/package.json": b'{"name": "carrier", "version": "1.0.0"}',
        "package/llama/git.bundle": bundle.read_bytes(),
    }
    file = folder / "carrier-1.0.0.tgz"
    with tarfile.open(file, "w:gz") as tar:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return file


def test_a_bundle_in_an_npm_package(queue: World, squashed: Path, tmp_path: Path) -> None:
    digest = _bundle(squashed, tmp_path / "llama.bundle")
    package = _package(tmp_path, tmp_path / "llama.bundle")
    _mirrors(queue, f"{{npm: 'file:{package}', path: llama/git.bundle, sha256: {digest}}}")
    queue.apply()
    _assert_genuine(queue)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("path: llama/other.bundle", "holds no file llama/other.bundle"),
        (f"path: llama/git.bundle, sha256: {'1' * 64}", "the configuration says 1111"),
    ],
)
def test_npm_packages_that_do_not_serve(
    queue: World, squashed: Path, tmp_path: Path, entry: str, reason: str
) -> None:
    _bundle(squashed, tmp_path / "llama.bundle")
    package = _package(tmp_path, tmp_path / "llama.bundle")
    _mirrors(queue, f"{{npm: 'file:{package}', {entry}}}")
    with pytest.raises(NoSource, match=reason):
        queue.apply()


def test_without_npm(queue: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        found = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    _mirrors(queue, "{npm: carrier@1.0.0, path: x}")
    with pytest.raises(NoSource, match="npm is not on PATH"):
        queue.apply()
    assert os.environ["PATH"] == str(tools)
