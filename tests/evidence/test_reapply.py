"""The patched commit is made again from what the record names, wherever its patches and pin are today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skippy_patches.evidence import evidencefile, reapply
from skippy_patches.evidence.checked import DIFFERS, SAME, UNKNOWN
from skippy_patches.evidence.verify import now
from skippy_patches.upstream.cache import Cache
from tests.evidence.made import changed
from tests.renumber.branches import commit
from tests.world import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.evidence.checked import Checked
    from skippy_patches.evidence.record import Record
    from tests.renumber.branches import Author
    from tests.world import World


def _check(world: World, made: Record) -> list[Checked]:
    project = world.project()
    claim = evidencefile.of_record(made)
    return list(reapply.check(claim, project, now(project).patches, Cache.default(), Recorder()))


def _outcomes(rows: list[Checked]) -> list[str]:
    return [row.outcome for row in rows]


def test_the_commit_comes_out_again_and_the_checkout_is_left_alone(built: tuple[World, Record]) -> None:
    world, made = built
    before = world.inside("rev-parse", "HEAD")
    (world.checkout / "src/a.c").write_text("work\n", encoding="utf-8")
    assert _outcomes(_check(world, made)) == [SAME, SAME, SAME]
    assert world.inside("rev-parse", "HEAD") == before
    assert (world.checkout / "src/a.c").read_text(encoding="utf-8") == "work\n"


def test_numbers_and_names_do_not_count(built: tuple[World, Record]) -> None:
    world, made = built
    (world.patches / "0001-first.patch").rename(world.patches / "0009-late.patch")
    assert _outcomes(_check(world, made))[1:] == [SAME, SAME]


def test_another_committer_has_the_same_tree(built: tuple[World, Record]) -> None:
    world, made = built
    world.configure("committer: {name: Somebody, email: s@example.org}\n")
    commit_, tree, prefixes = _check(world, made)
    assert (commit_.outcome, tree.outcome, prefixes.found) == (
        DIFFERS,
        SAME,
        "others of 0001-first.patch and 2 more",
    )
    assert "committer" in commit_.why


def test_a_record_that_claims_another_commit(built: tuple[World, Record]) -> None:
    world, made = built
    rows = made.content["patches"]
    other = [rows[0], {**rows[1], "tree": "0" * 40}, {**rows[2], "commit": "0" * 40, "tree": "1" * 40}]
    lie = changed(made, patched={"commit": "0" * 40, "tree": "1" * 40}, patches=other)
    found = _check(world, lie)
    assert _outcomes(found) == [DIFFERS, DIFFERS, DIFFERS]
    assert found[0].why == "The trees differ from 0002-second.patch on."
    assert found[0].found == made.content["patched"]["commit"]


def test_patches_that_do_not_follow_each_other(built: tuple[World, Record]) -> None:
    world, made = built
    rows = made.content["patches"]
    (found,) = _check(world, changed(made, patches=[rows[1], rows[0], rows[2]]))
    assert found.outcome == DIFFERS
    assert "does not apply" in found.why


def test_an_edited_patch_is_taken_from_history(built: tuple[World, Record]) -> None:
    """A year later: the queue moved on, and the project's commits still have what it was."""
    world, made = built
    edited = world.patches / "0003-apart.patch"
    original = edited.read_bytes()
    edited.write_bytes(original.replace(b"+apart", b"+other"))
    found = _check(world, made)
    assert _outcomes(found) == [UNKNOWN, UNKNOWN]
    assert "0003-apart.patch" in found[0].why
    edited.write_bytes(original)
    commit(world, "the queue")
    edited.write_bytes(original.replace(b"+apart", b"+other"))
    commit(world, "another queue")
    lost = [patch for patch in evidencefile.of_record(made).patches if patch.number == 3]
    recovered = reapply.recover(world.project(), lost)
    assert [patch.content for patch in recovered.values()] == [original]
    assert _outcomes(_check(world, made)) == [SAME, SAME, SAME]


def test_without_a_repository_there_is_no_history(built: tuple[World, Record]) -> None:
    world, made = built
    assert not reapply.recover(world.project(), evidencefile.of_record(made).patches)


def test_a_pin_that_is_nowhere_is_not_fetched(
    author: tuple[World, Author], built: tuple[World, Record]
) -> None:
    world, made = built
    pin = {"commit": "7" * 40, "tree": "8" * 40, "tag": "b7"}
    found = _check(world, changed(made, upstream=pin))
    assert _outcomes(found) == [UNKNOWN, UNKNOWN]
    assert "skippy-patches apply fetches it" in found[0].why


def test_without_a_checkout_the_cache_serves(
    built: tuple[World, Record], tmp_path: Path, shared_cache: Path
) -> None:
    world, made = built
    world.checkout.rename(tmp_path / "elsewhere")
    world.configure(upstream="  repository: /nowhere/at/all\n")
    assert Cache.default().root == shared_cache
    assert _outcomes(_check(world, made)) == [SAME, SAME, SAME]


@pytest.mark.parametrize(("key", "value"), [("commit", "0" * 40), ("subject", "other"), ("insertions", 9)])
def test_a_prefix_that_was_edited_in_the_ledger(built: tuple[World, Record], key: str, value: object) -> None:
    world, made = built
    rows = made.content["patches"]
    found = _check(world, changed(made, patches=[rows[0], {**rows[1], key: value}, rows[2]]))
    assert _outcomes(found) == [SAME, SAME, DIFFERS]
    assert found[2].found == "others of 0002-second.patch"
