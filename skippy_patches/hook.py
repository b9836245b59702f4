"""`skippy-patches-check`: the queue's check for pre-commit, light enough to run at every commit.

Findings go to stdout, errors of the command to stderr. Exit status: 0 no errors, 1 errors found, 2 usage or
configuration, 3 internal error, 130 interrupted. Nothing heavy is imported here: see tests/test_hook.py.
"""

from __future__ import annotations

import argparse
import io
import sys

from skippy_patches import __version__
from skippy_patches.streams import open_closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from skippy_patches.errors import SkippyError


def main() -> NoReturn:
    """The program. Leaves without cleaning up: for a process that is over, that is CPU spent on nothing."""
    import gc  # noqa: PLC0415
    import os  # noqa: PLC0415

    gc.disable()
    open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names that the locale cannot write
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        status = 1  # the reader has seen enough, as in: skippy-patches-check | head
    except OSError as error:
        from skippy_patches.errors import SystemRefused  # noqa: PLC0415 - imported by then, or it costs little

        status = _refuse(SystemRefused(error))
    except Exception:
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        status = 3
    sys.stderr.flush()
    os._exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run the check and print; the return value is the exit status."""
    options = _parser().parse_args(arguments)
    from skippy_patches.errors import SkippyError  # noqa: PLC0415 - --help and --version need no more

    try:
        return _check(options)
    except SkippyError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        return 130


def _refuse(error: SkippyError) -> int:
    print(f"error: {error}", file=sys.stderr)
    return error.exit_status


def _check(options: argparse.Namespace) -> int:
    from pathlib import Path  # noqa: PLC0415 - see run

    from skippy_patches.queue import check, findings, reader, snapshot  # noqa: PLC0415

    project, queue = reader.read(Path(options.directory), is_staged=options.staged)
    found = check.check_project(queue, project)
    for finding in found:
        if finding.is_error or not options.quiet:
            print(findings.describe(finding))
    if not options.quiet:
        print(findings.summarise(found, len(snapshot.ordered(queue))))
    return 1 if any(finding.is_error for finding in found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skippy-patches-check",
        description="Check the patch queue: numbers, names, envelopes, diffs and safety of every patch.",
        epilog="exit status: 0 no errors, 1 errors found, 2 usage or configuration",
        # Asked for the width of the terminal, argparse imports shutil at every start.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    parser.add_argument(
        "-C", dest="directory", metavar="DIR", default=".", help="the project, or a folder in it"
    )
    parser.add_argument(
        "--staged", action="store_true", help="read the index, not the folder: what the commit will hold"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


if __name__ == "__main__":
    main()
