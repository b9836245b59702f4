"""Options that several commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from skippy_patches.cli.completion import recipe_names

SCHEMA_VERSION = 1


class Format(enum.StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="JSON goes to stdout alone, as one object.")]
RecipeOption = Annotated[
    str,
    typer.Option(
        "--recipe",
        metavar="NAME",
        envvar="SKIPPY_PATCHES_RECIPE",
        autocompletion=recipe_names,
        help="recipes/NAME.yaml.",
    ),
]
LauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        envvar="SKIPPY_PATCHES_LAUNCHER",
        help="In front of the compilers: ccache, sccache, none, or auto: what skippy-patches.yaml says, else "
        "ccache where there is one. It is recorded.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        envvar="SKIPPY_PATCHES_JOBS",
        help="Compilers at once. Default: as many as cores and memory allow.",
    ),
]
CudaArchOption = Annotated[
    str,
    typer.Option(
        "--cuda-arch",
        metavar="LIST",
        help="For which GPUs, as 86,90. Default: those of this machine, else the recipe's.",
        show_default=False,
    ),
]
DEFAULT_RECIPE = "cpu"
