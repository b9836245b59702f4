"""The commit of every prefix of a queue: what is known is taken from the ledger, the rest is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.apply.errors import LostCommits
from skippy_patches.apply.ledger import prefix_keys
from skippy_patches.errors import PatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.apply.engine import IndexEngine
    from skippy_patches.apply.ledger import Ledger, Row
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.pin import Pin


def apply(engine: IndexEngine, pin: Pin, patches: Sequence[Patch], ledger: Ledger) -> tuple[list[Row], int]:
    """A row a patch, and how many of them were known from before. Raises PatchError.

    The ledger gets every row that was made, also of the patches before one that does not apply; the caller
    saves it.
    """
    rows, reused, error = until_error(engine, pin, patches, ledger)
    if error is not None:
        raise error
    return rows, reused


def until_error(
    engine: IndexEngine, pin: Pin, patches: Sequence[Patch], ledger: Ledger
) -> tuple[list[Row], int, PatchError | None]:
    """As `apply`: the rows up to the first patch that does not apply, and its error."""
    options = engine.options
    keys = prefix_keys(pin.commit, options.committer, options.subject_prefix, patches)
    rows = _still_there(engine, ledger.longest(keys))
    reused = len(rows)
    for count in range(reused, len(patches)):
        engine.reporter.advance("Applying", count + 1, len(patches))
        try:
            row = engine.apply(rows[-1].commit if rows else pin.commit, patches[count])
        except PatchError as error:
            return rows, reused, error
        ledger.add(keys[count], row)
        rows.append(row)
    _prove(engine, pin, patches, rows)
    return rows, reused, None


def _still_there(engine: IndexEngine, rows: list[Row]) -> list[Row]:
    """`rows` when git still has the last one's commit and tree, else nothing: git gc may have been there."""
    known = bool(rows) and engine.repository.resolve(f"{rows[-1].commit}^{{tree}}") == rows[-1].tree
    return rows if known else []


def _prove(engine: IndexEngine, pin: Pin, patches: Sequence[Patch], rows: Sequence[Row]) -> None:
    """As many commits on the pin as patch files."""
    if rows:
        counted = engine.repository.run("rev-list", "--count", f"{pin.commit}..{rows[-1].commit}").line
        if int(counted) != len(patches):
            raise LostCommits(len(patches), int(counted))
