"""What `build` hands on: the libraries, and everything that went into them."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches.apply.result import Tip
from skippy_patches.build import stored
from skippy_patches.build.artifacts import Artifact
from skippy_patches.build.engine import Counts
from skippy_patches.build.errors import NotBuilt, StoredFileBroken
from skippy_patches.build.mount import PREFIX_MAP
from skippy_patches.build.recipefile import RecipeFile
from skippy_patches.build.toolchain import Tool, Toolchain
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from skippy_patches.build.layout import Layout


@dataclasses.dataclass(frozen=True, kw_only=True)
class Built:
    """A finished build.

    recipe_files: what the recipe was read from, its own file first; recipes: their folder. source, tree: the
    checkout and cmake's folder. method: how their paths were kept out of the libraries, a word of mount.py.
    remote: the kind of the store that the launcher shared, or empty; cached: what the launcher did, None when
    it did nothing. arguments: cmake's, as it saw them. variables: the options as CMakeCache.txt resolved
    them. steps: what ninja ran; compiled: those of them that made an object. started, finished: UTC, ISO
    8601.
    """

    recipe: str
    recipe_files: tuple[RecipeFile, ...]
    recipes: Path
    patched: Tip
    source: Path
    tree: Path
    method: str = PREFIX_MAP
    artifacts: tuple[Artifact, ...]
    toolchain: Toolchain
    remote: str
    cached: Counts | None
    generator: str
    arguments: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    steps: int
    compiled: int
    started: str
    finished: str


def now() -> str:
    """The time as records have it: 2026-01-31T12:00:00Z."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def save(built: Built, layout: Layout) -> None:
    """Write `built.json`."""
    content = _plain(dataclasses.asdict(built))
    content["variables"] = dict(built.variables)
    stored.write(layout.built, content)


def load(layout: Layout) -> Built:
    """Read `built.json`. Raises NotBuilt (6) without it, StoredFileBroken (3)."""
    recipe = layout.folder.name
    mend = f"Build again: skippy-patches build --recipe {recipe}"
    content = stored.read(layout.built, mend)
    if content is None:
        raise NotBuilt(recipe, layout.built)
    try:
        return _built(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoredFileBroken(layout.built, f"{type(error).__name__} at {error}", mend) from error


def _built(content: dict[str, Any]) -> Built:
    tools = {role: _tool(tool) for role, tool in content["toolchain"].items()}
    patched = content["patched"]
    return Built(
        recipe=content["recipe"],
        recipe_files=tuple(RecipeFile(**entry) for entry in content.get("recipe_files", ())),
        recipes=Path(content.get("recipes", content["tree"])),  # older versions had none
        patched=Tip(commit=ObjectId(patched["commit"]), tree=ObjectId(patched["tree"])),
        source=Path(content["source"]),
        tree=Path(content["tree"]),
        method=content.get("method", PREFIX_MAP),
        artifacts=tuple(Artifact(**entry | {"path": Path(entry["path"])}) for entry in content["artifacts"]),
        toolchain=Toolchain(**tools),  # type: ignore[arg-type]  # only the launcher may be None
        remote=content.get("remote", ""),
        cached=Counts(**content["cached"]) if content.get("cached") else None,
        generator=content["generator"],
        arguments=tuple(content["arguments"]),
        variables=tuple(content["variables"].items()),
        steps=content["steps"],
        compiled=content["compiled"],
        started=content["started"],
        finished=content["finished"],
    )


def _tool(content: dict[str, Any] | None) -> Tool | None:
    return None if content is None else Tool(**content | {"path": Path(content["path"])})


def _plain(value: Any) -> Any:
    """Paths as text, all the way down."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
