"""A project in a git repository, with branches on which people added patches, each unaware of the others."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.review.stage import Review, open_reviewer
from skippy_patches.upstream.cache import Cache
from tests.world import Recorder, World, block, git

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skippy_patches.queue.findings import Finding

SOURCE = "src/llama.cpp"
SAME = "docs/same.txt"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Team:
    """world.root is the project, the repository `top` or a folder of it; main is checked out."""

    world: World
    top: Path

    @classmethod
    def create(cls, top: Path, upstream: Path, folder: str = "") -> Team:
        """main has 0019-first and 0020-second, and before them a commit `old` without the project."""
        top.mkdir()
        git(top, "init", "-q")
        team = cls(
            world=World(root=top / folder, upstream=upstream, desk=top.with_name(f"{top.name}-desk")), top=top
        )
        (top / "readme.txt").write_text("one\n", encoding="utf-8")
        team.commit("Before the queue")
        git(top, "branch", "old")
        git(top.parent, "clone", "-q", str(upstream), str(team.world.desk))
        team.world.patches.mkdir(parents=True)
        team.world.configure()
        team.line(19, "first", 3)
        team.world.add(20, "second", {SAME: "same\n" * 30})
        team.commit("The queue")
        return team

    def copy(self, top: Path) -> Team:
        """The same in another place, to be changed."""
        shutil.copytree(self.top, top, symlinks=True)
        root = top / self.world.root.relative_to(self.top)
        return Team(world=dataclasses.replace(self.world, root=root), top=top)

    def line(self, number: int, name: str, at: int) -> None:
        """A patch that puts a line behind step `at` of the source."""
        old = self.world.source(SOURCE)
        self.world.add(number, name, {SOURCE: old.replace(block(at), f"{block(at)}// {name}\n")})

    def commit(self, message: str) -> str:
        """Everything in the work tree, onto the branch that is checked out."""
        git(self.top, "add", "-A")
        git(self.top, "commit", "-q", "-m", message)
        return git(self.top, "rev-parse", "HEAD")

    def move(self, old: str, new: str) -> None:
        """Renumber a patch as people do by hand."""
        git(self.world.root, "mv", f"patches/{old}", f"patches/{new}")

    def write(self, name: str, text: str) -> None:
        (self.top / name).write_text(text, encoding="utf-8")

    def take(self, branch: str, name: str) -> None:
        """Put a patch of another branch into the folder."""
        place = (self.world.patches / name).relative_to(self.top)
        (self.top / place).write_text(git(self.top, "show", f"{branch}:{place}") + "\n", encoding="utf-8")

    def review(self, ours: str, theirs: str, *, wants_apply: bool = True, staged: bool = False) -> Review:
        """Merge on trial. ours: `folder`, `index` or a commit."""
        project, cache = self.world.project(), Cache.default()
        with open_reviewer(project, wants_apply=wants_apply, cache=cache, reporter=Recorder()) as reviewer:
            if ours in ("folder", "index"):
                from skippy_patches.queue import reader  # noqa: PLC0415

                _, snapshot = reader.read(self.world.root, is_staged=ours == "index")
                side = reviewer.lying(snapshot, is_staged=ours == "index")
            else:
                side = reviewer.named(ours)
            return reviewer.review(side, reviewer.named(theirs))


class Branches:
    """Makes branches of main, one after the other."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.names: list[str] = []

    def begin(self, name: str, start: str = "main") -> None:
        git(self.team.top, "checkout", "-q", "-b", name, start)
        self.names.append(name)

    def end(self) -> None:
        """Commit, and forget what the desk has beyond main."""
        self.team.commit(f"Work on {self.names[-1]}")
        git(self.team.world.desk, "reset", "-q", "--hard", "main-ends")
        git(self.team.top, "checkout", "-q", "main")


def make_branches(team: Team) -> None:
    """Every branch that the tests merge; see each comment."""
    git(team.world.desk, "tag", "main-ends")
    branches = Branches(team)
    for name, number, at in (
        ("ada", 21, 9),  # ada and bob collide, and commute
        ("bob", 21, 12),
        ("eve", 21, 12),  # bob and eve put a line at one place
        ("late", 22, 15),
        ("zoe", 20, 18),  # sorts behind 0020-second, and collides with it
    ):
        branches.begin(name)
        team.line(number, name, at)
        branches.end()
    for name in ("fay", "gus"):  # equal lines everywhere: each patch finds a place in either order
        branches.begin(name)
        team.world.add(21, name, {SAME: "same\n" * 10 + f"{name}\n" + "same\n" * 20})
        branches.end()
    branches.begin("renumbering")
    git(team.world.root, "mv", "patches/0020-second.patch", "patches/0025-second.patch")
    branches.end()
    for name in ("rewording", "rephrasing"):  # both edit one patch; and a file that is not the queue's
        branches.begin(name)
        patch = team.world.patches / "0020-second.patch"
        patch.write_bytes(patch.read_bytes().replace(b"Because of 20.", f"Because of {name}.".encode()))
        team.write("readme.txt", f"{name}\n")
        branches.end()
    branches.begin("elsewhere")
    team.write("readme.txt", "elsewhere\n")
    branches.end()
    file = team.world.root / "skippy-patches.yaml"
    for name, place in (("above", "{line}{rest}"), ("below", "{rest}\n{line}")):  # clean, and one key twice
        branches.begin(name)
        file.write_text(place.format(line="bands: {mtp: 100-199}\n", rest=file.read_text()), encoding="utf-8")
        branches.end()
    branches.begin("older", "old")
    team.write("other.txt", "no project here\n")
    branches.end()


def codes(found: Iterable[Finding]) -> list[str]:
    return sorted(finding.code for finding in found)


def one(found: Iterable[Finding], code: str) -> Finding:
    """The one finding with this code."""
    (finding,) = (each for each in found if each.code == code)
    return finding


def everything(folder: Path) -> dict[str, str]:
    """Path -> digest, mode and time of every file below `folder`, but for generated ones.

    The time of an object is left out: git freshens those that it would write again.
    """
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != ".skippy"]
        for path in (Path(place, name) for name in names):
            state = path.lstat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            time = 0 if ".git/objects" in str(path) else state.st_mtime_ns
            found[str(path.relative_to(folder))] = f"{digest} {state.st_mode:o} {time}"
    return found
