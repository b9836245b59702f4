"""The application: global options, commands, and the one place that turns errors into output."""

from __future__ import annotations

import enum
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from skippy_patches import __version__
from skippy_patches.cli import (
    apply,
    bisect,
    build,
    check,
    doctor,
    edit,
    init,
    new,
    queue,
    recipe,
    record,
    refresh,
    renumber,
    sbom,
    status,
    test,
    verify,
)
from skippy_patches.cli.console import NORMAL, QUIET, VERBOSE, Terminal
from skippy_patches.cli.session import Session
from skippy_patches.errors import SkippyError, SystemRefused


class _Commands(TyperGroup):
    """With -v, what the system refused is also told with its place in the program: it may be a defect."""

    def invoke(self, ctx: Any) -> Any:  # a context of click's, whose type typer keeps to itself
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # typer ends quietly then
        except OSError:
            if ctx.params["verbose"]:
                traceback.print_exc()
            raise


app = typer.Typer(
    name="skippy-patches",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A numbered patch queue on a pinned llama.cpp: the same commit everywhere, built, tested, recorded.",
    epilog="Exit status: 0 ok, 1 findings, 2 usage or configuration, 3 internal error, 4 a patch does not "
    "apply, 5 dirty or wrong tree, 6 build failed, 7 tests failed or none ran.",
)
for module in (
    init, apply, check, queue, new, edit, refresh, renumber, status, recipe, doctor, build, test, record,
    verify, sbom, bisect,
):  # fmt: skip
    module.register(app)


class Color(enum.StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def _version(asked: bool) -> None:
    if asked:
        print(f"skippy-patches {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Option("-C", metavar="DIR", help="Run as if started in DIR.", show_default=False)
    ] = Path(),
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say more.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say only results and errors.")] = False,
    color: Annotated[
        Color, typer.Option(envvar="SKIPPY_PATCHES_COLOR", help="auto heeds NO_COLOR and FORCE_COLOR.")
    ] = Color.AUTO,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
    if color is not Color.AUTO:  # for errors, too, which are shown when the context is gone
        os.environ.pop("NO_COLOR", None)
        os.environ["NO_COLOR" if color is Color.NEVER else "FORCE_COLOR"] = "1"
    verbosity = VERBOSE if verbose else QUIET if quiet else NORMAL
    context.obj = Session(folder=directory, terminal=Terminal.open(verbosity=verbosity))


def run() -> None:
    """Run the command line and exit with its status."""
    # What a CI job is cancelled with; as ^C it ends ninja, the compilers and the tests, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams, both
    try:
        app()
    except SkippyError as error:
        Terminal.open().error(error)
        sys.exit(error.exit_status)
    except OSError as error:
        Terminal.open().error(SystemRefused(error))
        sys.exit(SystemRefused.exit_status)
    except Exception as error:
        traceback.print_exc()
        what = f"An internal error of skippy-patches {__version__}: {error}"
        Terminal.open().error(SkippyError(what, mend="Please report it with the lines above."))
        sys.exit(SkippyError.exit_status)
