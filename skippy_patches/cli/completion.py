"""What the shell completes beside commands and options: numbers of patches, and names of recipes.

The shell asks in the middle of typing. So every failure (no project, a mistake in skippy-patches.yaml) is an
empty answer, nothing is written anywhere, and no patch is opened: names of files say enough. zsh evaluates
what it is given as shell text; only plain words pass.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skippy_patches.config import Project

_Found = TypeVar("_Found")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ANYTHING_ELSE = re.compile(r"[^A-Za-z0-9._-]+")


def patch_numbers(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Numbers that begin with `incomplete`, each with the name behind it; for an option or an argument.

    Four digits, unless the number is being typed without its zeros.
    """
    names = _in_project(context, _patch_names)
    width = 4 if not incomplete or incomplete.startswith("0") else 1
    numbered = [(f"{number:0{width}d}", _ANYTHING_ELSE.sub(" ", slug).strip()) for number, slug in names]
    return [(number, slug) for number, slug in numbered if number.startswith(incomplete)]


def recipe_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of recipes that begin with `incomplete`."""
    names = _in_project(context, _recipe_files)
    return [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]


def _in_project(context: typer.Context, look: Callable[[Project], Iterable[_Found]]) -> list[_Found]:
    """What `look` finds in the project that the words before name, with -C; nothing when it fails."""
    from skippy_patches import config  # noqa: PLC0415 - a shell that completes a command needs none of it

    with contextlib.suppress(Exception):
        folder = Path(context.find_root().params.get("directory") or os.curdir)  # text, while completing
        return list(look(config.load(config.find(folder))))
    return []


def _patch_names(project: Project) -> list[tuple[int, str]]:
    from skippy_patches.queue.patch import NAME  # noqa: PLC0415 - see _in_project

    matches = (NAME.fullmatch(file.name) for lane in project.queue for file in lane.iterdir())
    return sorted((int(match[1]), match[2]) for match in matches if match)


def _recipe_files(project: Project) -> list[str]:
    return sorted(file.stem for file in project.recipes.iterdir() if file.suffix == ".yaml")


def record_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of saved records, and recipe:NAME of recipes that were built, that begin with `incomplete`."""
    names = _in_project(context, _record_files)
    return [
        name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name.replace(":", "."))
    ]


def _record_files(project: Project) -> list[str]:
    saved = [file.stem for file in (project.root / "records").glob("*.json")]
    built = [f"recipe:{file.parent.name}" for file in project.state.glob("build/*/record.json")]
    return [*sorted(saved), *sorted(built)]
