"""A renumbering as a value: which file gets which name and why, and what was seen to stay as it is."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from skippy_patches.queue.patch import join
from skippy_patches.renumber.pins import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skippy_patches.apply.ledger import Row
    from skippy_patches.numbers import Band
    from skippy_patches.queue.patch import Patch
    from skippy_patches.renumber.pins import Pins
    from skippy_patches.renumber.proof import Proof

_NUMBER = len("0000")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Move:
    """A patch, the number that it gets, and why that is another one, or why it stays; empty: no reason."""

    patch: Patch
    number: int
    reason: str

    @property
    def is_rename(self) -> bool:
        """Whether the file gets another name."""
        return self.number != self.patch.number

    @property
    def renamed(self) -> Patch:
        """The patch under its new name."""
        name = f"{self.number:04d}{self.patch.name[_NUMBER:]}" if self.is_rename else self.patch.name
        return self.patch._replace(name=name, number=self.number)

    @property
    def target(self) -> str:
        """The new path, relative to the project."""
        return join(self.patch.lane, self.renamed.name)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap:
    """Numbers that no patch will have, `first` to `last`, and what keeps them free."""

    first: int
    last: int
    reason: str

    @property
    def numbers(self) -> str:
        """`0022`, or `0022-0029`."""
        return f"{self.first:04d}" + (f"-{self.last:04d}" if self.last > self.first else "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """The queue with its new numbers.

    moves: in the new apply order, which is that of today when `is_order_kept`. before, after: queue digests.
    proof: what applying both gave; None when no file is renamed, and nothing was applied. series: bytes of
    the series files that name renamed patches, before and after. notes: sentences.
    """

    moves: tuple[Move, ...]
    before: str
    after: str
    is_order_kept: bool
    proof: Proof | None
    gaps: tuple[Gap, ...]
    series: Mapping[str, tuple[bytes, bytes]]
    notes: tuple[str, ...]

    @property
    def renames(self) -> dict[str, str]:
        """Old path -> new path, of the files that get another name."""
        return {move.patch.path: move.target for move in self.moves if move.is_rename}

    def rows(self) -> Iterator[tuple[Move, Row | None]]:
        """Every move with the commit of the prefix that ends there, where it was applied."""
        rows = self.proof.rows if self.proof else ()
        yield from itertools.zip_longest(self.moves, rows)

    @property
    def first_difference(self) -> str:
        """The new path of the first patch whose prefix gets another commit; empty: all keep theirs."""
        proof = self.proof
        if proof is None or proof.is_order_kept or proof.equal >= len(self.moves):
            return ""
        return self.moves[proof.equal].target

    def as_json(self, *, is_written: bool) -> dict[str, Any]:
        """The object that `renumber --format json` prints, without schema_version; docs/json.md."""
        error = self.proof.error if self.proof else None
        return {
            "written": is_written,
            "renamed": len(self.renames),
            "patches": [_row_as_json(move, row) for move, row in self.rows()],
            "queue_digest": {"before": self.before, "after": self.after},
            "is_order_kept": self.is_order_kept,
            "prefixes_compared": len(self.proof.rows) if self.proof else 0,
            "prefixes_equal": self.proof.equal if self.proof else 0,
            "differs_from": self.first_difference or None,
            "stops": None if error is None else {"what": error.what, "why": error.why},
            "series": list(self.series),
            "gaps": [dataclasses.asdict(gap) for gap in self.gaps],
            "notes": list(self.notes),
        }


def _row_as_json(move: Move, row: Row | None) -> dict[str, Any]:
    return {
        "file": move.patch.path,
        "new_file": move.target,
        "number": move.patch.number,
        "new_number": move.number,
        "reason": move.reason,
        "commit": row.commit if row else None,
        "tree": row.tree if row else None,
    }


def moves_of(
    patches: Sequence[Patch], numbers: Sequence[int], pins: Mapping[str, Sequence[str]]
) -> tuple[Move, ...]:
    """The moves, each with its reason."""
    stays = {number: patch for patch, number in zip(patches, numbers, strict=True) if patch.number == number}
    gets = dict(zip(numbers, patches, strict=True))
    shared = {
        number
        for number, same in itertools.groupby(sorted(patch.number for patch in patches))
        if len(list(same)) > 1
    }
    moves = []
    for patch, number in zip(patches, numbers, strict=True):
        pin = f"pinned by {shown(pins[patch.path])}" if patch.path in pins else ""
        if patch.number == number:
            reason = pin or ("keeps the number that others have, too" if number in shared else "")
        elif (owner := stays.get(patch.number)) is not None:
            pin = f", pinned by {shown(pins[owner.path])}" if owner.path in pins else ""
            reason = f"{patch.number:04d} stays with {owner.path}{pin}"
        elif patch.number in gets:
            reason = f"makes room for {gets[patch.number].path}"
        else:
            reason = (
                "closes a gap" if number < patch.number and patch.number not in shared else "keeps the order"
            )
        moves.append(Move(patch=patch, number=number, reason=reason))
    return tuple(moves)


def gaps_of(moves: Sequence[Move], pins: Pins, bands: Sequence[Band], *, close_gaps: bool) -> tuple[Gap, ...]:
    """The numbers between the lowest and the highest that are left free."""
    by_number = {move.number: move for move in moves}
    gaps = []
    for below, above in itertools.pairwise(sorted(by_number)):
        if above - below > 1:
            holder = by_number[above].patch.path
            held = pins.pinned.get(holder, ())
            named = [number for number in range(below + 1, above) if number in pins.reserved]
            border = next((band for band in bands if _parts(band, below, above)), None)
            if border is not None:
                reason = f"band {border.name} ({border.first:04d}-{border.last:04d}) begins or ends there"
            elif not close_gaps:
                reason = "gaps are kept"
            elif named:
                reason = f"{shown(pins.reserved[named[0]])} names {named[0]:04d}, of a patch that is gone"
            else:
                reason = f"{holder} is pinned by {shown(held)}" if held else "keeps the order"
            gaps.append(Gap(first=below + 1, last=above - 1, reason=reason))
    return tuple(gaps)


def _parts(band: Band, below: int, above: int) -> bool:
    """Whether the band begins or ends between the two numbers."""
    return (below in band) != (above in band) or below < band.first <= band.last < above
