"""The published schema of recipe files says what the reader says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import skippy_patches
from skippy_patches.build import recipefile
from skippy_patches.errors import ConfigError

RECIPES = Path(__file__).parents[2] / "recipes"
SCHEMA = Path(skippy_patches.__file__).parent / "schemas" / "recipe.schema.json"
NAMED = re.compile(r"# yaml-language-server: \$schema=(\S+)")

# What both take, and what both refuse. The reader alone knows what another file, or another line, says.
GOOD = [
    "description: x",
    "extends: cpu\ndescription: x\ncmake: {A: null, B: ON, C: 1, D: 1.5, E: '', F: true}",
    "description: x\nextends: null\ntests: null",
    "description: x\nrequires: cuda\ntargets: llama\nartifacts: libllama",
    "description: x\nrequires: [cuda, cublas]\ntargets: []",
    "description: x\nrequires: null\ntargets: null\nartifacts: null",
    "description: x\ncmake_on: {linux: {A: ON}, macos: {}, x86_64: {A: null}, arm64: {B: 1}}",
    "description: x\ntests: {include: ^test-, exclude: null, require: null, needs: null, timeout: null}",
    "description: x\ntests: {include: null, environment: null, require: test-a, timeout: 60}",
    "description: x\ntests: {exclude: [{name: a, reason: b c}], needs: {a: b}, environment: {A: 1, B: null}}",
    "description: x\ntests: {timeout: '60', needs: {a: null}}",
]
BAD = [
    "",
    "cmake: {A: ON}",
    "- description: x",
    "description: [x]",
    "description: null",
    "description: x\ntarget: [llama]",
    "description: x\nextends: [cpu]",
    "description: x\nrequires: cudda",
    "description: x\nrequires: [cuda, cubla]",
    "description: x\nrequires: {cuda: 1}",
    "description: x\ncmake: null",
    "description: x\ncmake: [A]",
    "description: x\ncmake: {-DA: ON}",
    "description: x\ncmake: {'A B': ON}",
    "description: x\ncmake: {A: [ON]}",
    "description: x\ncmake_on: null",
    "description: x\ncmake_on: {amd64: {A: ON}}",
    "description: x\ncmake_on: {linux: null}",
    "description: x\ncmake_on: {linux: {A-B: ON}}",
    "description: x\ntargets: {a: b}",
    "description: x\nartifacts: [[a]]",
    "description: x\ntests: [a]",
    "description: x\ntests: {includes: a}",
    "description: x\ntests: {include: [a]}",
    "description: x\ntests: {include: 'a('}",
    "description: x\ntests: {exclude: test-a}",
    "description: x\ntests: {exclude: [test-a]}",
    "description: x\ntests: {exclude: [{name: a}]}",
    "description: x\ntests: {exclude: [{reason: a}]}",
    "description: x\ntests: {exclude: [{name: a, reason: ' '}]}",
    "description: x\ntests: {exclude: [{name: a, reason: b, when: c}]}",
    "description: x\ntests: {require: {a: b}}",
    "description: x\ntests: {needs: [a]}",
    "description: x\ntests: {needs: {a: [b]}}",
    "description: x\ntests: {timeout: 0}",
    "description: x\ntests: {timeout: 1h}",
    "description: x\ntests: {timeout: 1.5}",
    "description: x\ntests: {timeout: '060'}",
    "description: x\ntests: {environment: {A-B: c}}",
    "description: x\ntests: {environment: [A]}",
]


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema, as editors read it: ON and 1e3 are text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)


def _validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )


def _content(text: str) -> Any:
    return yaml.load(text, _Loader)


@pytest.mark.parametrize("file", sorted(RECIPES.glob("*.yaml")), ids=lambda file: file.stem)
def test_each_recipe_names_the_schema_and_fits_it(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    named = NAMED.match(text)

    assert named is not None, "the first line names the schema, for editors"
    assert (file.parent / named[1]).resolve() == SCHEMA.resolve()
    _validator().validate(_content(text))


def _is_read(folder: Path, text: str) -> bool:
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    try:
        recipefile.read(file)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("text", GOOD)
def test_both_take(tmp_path: Path, text: str) -> None:
    assert _is_read(tmp_path, text)
    _validator().validate(_content(text))


@pytest.mark.parametrize("text", BAD)
def test_both_refuse(tmp_path: Path, text: str) -> None:
    assert not _is_read(tmp_path, text)
    assert not _validator().is_valid(_content(text))


def test_the_schema_knows_the_reader_s_words() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert schema["$defs"]["requirement"]["enum"] == list(recipefile.REQUIREMENTS)
    assert set(schema["properties"]["cmake_on"]["properties"]) == {*recipefile.SYSTEMS, *recipefile.MACHINES}
