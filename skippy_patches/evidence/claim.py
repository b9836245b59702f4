"""What a file of evidence says that can be checked, whatever its format."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches.evidence.record import Record

RECORD = "record"
STATEMENT = "statement"
SBOM = "sbom"


class ClaimedTip(NamedTuple):
    """A commit and its tree, 40 hexadecimal digits each; an empty tree is one that is not said."""

    commit: str
    tree: str = ""


class ClaimedPatch(NamedTuple):
    """A patch file. number: None where it is not said. file: without its lane. sha256: of its bytes."""

    number: int | None
    file: str
    sha256: str


class ClaimedFile(NamedTuple):
    """A file of the recipe. name: relative to the folder of the recipes. sha256: of its bytes."""

    name: str
    sha256: str


class ClaimedLibrary(NamedTuple):
    """A library. name: without its version (libllama.so). size: in bytes, or None where it is not said."""

    name: str
    sha256: str
    size: int | None = None


class ClaimedTool(NamedTuple):
    """A program that took part in the build. Empty is what is not said."""

    name: str
    version: str
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """What one file says.

    kind: record, statement (in-toto) or sbom (CycloneDX). patches: in apply order. toolchain: by role; None
    for a launcher that there was not. recipe_files: by name, empty where they are not said. queue_digest:
    with the names of the patches, empty where it is not said. record: the whole of it, where the file is one.
    source: the file; its reader (evidencefile.py) fills it in.
    """

    kind: str
    recipe: str
    upstream: ClaimedTip
    patched: ClaimedTip
    patches: tuple[ClaimedPatch, ...]
    libraries: tuple[ClaimedLibrary, ...]
    toolchain: Mapping[str, ClaimedTool | None]
    recipe_files: tuple[ClaimedFile, ...] = ()
    queue_digest: str = ""
    record: Record | None = None
    source: Path = Path()
