"""Commits are told apart by what they are, never by names that follow from subjects."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from skippy_patches.authoring import history
from skippy_patches.authoring.refresh import identity
from skippy_patches.git import Repository
from skippy_patches.objectid import ObjectId
from tests.world import block, git

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.authoring.history import Commit


@dataclasses.dataclass
class Line:
    """A repository in which straight lines of commits are made on one base."""

    folder: Path
    base: ObjectId
    seconds: int = 0

    @property
    def repository(self) -> Repository:
        return Repository(git_dir=self.folder / ".git")

    def commits(self, *changes: tuple[str, str, str]) -> list[Commit]:
        """(subject, file, content), one after the other; made at another date each."""
        git(self.folder, "checkout", "-q", "--detach", self.base)
        for subject, file, content in changes:
            (self.folder / file).write_text(content, encoding="utf-8")
            git(self.folder, "add", "-A")
            self.seconds += 1
            date = f"2026-01-01T00:00:{self.seconds:02d}Z"
            git(self.folder, "commit", "-q", "--allow-empty", "-m", subject, f"--date={date}")

        tip = ObjectId(git(self.folder, "rev-parse", "HEAD"))
        return history.between(self.repository, self.base, tip)

    def match(self, before: list[Commit], after: list[Commit]) -> list[int | None]:
        return identity.match(self.repository, self.base, before, after)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "base")
    return Line(tmp_path, ObjectId(git(tmp_path, "rev-parse", "HEAD")))


LONG = "".join(block(number) for number in range(12))
A = ("a subject", "a", LONG)
B = ("another", "b", LONG.replace("step", "other"))
C = ("third", "c", LONG.replace("step", "third"))


def test_the_same_commits(line: Line) -> None:
    before = line.commits(A, B)
    assert line.match(before, before) == [0, 1]
    assert line.match(before, before[:1]) == [0]
    assert line.match([], before) == [None, None]


@pytest.mark.thorough
def test_another_order_and_a_new_one(line: Line) -> None:
    before = line.commits(A, B)
    after = line.commits(B, ("new", "n", "n"), A)
    assert line.match(before, after) == [1, None, 0]


def test_subjects_that_are_not_unique_are_told_apart_by_content(line: Line) -> None:
    same = [("wip", file, content) for _, file, content in (A, B, C)]
    before = line.commits(*same)
    after = line.commits(same[2], same[0], same[1])
    assert line.match(before, after) == [2, 0, 1]


@pytest.mark.thorough
def test_author_and_date_beat_a_subject_that_is_used_twice(line: Line) -> None:
    before = line.commits(("wip", "a", "1"), ("wip", "b", "2"))
    git(line.folder, "checkout", "-q", "--detach", line.base)
    git(line.folder, "cherry-pick", before[1].id, before[0].id)
    after = history.between(line.repository, line.base, ObjectId(git(line.folder, "rev-parse", "HEAD")))
    assert line.match(before, after) == [1, 0]


def test_another_subject_and_a_small_change(line: Line) -> None:
    before = line.commits(A, B, C)
    changed = ("quite another", "b", B[2].replace("begin", "start", 2))
    assert line.match(before, line.commits(A, changed, C)) == [0, 1, 2]


@pytest.mark.thorough
def test_what_resembles_nothing_is_new(line: Line) -> None:
    before = line.commits(A, B)
    assert line.match(before, line.commits(A, ("unlike", "z", "z\n" * 50))) == [0, None]


@pytest.mark.thorough
def test_a_split_patch_gives_its_name_once(line: Line) -> None:
    before = line.commits(A)
    after = line.commits(("a subject", "a", LONG[:100]), ("a subject", "a", LONG))
    found = line.match(before, after)
    assert sorted(found, key=str) == [0, None]


def test_author_and_date_outlive_another_subject(line: Line) -> None:
    before = line.commits(A, B)
    line.seconds = 0
    after = line.commits(A, ("quite another", "z", "z\n" * 50))
    assert line.match(before, after) == [0, 1]


def test_what_was_made_where_an_edit_stopped_is_that_patch(line: Line) -> None:
    before = line.commits(A, B)
    after = line.commits(A, ("quite another", "z", "z\n" * 50))
    assert line.match(before, after) == [0, None]
    assert identity.match(line.repository, line.base, before, after, (1, 1)) == [0, 1]
    assert identity.match(line.repository, line.base, before, after, (0, 1)) == [0, None]


def test_a_date_that_many_share_tells_nothing(line: Line) -> None:
    before = line.commits(A, B)
    git(line.folder, "commit", "-q", "--allow-empty", "-m", "unlike", f"--date=@{before[0].date}")
    git(line.folder, "rebase", "-q", "--keep-empty", "--onto", before[0].id, before[1].id)
    after = history.between(line.repository, line.base, ObjectId(git(line.folder, "rev-parse", "HEAD")))
    assert line.match(before, after) == [0, None]
