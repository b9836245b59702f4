"""The recipes that come with skippy-patches, for a project that has none of that name.

A build reads the project's own files alone, which are committed beside the queue: what is built does not
change with the version of this tool. So a shipped recipe is copied once, with all that it extends and names.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.build import recipe, recipefile
from skippy_patches.build.errors import RecipeDiffers
from skippy_patches.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = recipefile.SHIPPED
SCHEMA = "recipe.schema.json"
_SCHEMA_FILE = FOLDER.parent / "schemas" / SCHEMA
_NAMED = re.compile(rb"(# yaml-language-server: \$schema=)\S+/")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Added:
    """What became of the files: relative to the project's folder of recipes.

    written: new ones. kept: the project's own that were there, the same or another.
    """

    recipe: str
    written: tuple[str, ...]
    kept: tuple[str, ...]


def add(name: str, folder: Path) -> Added:
    """Copy recipe `name` into the project's `folder`, with its parents, the files it names, and the schema.

    What is there already stays. Raises UnknownRecipe, and RecipeDiffers (2) when that is another `name`.
    """
    chosen = recipe.load(FOLDER, name)
    files = {file.name: _content(FOLDER / file.name) for file in chosen.files}
    own = folder / chosen.file.name
    if own.exists() and _content(own) != files[own.name]:
        raise RecipeDiffers(name, own)
    if not all((folder / place).exists() for place in files):
        files[SCHEMA] = _SCHEMA_FILE.read_bytes()
    written = [place for place in files if not (folder / place).exists()]
    for place in written:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / place, files[place])
    return Added(
        recipe=name, written=tuple(written), kept=tuple(place for place in files if place not in written)
    )


def _content(file: Path) -> bytes:
    """Its bytes, the schema beside it, wherever it was."""
    return _NAMED.sub(rb"\1", file.read_bytes())
