"""A series file with another order, or other patches in it: comments stay with the line below them.

The file's own head, which a blank line separates from the first patch, stays where it is.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from skippy_patches.queue import series

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Listed:
    """A patch in the order to be. before: its name in the series file now, None when it is new."""

    name: str
    before: str | None


def rewrite(content: bytes, order: Sequence[Listed]) -> bytes:
    """`content` with exactly the patches of `order`. A line whose patch goes leaves its comments behind."""
    blocks, end = _blocks(content)
    head: list[bytes] = []
    for name in list(blocks)[:1]:
        head, blocks[name] = _without_head(*blocks[name])
    kept = {each.before for each in order}
    orphans: list[bytes] = []
    for name in list(blocks):
        above, line = blocks[name]
        blocks[name] = ([*orphans, *above], line)
        orphans = []
        if name not in kept:
            orphans = blocks.pop(name)[0]
    written: list[bytes] = []
    for each in order:
        new = os.fsencode(each.name)
        comments, found = blocks.get(each.before or "", ([], new))
        written += [*comments, found.replace(os.fsencode(each.before), new, 1) if each.before else new]
    return b"".join(line + b"\n" for line in (*head, *written, *orphans, *end))


def _without_head(above: list[bytes], line: bytes) -> tuple[list[bytes], tuple[list[bytes], bytes]]:
    """What stands above the last blank line over the first patch, and the patch's own block."""
    blank = max((at for at, each in enumerate(above) if not each.strip()), default=-1)
    return above[: blank + 1], (above[blank + 1 :], line)


def _blocks(content: bytes) -> tuple[dict[str, tuple[list[bytes], bytes]], list[bytes]]:
    """Name -> the comments above its line, and the line; then what stands behind the last one."""
    named = {line.number: line.name for line in series.parse(content)}
    blocks: dict[str, tuple[list[bytes], bytes]] = {}
    above: list[bytes] = []
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if number in named:
            blocks[named[number]] = (above, line)
            above = []
        else:
            above.append(line)
    return blocks, above
