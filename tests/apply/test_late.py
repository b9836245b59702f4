"""An apply that waits for another command works on what that one left, not on what it read before."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply import working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter
    from tests.world import World


def meanwhile(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Have `do` done by another command, just before the next one gets the checkout."""
    hold = working.hold

    @contextlib.contextmanager
    def late(project: Project, reporter: Reporter, *, discard: bool = False) -> Iterator[Checkout]:
        do()
        with hold(project, reporter, discard=discard) as checkout:
            yield checkout

    monkeypatch.setattr(working, "hold", late)


def test_a_queue_that_changed_while_it_waited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        world.add(number, f"p{number}", {f"docs/{number}.md": "x\n"})
    world.apply()
    second = world.patches / "0002-p2.patch"
    content = second.read_bytes()
    with monkeypatch.context() as patched:
        meanwhile(patched, second.unlink)
        assert "Applied 1 patch on" in world.run("apply").stdout
    second.write_bytes(content)
    assert "Applied 2 patches on" in world.run("apply").stdout


@pytest.mark.thorough
def test_a_configuration_that_changed_is_not_mixed_with_the_old_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(1, "p1", {"docs/1.md": "x\n"})
    world.apply()
    meanwhile(monkeypatch, lambda: world.configure("subject_prefix: keep\n"))
    done = world.run("apply")
    assert done.returncode == 5
    assert "Run it again" in done.stderr
