"""The blocks of a `GIT binary patch`: base85 of deflated data, and whether all of it is there.

Format: a line `literal SIZE` or `delta SIZE`, data lines (a length character, A-Z for 1 to 26 and a-z for
27 to 52 bytes, then base85 in groups of five), and an empty line.
"""

from __future__ import annotations

from skippy_patches.queue.diff import BinaryBlock, Problem

BINARY_LINE = b"GIT binary patch"
_METHODS = (b"literal", b"delta")


def read_blocks(lines: list[bytes], at: int) -> tuple[tuple[BinaryBlock, ...], int, Problem | None]:
    """One or two blocks from index `at`; the index below them; what is wrong with them, if anything."""
    blocks: list[BinaryBlock] = []
    while len(blocks) < 2 and (header := _block_header(lines, at)) is not None:
        end = at + 1
        while end < len(lines) and lines[end]:
            end += 1
        block = BinaryBlock(at + 1, header[0], header[1], lines[at + 1 : end])
        blocks.append(block)
        problem = _problem(block, end, is_ended=end < len(lines))
        if problem is not None:
            return tuple(blocks), end, problem
        at = end + 1
    if not blocks:
        what = "a binary patch without its literal or delta block"
        return (), at, Problem("truncated-binary", min(at, len(lines) - 1) + 1, what)
    return tuple(blocks), at, None


def inflate(block: BinaryBlock) -> bytes | None:
    """The data of the block: content (literal) or git's delta; None when it is damaged or cut short."""
    import base64  # noqa: PLC0415 - binary patches are few
    import zlib  # noqa: PLC0415

    try:
        packed = b"".join(base64.b85decode(line[1:])[: _length(line)] for line in block.lines)
        data = zlib.decompressobj().decompress(packed, block.size + 1)  # never more than announced
    except (ValueError, zlib.error):
        return None
    return data if len(data) == block.size else None


def _block_header(lines: list[bytes], at: int) -> tuple[str, int] | None:
    if at >= len(lines):
        return None
    method, _, size = lines[at].partition(b" ")
    return (method.decode(), int(size)) if method in _METHODS and size.isdigit() and len(size) < 12 else None


def _problem(block: BinaryBlock, end: int, *, is_ended: bool) -> Problem | None:
    for number, line in enumerate(block.lines, block.line + 1):
        length, groups = _length(line), len(line) // 5
        if len(line) % 5 != 1 or not groups * 4 - 4 < length <= groups * 4:
            return Problem("truncated-binary", number, "a line of the binary patch is damaged")
    if not is_ended:
        return Problem("truncated-binary", end, "the binary patch stops in the middle of a block")
    if inflate(block) is None:
        what = f"the binary block does not hold the {block.size} bytes that it announces"
        return Problem("truncated-binary", block.line, what)
    return None


def _length(line: bytes) -> int:
    char = line[0]
    if ord("A") <= char <= ord("Z"):
        return char - ord("A") + 1
    return char - ord("a") + 27 if ord("a") <= char <= ord("z") else 0
