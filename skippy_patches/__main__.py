"""Where both `skippy-patches` and `python -m skippy_patches` begin.

An `apply` that finds nothing to do answers here, before anything large is imported and without git; see
`apply/stamp.py`. Everything else goes on to the command line.
"""

from __future__ import annotations

import os
import sys

from skippy_patches.streams import open_closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run the command line and exit with its status."""
    open_closed()
    printed = _at_a_glance(sys.argv[1:])
    if printed is None:
        from skippy_patches.cli.app import run  # noqa: PLC0415 - 150 ms that the fast answer saves

        run()
    else:
        _print(printed)
        os._exit(0)  # nothing is open: what a clean exit does is a tenth of the whole


def _print(text: str) -> None:
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a text stream
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain again at exit
        if not isinstance(error, BrokenPipeError):  # else the reader has seen enough
            from skippy_patches.errors import SystemRefused  # noqa: PLC0415

            print(f"error: {SystemRefused(error)}", file=sys.stderr)
            sys.exit(SystemRefused.exit_status)


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
    import gc  # noqa: PLC0415

    from skippy_patches.apply import stamp  # noqa: PLC0415 - os and hashlib, nothing more

    gc.disable()  # thousands of names come, and none goes
    root = _root(folder)
    answer = stamp.answer(root, os.environ) if root else None
    gc.enable()
    return None if answer is None else answer[len(words) > 1]


def _root(folder: str) -> str | None:
    """As config.find, whose tests hold for both; the long way tells what is wrong when there is none."""
    if not os.path.isdir(folder):  # noqa: PTH112
        return None
    try:
        place = os.path.realpath(folder)
    except FileNotFoundError:  # the current folder was deleted
        return None
    while not os.path.exists(os.path.join(place, "skippy-patches.yaml")):  # noqa: PTH110, PTH118
        parent = os.path.dirname(place)  # noqa: PTH120
        if parent == place or os.path.exists(os.path.join(place, ".git")):  # noqa: PTH110, PTH118
            break
        place = parent
    return place


if __name__ == "__main__":
    main()
