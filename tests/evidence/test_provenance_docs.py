"""docs/provenance.md tells the truth: its example is what comes out, its tables name all that there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skippy_patches.evidence import sbom, statement
from tests.evidence import specimen

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "provenance.md").read_text(encoding="utf-8")


def _descriptors(document: dict[str, Any]) -> list[dict[str, Any]]:
    predicate = document["predicate"]
    return [*predicate["buildDefinition"]["resolvedDependencies"], *predicate["runDetails"]["byproducts"]]


def test_the_example_is_what_comes_out() -> None:
    """`json.dumps(document, indent=2)` of the specimen: write it there when the format changes."""
    shown = (DOCS / "llama.intoto.json").read_text(encoding="utf-8")
    assert shown == json.dumps(statement.make(specimen.record()), indent=2) + "\n"


def test_every_annotation_has_a_row_that_says_all() -> None:
    for each in _descriptors(statement.make(specimen.record())):
        ((kind, said),) = each["annotations"].items()
        row = re.search(rf"^\| `{kind}` \|.*$", PAGE, re.MULTILINE)
        assert row is not None
        assert all(f"`{word}`" in row[0] for word in (*said, *each.get("digest", {})))


def test_every_parameter_is_told() -> None:
    definition = statement.make(specimen.record())["predicate"]["buildDefinition"]
    for name in ("externalParameters", "internalParameters"):
        row = re.search(rf"^\| `\.{name}` \|.*$", PAGE, re.MULTILINE)
        assert row is not None
        assert all(f"`{key}`" in row[0] for key in definition[name])
    for uri in (statement.BUILD_TYPE, statement.BUILDER):
        assert f"`{uri}`" in PAGE


def _keys(document: dict[str, Any]) -> Iterator[str]:
    yield from document
    yield from document["metadata"]["component"]["pedigree"]


def test_every_part_of_a_bill_of_materials_has_a_row() -> None:
    about_the_format = {"$schema", "bomFormat", "specVersion"}
    for key in set(_keys(sbom.make(specimen.record()))) - about_the_format:
        assert re.search(rf"^\|.*`[a-z.]*{key}[a-zA-Z.]*`.* \|", PAGE, re.MULTILINE), key
