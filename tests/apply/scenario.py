"""One whole queue with everything that configuration, locale or identity could change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.once import once
from tests.world import World, block

if TYPE_CHECKING:
    from skippy_patches.apply.result import Applied


def author_queue(world: World) -> None:
    """Seven patches: text, CRLF, binary, rename with mode and symlink, mails that git rewrites."""
    once(world, _author)


def apply_queue(world: World) -> Applied:
    """The same, applied."""
    return once(world, _author_and_apply)


def _author_and_apply(world: World) -> Applied:
    author_queue(world)
    return world.apply().applied


def _author(world: World) -> None:
    text = world.source("src/llama.cpp")
    world.commit(
        {"src/llama.cpp": text.replace(block(3), block(3) + block(300))}, "[skippy] a tag  of its own."
    )
    world.export(1, "tagged")
    windows = world.source("src/windows.txt").replace("two\r\n", "two and a half\r\n")
    world.add(2, "crlf", {"src/windows.txt": windows})
    world.add(3, "binary", {"logo.bin": bytes(range(255, -1, -1)) * 8, "empty.bin": b"\0\1\2"})
    world.add(5, "trailing", {"src/trailing.txt": "blanks at the end   \n\n\nnew \t\nlast"})
    _rename_and_link(world)
    world.export(6, "rename")
    world.commit(
        {
            "src/llama.cpp": world.source("src/llama.cpp").replace(
                "work();\n    end", "work();\n    more();\n    end"
            )
        },
        "Umlaut im Betreff: Größe\n\nKörper mit ü.\n\nSigned-off-by: Ada Author <ada@example.org>",
        "--author=Jürgen Müller. <j@example.org>",
        "--date=2025-12-31T23:59:59-1130",
    )
    world.export(7, "umlaut")
    world.add(9, "last", {"docs/new/deep.md": "new\n", "docs/readme.md": None})


def _rename_and_link(world: World) -> None:
    (world.desk / "src/step.cpp").write_bytes((world.desk / "src/llama.cpp").read_bytes())
    (world.desk / "src/step.cpp").chmod(0o755)
    (world.desk / "link").symlink_to("docs/readme.md")
    world.commit({}, "Copy, mode and link\n\n  * one\n  * two")
