"""A checkout to work in: alone in it, and with whatever a killed command left put right."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import move
from skippy_patches.apply.errors import IndexLocked
from skippy_patches.errors import WrongTree
from skippy_patches.files import make_generated_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.config import Project
    from skippy_patches.progress import Reporter


@contextlib.contextmanager
def hold(project: Project, reporter: Reporter, *, discard: bool = False) -> Iterator[Checkout]:
    """The project's checkout, locked and made where needed.

    discard: a move that was interrupted and cannot be finished is given up; what is there then is to be
    saved. Raises NotOurs, IndexLocked, ForeignAttributes, and ForeignWork for an interrupted move.
    """
    path = project.checkout.resolve()  # two names of one folder have one lock
    make_generated_folder(project.state)
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock.hold(path.with_name(f".{path.name}.lock"), reporter) as descriptor:
        checkout = checkouts.open_existing(path) or checkouts.create(path)
        repository = dataclasses.replace(checkout.repository, inherited=(descriptor,))
        checkout = dataclasses.replace(checkout, repository=repository)
        if checkout.running.exists():
            move.clear_locks(checkout)
        checkout.running.write_bytes(b"")
        try:
            _put_right(checkout, reporter, discard=discard)
            yield checkout
        except Exception:  # ended by itself; a kill or ^C leaves the mark, and maybe locks of git's
            checkout.running.unlink(missing_ok=True)
            raise
        checkout.running.unlink(missing_ok=True)


def _put_right(checkout: Checkout, reporter: Reporter, *, discard: bool) -> None:
    """Empty the scratch space, settle the attributes, and finish a move that was interrupted."""
    shutil.rmtree(checkout.scratch, ignore_errors=True)
    checkout.scratch.mkdir()
    checkouts.settle_attributes(checkout)
    index_lock = checkout.repository.git_dir / "index.lock"
    if index_lock.exists():
        raise IndexLocked(index_lock)
    unfinished = move.pending(checkout)
    if unfinished is None:
        checkout.journal.unlink(missing_ok=True)  # one that cannot be read is none
        return
    reporter.step(f"Finishing an interrupted move to {unfinished.new.short}")
    try:
        move.finish(checkout, unfinished)
    except WrongTree:
        if not discard:
            raise
        checkout.journal.unlink()  # what is there is saved, as it stands
