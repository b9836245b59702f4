"""What cmake says of the project that it configured: its targets (cmake-file-api(7), codemodel version 2)."""

from __future__ import annotations

import fnmatch
import json
from typing import TYPE_CHECKING, Any

from skippy_patches.build.errors import NoTarget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.progress import Reporter

_API = ".cmake/api/v1"
_WILD = "*?["


def ask(tree: Path) -> None:
    """Have the next configure step write it down."""
    query = tree / _API / "query"
    query.mkdir(parents=True, exist_ok=True)
    (query / "codemodel-v2").touch()


def names(tree: Path) -> tuple[str, ...]:
    """The names of all targets, sorted; none before the first configure step."""
    return tuple(sorted(entry["name"] for _, entry in _entries(tree)))


def targets(tree: Path) -> Iterator[dict[str, Any]]:
    """The object of every target: name, type, nameOnDisk, artifacts, ..."""
    for reply, entry in _entries(tree):
        yield _json(reply / entry["jsonFile"])


def expand(wanted: Sequence[str], tree: Path, recipe: Path, reporter: Reporter) -> tuple[str, ...]:
    """The targets that a recipe means: a pattern stands for all that match it, and maybe for none.

    A name without * ? [ is taken as it is. Raises NoTarget when patterns are all there is and none matches:
    ninja without a target builds everything.
    """
    known = names(tree)
    found: dict[str, None] = {}
    for text in wanted:
        matching = fnmatch.filter(known, text) if any(sign in text for sign in _WILD) else [text]
        if not matching:
            reporter.detail(f"No target matches '{text}'")
        found |= dict.fromkeys(matching)
    if wanted and not found:
        raise NoTarget(wanted, recipe)
    return tuple(found)


def _entries(tree: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    reply = tree / _API / "reply"
    index = max(reply.glob("index-*.json"), default=None)
    if index is None:
        return
    models = [entry for entry in _json(index)["objects"] if entry["kind"] == "codemodel"]
    for entry in _json(reply / models[0]["jsonFile"])["configurations"][0]["targets"]:
        yield reply, entry


def _json(file: Path) -> Any:
    return json.loads(file.read_bytes())
