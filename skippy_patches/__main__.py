"""Where both `skippy-patches` and `python -m skippy_patches` begin.

An `apply` that finds nothing to do answers here, before anything large is imported and without git; see
`apply/stamp.py`. Everything else goes on to the command line.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run the command line and exit with its status."""
    printed = _at_a_glance(sys.argv[1:])
    if printed is None:
        from skippy_patches.cli.app import run  # noqa: PLC0415 - 150 ms that the fast answer saves

        run()
    else:
        _print(printed)


def _print(text: str) -> None:
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a text stream
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader has seen enough; Python would complain again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _at_a_glance(arguments: Sequence[str]) -> str | None:
    """The answer of an apply that changes nothing, or None for the long way.

    Only the plainest spellings count: [-C DIR] apply [--format json].
    """
    words = list(arguments)
    folder = os.curdir
    if len(words) > 2 and words[0] == "-C":
        folder, words = words[1], words[2:]
    if words not in (["apply"], ["apply", "--format", "json"], ["apply", "--format=json"]):
        return None
    from skippy_patches.apply import stamp  # noqa: PLC0415 - os and hashlib, nothing more

    answer = stamp.answer(_root(folder), os.environ)
    return None if answer is None else answer[len(words) > 1]


def _root(folder: str) -> str:
    """The nearest folder at or above `folder` with a configuration; the long way tells when there is none."""
    place = os.path.abspath(folder)  # noqa: PTH100
    while not os.path.exists(os.path.join(place, "skippy-patches.yaml")):  # noqa: PTH110, PTH118
        parent = os.path.dirname(place)  # noqa: PTH120
        if parent == place or os.path.exists(os.path.join(place, ".git")):  # noqa: PTH110, PTH118
            break
        place = parent
    return place


if __name__ == "__main__":
    main()
