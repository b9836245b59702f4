"""Shows a build its folders under names that are the same everywhere: the canonical mount.

Prefix maps rewrite the paths that C and C++ compilers write down. nvcc knows none: its objects hold where the
source is, and names that it makes of that. So whatever configures, compiles or tests for CUDA is started in
a mount namespace of its own (mount_namespaces(7), unshare(1)), whose root has all that the machine's has and
two folders more, SOURCE and FOLDER. No rights are needed where users may make namespaces. Whether that is so
is found out by trying.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.errors import MountImpossible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.progress import Reporter

PREFIX_MAP, MOUNT = "prefix-map", "mount"  # the methods: words of records
SOURCE = Path("/skippy-patches/src")
FOLDER = Path("/skippy-patches/build")  # what holds cmake's folder: the one of the recipe, see layout.py
_SCRIPT = Path(__file__).with_name("mount.sh")
_RELATIVE = "CCACHE_BASEDIR"
_TIMEOUT = 20  # seconds; it takes some 20 ms


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """Where a build's programs see its folders.

    method: PREFIX_MAP or MOUNT. source, tree: the checkout and cmake's folder, as they see them.
    real: the same two as everybody else does. front: what stands in front of each program.
    """

    method: str
    source: Path
    tree: Path
    real: tuple[Path, Path]
    front: tuple[str, ...] = ()

    def environment(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """`variables` without what makes ccache rewrite paths: they are the same everywhere already."""
        return {name: text for name, text in variables.items() if not self.front or name != _RELATIVE}

    def inside(self, text: str) -> str:
        """`text` with the names that the programs know."""
        return _replaced(text, dict(zip(self._outer, self._inner, strict=True)))

    def outside(self, text: str) -> str:
        """`text` of a program with the names that everybody knows."""
        return _replaced(text, dict(zip(self._inner, self._outer, strict=True)))

    @property
    def _outer(self) -> tuple[Path, ...]:
        source, tree = self.real
        return (source, tree.parent) if self.front else ()

    @property
    def _inner(self) -> tuple[Path, ...]:
        return (SOURCE, FOLDER) if self.front else ()


def choose(source: Path, tree: Path, *, compiles_cuda: bool, reporter: Reporter) -> Place:
    """The place of a build: the mount for CUDA where it can be had, which is told, and none for the rest."""
    if compiles_cuda:
        try:
            return of(MOUNT, source, tree)
        except MountImpossible as error:
            reporter.step(f"Another folder would give other CUDA objects: {error.what} {error.why}")
    return of(PREFIX_MAP, source, tree)


def of(method: str, source: Path, tree: Path) -> Place:
    """The place for a method, also of a build that was made earlier. Raises MountImpossible (6)."""
    real = (source, tree)
    if method != MOUNT:
        return Place(method=method, source=source, tree=tree, real=real)
    inner = FOLDER / tree.name
    front = (*_way(), str(source), str(tree.parent))
    return Place(method=method, source=SOURCE, tree=inner, real=real, front=front)


def _way() -> tuple[str, ...]:
    """What starts the script in a namespace. Raises MountImpossible unless it was seen to work."""
    if sys.platform != "linux":
        raise MountImpossible("Only Linux has mount namespaces.")
    unshare = shutil.which("unshare")
    if unshare is None:
        raise MountImpossible("There is no unshare on PATH (package util-linux).")
    ways: list[tuple[str, ...]] = (
        [("--mount",)] if os.geteuid() == 0 else []
    )  # root may be without the right to, in a container
    ways.append(("--map-root-user", "--mount"))
    problem = ""
    for options in ways:
        command = (unshare, *options, "sh", str(_SCRIPT))
        problem = _problem(command)
        if not problem:
            return command
    raise MountImpossible(problem)


def _problem(command: tuple[str, ...]) -> str:
    """What goes wrong when a program is started so; nothing when nothing does."""
    trial = [*command, "/usr", "/usr", "test", "-d", f"{SOURCE}/bin"]
    try:
        done = subprocess.run(
            trial,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = " ".join(done.stderr.decode("utf-8", "replace").split())
    return "" if done.returncode == 0 else said or f"status {done.returncode}"


def _replaced(text: str, names: dict[Path, Path]) -> str:
    """Whole names only: /a/src is not part of /a/src2."""
    if not names:
        return text
    longest_first = sorted(map(str, names), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    return re.sub(rf"({pattern})(?![\w.-])", lambda match: str(names[Path(match[1])]), text)
