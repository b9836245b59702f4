"""A project with a record of a build that never ran: real patches and commits, libraries of a few bytes."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches.build import result
from skippy_patches.build import toolchain as toolchains
from skippy_patches.build.artifacts import Artifact, sha256
from skippy_patches.build.layout import Layout
from skippy_patches.build.recipefile import RecipeFile
from skippy_patches.build.result import Built
from skippy_patches.build.toolchain import Tool, Toolchain
from skippy_patches.evidence import record
from skippy_patches.evidence.record import Record, Results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.world import World

LIBRARIES = {"libllama.so": b"\x7fELF llama 1234567890", "libggml.so": b"\x7fELF ggml"}
RECIPE = "description: All of it.\n"


def tool(name: str) -> Tool:
    """A program that is nowhere."""
    return Tool(name=name, path=Path("/nowhere") / name, version="1.0", sha256="e" * 64)


def build(
    world: World,
    libraries: Mapping[str, bytes] = LIBRARIES,
    recipe: str = "cpu",
    toolchain: Toolchain | None = None,
) -> Record:
    """As `build` leaves it: libraries, built.json and record.json, of the queue that is there now."""
    applied = world.apply().applied
    layout = Layout.of(world.root / ".skippy", recipe)
    layout.tree.mkdir(parents=True, exist_ok=True)
    file = world.root / "recipes" / f"{recipe}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(RECIPE, encoding="utf-8")
    for name, content in libraries.items():
        (layout.tree / name).write_bytes(content)
    tools = {name: tool(name) for name in ("cmake", "ctest", "ninja", "c", "cxx")}
    built = Built(
        recipe=recipe, recipe_files=(RecipeFile(name=file.name, sha256=sha256(file)),), recipes=file.parent,
        patched=applied.patched, source=applied.checkout, tree=layout.tree,
        artifacts=tuple(_artifact(layout.tree / name) for name in libraries),
        toolchain=toolchain or Toolchain(**tools, launcher=None), remote="", cached=None, generator="Ninja",
        arguments=("-S", str(applied.checkout)), variables=(("GGML_NATIVE", "OFF"),), steps=1, compiled=1,
        started="2026-01-01T00:00:00Z", finished="2026-01-01T00:01:00Z",
    )  # fmt: skip
    result.save(built, layout)
    made = record.make(applied, built, Results(whole=None, required=None))
    record.write(made, layout)
    return made


def changed(made: Record, **parts: Any) -> Record:
    """The record with other values at these keys."""
    return dataclasses.replace(made, content=json.loads(json.dumps(made.content)) | parts)


def change_run_path(library: Path, before: str, after: str) -> None:
    """With the command that cmake's install scripts use. Without `after` the run path is taken out."""
    change = f'RPATH_CHANGE FILE "{library}" OLD_RPATH "{before}" NEW_RPATH "{after}"'
    script = library.with_suffix(".cmake")
    # $ORIGIN is no variable of cmake's, and so is taken as it is.
    script.write_text(f"file({change})\n" if after else f'file(RPATH_REMOVE FILE "{library}")\n')
    subprocess.run([toolchains.find("none").cmake.path, "-P", script], check=True)


def _artifact(path: Path) -> Artifact:
    return Artifact(name=path.name, path=path, sha256=sha256(path), size=path.stat().st_size)
