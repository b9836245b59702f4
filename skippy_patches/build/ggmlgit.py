"""The commit that libggml-base names: the last one that changed ggml/.

ggml/CMakeLists.txt asks git for HEAD and hands the answer to every file of ggml-base. So a patch to any
other folder would compile nine files again and give a library of the same sources other bytes. The program
that it calls is a cache variable, GIT_EXE (b10361); it gets one that answers for the folder it is asked in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "GIT_EXE"
_PROGRAM = """\
#!/bin/sh
# Written by skippy-patches: the short commit of this folder instead of the repository's.
if [ "$1" = rev-parse ]; then exec git log -1 --format=%h -- .; fi
exec git "$@"
"""


def place(tree: Path) -> Path:
    """Where the program of the build folder `tree` is."""
    return tree / "git-of-ggml"


def write(tree: Path) -> None:
    """Put it there."""
    program = place(tree)
    program.write_text(_PROGRAM, encoding="ascii")
    program.chmod(0o755)
