"""Builds a second time, elsewhere, and compares every library: are the bytes those of the sources alone?

The second build has a checkout of its own, in which the queue is applied once more, a build folder, paths of
other lengths, copies of the recipes, empty folders for temporary files and for home, and no compiler cache.
Tools and flags are the same. What is the same in both and might not be elsewhere: the tools' own folders, the
kernel, the user.
"""

from __future__ import annotations

import dataclasses
import filecmp
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches import lock
from skippy_patches.apply import stage
from skippy_patches.build import bytescause, bytesdiff, cmake, each
from skippy_patches.build.bytescause import Folder, LibraryDifference
from skippy_patches.build.layout import Layout
from skippy_patches.build.reproduce_errors import NoRoom, NotReproducible, QueueMoved
from skippy_patches.files import make_generated_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skippy_patches.build.artifacts import Artifact
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.result import Built
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.cache import Cache
    from skippy_patches.upstream.pin import Pin

    Queue = tuple[Pin, Sequence[Patch]]
    Equip = Callable[[Project, Layout], tuple[Recipe, Toolchain]]

FOLDER = "reproduce"
_TEMPORARY, _HOME = "TMPDIR", "HOME"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Two builds of one commit. differences: none, and the second one's folder is gone again."""

    first: Built
    second: Built
    differences: tuple[LibraryDifference, ...]

    def as_json(self) -> dict[str, Any]:
        """As docs/json.md has it."""
        return {
            "equal": not self.differences,
            "kept": str(self.second.tree) if self.differences else None,
            "differences": [difference.as_json() for difference in self.differences],
        }

    def check(self) -> None:
        """Raise NotReproducible (1) when a library differs."""
        if self.differences:
            names = {artifact.name for built in (self.first, self.second) for artifact in built.artifacts}
            kept = (self.first.tree, self.second.tree)
            raise NotReproducible(self.differences, count=len(names), kept=kept)


def compare(
    project: Project,
    queue: Queue,
    first: Built,
    equip: Equip,
    *,
    jobs: int | None,
    cache: Cache,
    reporter: Reporter,
) -> Reproduction:
    """Build what `first` is of once more, and compare.

    equip: reads the recipe of the project that it is given, for a build in that layout. The second build is
    kept when a library differs. Raises NoRoom, QueueMoved, and as apply and build do.
    """
    place = project.state / FOLDER
    folder = place / first.recipe
    make_generated_folder(project.state)
    with lock.hold(place / "lock", reporter):
        if folder.exists():
            shutil.rmtree(folder)
        _say_what_it_takes(first, folder, reporter)
        there = _elsewhere(project, queue[0], folder)
        second = _build(there, queue, first, equip, jobs, cache, reporter)
        done = Reproduction(first=first, second=second, differences=_compare(first, second, folder))
        if not done.differences:
            shutil.rmtree(folder)
    return done


def _elsewhere(project: Project, pin: Pin, folder: Path) -> Project:
    """The project with checkout and recipes below `folder`."""
    for name in (_TEMPORARY, _HOME):
        (folder / name.lower()).mkdir(parents=True)
    _copy_recipes(project, folder / "recipes")
    apart = each.apart(project, pin, folder / "llama.cpp")
    return apart._replace(recipes=folder / "recipes")


def _copy_recipes(project: Project, to: Path) -> None:
    """Without what is hidden, and the checkout: the folder of the recipes may be the project's own."""

    def left_out(place: str, names: list[str]) -> set[str]:
        return {name for name in names if name.startswith(".") or Path(place, name) == project.checkout}

    shutil.copytree(project.recipes, to, ignore=left_out, ignore_dangling_symlinks=True)


def _build(
    there: Project,
    queue: Queue,
    first: Built,
    equip: Equip,
    jobs: int | None,
    cache: Cache,
    reporter: Reporter,
) -> Built:
    done = stage.apply(there, lambda: queue, stage.Request(), cache=cache, reporter=reporter)
    applied = done.applied
    if applied.patched != first.patched:
        raise QueueMoved(first.patched.commit.short, applied.patched.commit.short)
    folder = there.checkout.parent
    layout = Layout.of(folder / "in-another-folder", first.recipe)
    layout.folder.mkdir(parents=True)
    recipe, tools = equip(there, layout)
    others = {name: str(folder / name.lower()) for name in (_TEMPORARY, _HOME)}
    return cmake.build(
        applied,
        recipe,
        dataclasses.replace(tools, launcher=None),
        layout,
        jobs=jobs,
        method=first.method,
        variables={**os.environ, **others},
        reporter=reporter,
    )


def _say_what_it_takes(first: Built, folder: Path, reporter: Reporter) -> None:
    """Told before it begins. Raises NoRoom."""
    wanted = _size(first.tree) + _size(first.source)
    free = shutil.disk_usage(folder.parent).free
    if free < wanted:
        raise NoRoom(folder, wanted=wanted, free=free)
    steps, seconds = _logged(first.tree)
    took = f"{seconds / 60:.0f} minutes" if seconds >= 60 else f"{seconds:.0f} seconds"
    cached = ", cache and all" if first.toolchain.launcher else ""
    reporter.step(
        f"Building {first.recipe} once more in {folder}: another checkout and build folder, no compiler cache"
    )
    reporter.step(
        f"That is {steps} steps, which took one core {took} before{cached}, and {wanted >> 20} MB of disk, "
        "which are free again when all libraries are the same"
    )


def _size(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(Path(place, name).lstat().st_size for place, _, names in os.walk(folder) for name in names)


def _logged(tree: Path) -> tuple[int, float]:
    """How many steps are in ninja's log, and how many seconds they took (START END TIME OUTPUT HASH)."""
    steps: dict[tuple[str, ...], float] = {}
    for line in (tree / ".ninja_log").read_text("utf-8", "replace").splitlines():
        if len(words := line.split("\t")) == 5:
            steps[words[0], words[1], words[4]] = (int(words[1]) - int(words[0])) / 1000
    return len(steps), sum(steps.values())


def _compare(first: Built, second: Built, folder: Path) -> tuple[LibraryDifference, ...]:
    ones, others = ({each.name: each for each in built.artifacts} for built in (first, second))
    pairs = [(ones.get(name), others.get(name)) for name in dict.fromkeys((*ones, *others))]
    differing = [pair for pair in pairs if not (pair[0] and pair[1] and pair[0].sha256 == pair[1].sha256)]
    if not differing:
        return ()
    objects = _objects(first.tree, second.tree)
    folders = _folders(first, second, folder)
    return tuple(_difference(*pair, objects, folders) for pair in differing)


def _folders(first: Built, second: Built, folder: Path) -> tuple[Folder, ...]:
    """Those that were others in the second build. A home is what the first one was told, if anything."""
    temporary, home = Path(tempfile.gettempdir()), os.environ.get(_HOME)
    known = [
        Folder(name="the checkout", first=first.source, second=second.source),
        Folder(name="the build folder", first=first.tree.parent, second=second.tree.parent),
        Folder(name="the folder for temporary files", first=temporary, second=folder / _TEMPORARY.lower()),
    ]
    if home:
        known.append(Folder(name="the home folder", first=Path(home), second=folder / _HOME.lower()))
    return tuple(known)


def _difference(
    one: Artifact | None, other: Artifact | None, objects: Sequence[str], folders: Sequence[Folder]
) -> LibraryDifference:
    made = one or other
    assert made is not None  # noqa: S101 - one of them made it
    if one is None or other is None:
        return LibraryDifference(
            name=made.name,
            first=one.path if one else None,
            second=other.path if other else None,
            causes=(bytescause.ABSENT,),
        )
    own = f"/{made.name.removeprefix('lib').partition('.')[0]}.dir/"  # libNAME is made of NAME's objects
    mine = tuple(name for name in objects if own in f"/{name}") or tuple(objects)
    sections = bytesdiff.differing(one.path, other.path)
    return LibraryDifference(
        name=made.name,
        first=one.path,
        second=other.path,
        sections=sections,
        objects=mine,
        causes=bytescause.find(sections, mine, folders),
    )


def _objects(first: Path, second: Path) -> tuple[str, ...]:
    """The object files that only one folder has, or that differ."""
    names = {str(file.relative_to(tree)) for tree in (first, second) for file in tree.rglob("*.o")}
    return tuple(sorted(name for name in names if not _is_same(first / name, second / name)))


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)
