"""`skippy-patches build`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skippy_patches.cli.options import (
    DEFAULT_RECIPE,
    CudaArchOption,
    Format,
    FormatOption,
    JobsOption,
    LauncherOption,
    RecipeCommand,
    RecipeOption,
)
from skippy_patches.cli.session import Session

if TYPE_CHECKING:
    from skippy_patches.build.result import Built
    from skippy_patches.cli.console import Terminal

BACKENDS = ("cpu", "cuda", "metal", "vulkan", "hip", "rpc")


class BuildCommand(RecipeCommand):
    """It has flags for backends."""

    backends = BACKENDS


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        cls=BuildCommand,
        help="Apply if needed, configure, build and record. Libraries and logs: .skippy/build/RECIPE/.",
        epilog="Example: skippy-patches build --cpu --jobs 4  # the libraries, and their record",
    )(build)


def _backend(name: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(f"--{name}", help=f"Short for --recipe {name}.")
    return option


def build(  # noqa: PLR0913, PLR0917 - one parameter an option of the command line
    context: typer.Context,
    recipe: RecipeOption = DEFAULT_RECIPE,
    cpu: Annotated[bool, _backend("cpu")] = False,
    cuda: Annotated[bool, _backend("cuda")] = False,
    metal: Annotated[bool, _backend("metal")] = False,
    vulkan: Annotated[bool, _backend("vulkan")] = False,
    hip: Annotated[bool, _backend("hip")] = False,
    rpc: Annotated[bool, _backend("rpc")] = False,
    cuda_arch: CudaArchOption = "",
    jobs: JobsOption = None,
    launcher: LauncherOption = "auto",
    check_reproducible: Annotated[
        bool,
        typer.Option(
            "--check-reproducible",
            help="Build once more, elsewhere and without a cache. Exit status 1: a library differs.",
        ),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    from skippy_patches.build.doctor.case import Asked  # noqa: PLC0415 - each command imports its own stages
    from skippy_patches.build.layout import Layout  # noqa: PLC0415
    from skippy_patches.cli import stages  # noqa: PLC0415
    from skippy_patches.evidence import record  # noqa: PLC0415

    flags = dict(zip(BACKENDS, (cpu, cuda, metal, vulkan, hip, rpc), strict=True))
    backends = [backend for backend, wanted in flags.items() if wanted]
    name = _chosen(recipe, backends, is_said=_is_said(context, "recipe"))
    session = Session.of(context)
    project = session.project()
    asked = Asked(launcher=launcher, jobs=jobs, architectures=cuda_arch, is_twice=check_reproducible)
    applied, built = stages.build(session, project, name, asked)
    again = stages.reproduce(session, project, (applied, built), asked) if check_reproducible else None
    layout = Layout.of(project.state, name)
    if format_ is Format.JSON:
        shown = record.load(layout.record).as_json()
        session.terminal.json(shown if again is None else {**shown, "reproduction": again.as_json()})
    else:
        _print(session.terminal, built)
        session.terminal.line(f"Recorded in {layout.record}")
        if again is not None and not again.differences:
            session.terminal.line("A second build elsewhere gave the same bytes")
    if again is not None:
        again.check()


def _is_said(context: typer.Context, parameter: str) -> bool:
    """Whether it stands in the command line: a flag beats a variable and a default."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _chosen(recipe: str, backends: list[str], *, is_said: bool) -> str:
    """One recipe, however it was named. Raises SeveralRecipes when two were."""
    from skippy_patches.build.errors import SeveralRecipes  # noqa: PLC0415 - see build

    names = sorted({*backends, *([recipe] if is_said or not backends else [])})
    if len(names) > 1:
        raise SeveralRecipes(names)
    return names[0]


def _print(terminal: Terminal, built: Built) -> None:
    """As sha256sum(1) prints it."""
    for artifact in built.artifacts:
        terminal.line(f"{artifact.sha256}  {artifact.name} ({artifact.size} bytes)")
