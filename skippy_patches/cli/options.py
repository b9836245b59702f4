"""Options that several commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

import contextlib
import enum
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from skippy_patches.cli.completion import recipe_names
from skippy_patches.cli.session import Session
from skippy_patches.errors import SkippyError

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


class RecipeCommand(TyperCommand):
    """A command with --recipe, to which people also say --rocm, or --cuda where there is no such flag."""

    backends: ClassVar[tuple[str, ...]] = ()  # those that have a flag of their own

    def parse_args(self, ctx: Any, args: list[str]) -> Any:  # a context of click's, see app.py
        """As typer does, but a backend or recipe that is written as a flag is told from a misspelt option."""
        known = {word for parameter in self.params for word in (*parameter.opts, *parameter.secondary_opts)}
        known.update(ctx.help_option_names)
        for word in args if not ctx.resilient_parsing else ():  # the shell asks what may come next
            if word.startswith("--") and word.partition("=")[0] not in known:
                self._refuse(word[2:], ctx)
        return super().parse_args(ctx, args)

    def _refuse(self, name: str, context: typer.Context) -> None:
        from skippy_patches.build import backends, recipe  # noqa: PLC0415 - only a mistake needs them
        from skippy_patches.build.errors import NoSuchFlag  # noqa: PLC0415

        recipes: tuple[str, ...] = ()
        with contextlib.suppress(SkippyError):
            recipes = recipe.names(Session.of(context).project().recipes)
        if backends.is_one(name) or name in recipes:
            raise NoSuchFlag(name, self.backends, recipes)
