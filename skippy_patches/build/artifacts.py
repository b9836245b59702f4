"""The shared libraries that a build made, with the hashes of their bytes."""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
import re
from typing import TYPE_CHECKING

from skippy_patches.build import codemodel
from skippy_patches.build.errors import LibraryMissing, NoLibrary

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe

FIRST = "libllama"
# libllama.so, libllama.so.0.0.1, libllama.dylib, libllama.0.0.1.dylib
_LIBRARY = re.compile(r"(?P<stem>.+?)(?:\.\d+)*(?P<suffix>\.so|\.dylib)(?:\.\d+)*")
_SHARED = frozenset({"SHARED_LIBRARY", "MODULE_LIBRARY"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Artifact:
    """One library. name: without its version (libllama.so). path: the real file. size: in bytes."""

    name: str
    path: Path
    sha256: str
    size: int


def find(tree: Path, recipe: Recipe) -> tuple[Artifact, ...]:
    """Every shared library of the build folder, libllama first, then by name.

    Raises NoLibrary without libllama, and LibraryMissing for a name of the recipe that nothing matches.
    """
    files = _libraries(tree)
    stems = {_stem(name) for name in files}
    if FIRST not in stems:
        raise NoLibrary(tree, sorted(files))
    for pattern in recipe.artifacts:
        if not fnmatch.filter(stems, pattern):
            raise LibraryMissing(pattern, sorted(stems), recipe.file)
    order = sorted(files, key=lambda name: (_stem(name) != FIRST, name))
    return tuple(_hashed(name, files[name]) for name in order)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unversioned(name: str) -> str | None:
    """The name of a library without its version, as records have it; None when it is not named like one."""
    match = _LIBRARY.fullmatch(name)
    return match["stem"] + match["suffix"] if match else None


def changed(artifacts: Iterable[Artifact]) -> tuple[str, ...]:
    """The names of those whose file is gone or holds other bytes now."""
    return tuple(
        artifact.name
        for artifact in artifacts
        if not artifact.path.is_file() or sha256(artifact.path) != artifact.sha256
    )


def _libraries(tree: Path) -> dict[str, Path]:
    """Unversioned name -> real file, of the shared libraries that the project has now.

    Looking at the folder instead would also find what an earlier queue made: ninja leaves such files.
    """
    found: dict[str, Path] = {}
    for target in codemodel.targets(tree):
        name = unversioned(target.get("nameOnDisk", ""))
        if target["type"] in _SHARED and name:
            path = tree / target["artifacts"][0]["path"]
            if path.is_file():  # not so when the recipe builds some targets only
                found[name] = path.resolve()
    return found


def _stem(name: str) -> str:
    return name.removesuffix(".so").removesuffix(".dylib")


def _hashed(name: str, path: Path) -> Artifact:
    return Artifact(name=name, path=path, sha256=sha256(path), size=path.stat().st_size)
