"""The canonical mount, by the real unshare: a system that forbids namespaces to users fails here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import arguments, cmake, mount
from skippy_patches.build.errors import MountImpossible
from tests.build.test_cmake import hashes

if TYPE_CHECKING:
    from collections.abc import Callable

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain
    from tests.build.conftest import Bench, Listener

REAL = (Path("/home/ann/llama.cpp"), Path("/home/ann/build/cpu/tree"))


def test_two_folders_give_the_same_bytes_without_any_prefix_map(
    tmp_path: Path,
    new_bench: Callable[[Path], Bench],
    recipe: Recipe,
    tools: Toolchain,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arguments, "prefix_maps", lambda source, tree: ())
    benches = [new_bench(tmp_path / name) for name in ("one", "another of other length")]
    made = [cmake.build(each.applied, recipe, tools, each.layout, method=mount.MOUNT) for each in benches]
    assert hashes(made[0]) == hashes(made[1])
    assert [built.method for built in made] == [mount.MOUNT, mount.MOUNT]
    assert str(mount.SOURCE) in made[0].arguments
    assert made[0].source == benches[0].applied.checkout.resolve()
    plain = cmake.build(benches[0].applied, recipe, tools, benches[0].layout, method=mount.PREFIX_MAP)
    assert hashes(plain) != hashes(made[0])


def test_a_program_sees_the_machine_and_two_folders_more(tmp_path: Path) -> None:
    source, tree = tmp_path / "src", tmp_path / "build/cpu/tree"
    source.mkdir()
    tree.mkdir(parents=True)
    (source / "mine").write_text("1", encoding="utf-8")
    place = mount.of(mount.MOUNT, source, tree)
    script = (
        f'cat {mount.SOURCE}/mine && pwd && touch tree/made && test -e "{source}/mine" && ls /usr/bin/env'
    )
    done = subprocess.run([*place.front, "sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"1{mount.FOLDER}\n/usr/bin/env\n"), done.stderr
    assert (tree / "made").stat().st_uid == os.geteuid()
    assert not Path("/skippy-patches").exists()


def test_names_are_translated_whole() -> None:
    source, tree = REAL
    place = mount.Place(
        method=mount.MOUNT, source=mount.SOURCE, tree=mount.FOLDER / "tree", real=REAL, front=("x",)
    )
    text = f"-I{source}/include -I{source}-2 {tree}/a.o"
    inside = f"-I{mount.SOURCE}/include -I{source}-2 {mount.FOLDER}/tree/a.o"
    assert place.inside(text) == inside
    assert place.outside(inside) == text
    assert place.environment({"CCACHE_BASEDIR": "/", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_only_cuda_asks_for_it_and_a_refusal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener
) -> None:
    fake = tmp_path / "unshare"
    fake.write_text("#!/bin/sh\necho unshare failed: Operation not permitted >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(MountImpossible, match="Operation not permitted") as caught:
        mount.of(mount.MOUNT, *REAL)
    assert caught.value.exit_status == 6
    assert mount.choose(*REAL, compiles_cuda=False, reporter=listener).method == mount.PREFIX_MAP
    assert not listener.steps
    place = mount.choose(*REAL, compiles_cuda=True, reporter=listener)
    assert (place.method, place.front) == (mount.PREFIX_MAP, ())
    assert "Operation not permitted" in listener.steps[0]
