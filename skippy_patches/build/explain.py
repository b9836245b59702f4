"""Where every value of a recipe comes from, and in what two recipes differ."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.build import recipe as recipes
from skippy_patches.build import recipefile
from skippy_patches.build.recipe import Platform
from skippy_patches.build.recipefile import EVERYWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.recipefile import Part

Value = str | int | tuple[str, ...]
_EXCLUDE = "tests.exclude"
# A line's comment: the first # behind a blank that stands in no quotes.
_COMMENT = re.compile(r"""(?:[^'"#]|(?<=\S)\#|"(?:\\.|[^"\\])*"|'[^']*')*?\s\#\s*(?P<text>.*)""", re.VERBOSE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stated:
    """A value that counts. key: dotted, as `cmake.GGML_CUDA`, `targets`, `tests.timeout`.

    file: of the recipes' folder, "" for a default; line: 0 then. place: a system or machine of `cmake_on`, or
    "". reason: the comment beside it, or right above it.
    """

    key: str
    value: Value
    file: str = ""
    line: int = 0
    place: str = EVERYWHERE
    reason: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explained:
    """A recipe for one platform, value by value, in the order of its files. parents: nearest first."""

    recipe: Recipe
    platform: Platform
    parents: tuple[str, ...]
    values: tuple[Stated, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Difference:
    """A key of which two recipes say different things; None: one of them says nothing."""

    key: str
    before: Stated | None
    after: Stated | None


def explain(folder: Path, name: str, *, target: Platform | None = None) -> Explained:
    """Read a recipe as recipe.load does. Raises UnknownRecipe, and ConfigError with file and line."""
    platform = target or Platform.current()
    loaded = recipes.load(folder, name, target=platform)
    chain = recipefile.chain(folder, name)
    texts = {part.file: part.file.read_text("utf-8").splitlines() for part in chain}
    values = []
    for key, value in _values(loaded):
        said = _said(chain, key, platform)
        if said is None:
            values.append(Stated(key=key, value=value))
            continue
        part, place, line = said
        reason = "" if key.startswith(_EXCLUDE) else _comment(texts[part.file], line - 1)
        values.append(
            Stated(key=key, value=value, file=part.file.name, line=line, place=place, reason=reason)
        )
    parents = tuple(part.file.stem for part in chain[1:])
    return Explained(recipe=loaded, platform=platform, parents=parents, values=tuple(values))


def where(folder: Path, name: str, key: str) -> tuple[Path, int] | None:
    """File and line of the value that counts, on this platform."""
    said = _said(recipefile.chain(folder, name), key, Platform.current())
    return None if said is None else (said[0].file, said[2])


def differences(before: Explained, after: Explained) -> tuple[Difference, ...]:
    """What differs, in the order of `before`, then what only `after` says; where it is said counts not."""
    old = {stated.key: stated for stated in before.values}
    new = {stated.key: stated for stated in after.values}
    found = [Difference(key=key, before=old.get(key), after=new.get(key)) for key in old | new]
    return tuple(each for each in found if _value(each.before) != _value(each.after))


def _value(stated: Stated | None) -> Value | None:
    return stated.value if stated else None


def _values(recipe: Recipe) -> Iterator[tuple[str, Value]]:
    """Key and value of all that a recipe says, defaults among them; empty lists are left out."""
    tests = recipe.tests
    yield from ((f"cmake.{name}", value) for name, value in recipe.cmake)
    lists: dict[str, Value] = {
        "requires": recipe.requires,
        "targets": recipe.targets,
        "artifacts": recipe.artifacts,
        "tests.include": tests.include,
        "tests.require": tests.require,
    }
    yield from ((key, value) for key, value in lists.items() if value)
    yield from ((f"{_EXCLUDE}.{entry.name}", entry.reason) for entry in tests.exclude)
    yield from ((f"tests.needs.{name}", value) for name, value in tests.needs)
    yield "tests.timeout", tests.timeout
    yield from ((f"tests.environment.{name}", value) for name, value in tests.environment)


def _said(chain: Sequence[Part], key: str, target: Platform) -> tuple[Part, str, int] | None:
    """The youngest file of the chain that says something of `key`, the place there, and the line."""
    section, _, name = key.partition(".")
    for part in chain:
        if section == "cmake":
            for place in (target.machine, target.system, EVERYWHERE):  # the last that is read counts
                if part.cmake.get(place, {}).get(name) is not None:
                    return part, place, _line_of_variable(part, place, name)
        elif (line := _line(part, key)) is not None:
            return part, EVERYWHERE, line
    return None


def _line_of_variable(part: Part, place: str, name: str) -> int:
    section = part.section
    for key in ("cmake_on", place) if place else ("cmake",):
        section = section.mapping(key)
    return section.line_of(name)


def _line(part: Part, key: str) -> int | None:
    """The line at which one file says `key`, or None."""
    for said in (part.lists, part.texts, part.numbers):
        if said.get(key) is not None:
            section = part.tests if key.startswith("tests.") else part.section
            return section.line_of(key.removeprefix("tests."))
    for mapping, entries in part.maps.items():
        name = key.removeprefix(f"{mapping}.")
        if name != key and (entries or {}).get(name) is not None:
            inner = mapping.removeprefix("tests.")
            if mapping == _EXCLUDE:
                return next(entry.line for entry in part.tests.sections(inner) if entry.text("name") == name)
            return part.tests.mapping(inner).line_of(name)
    return None


def _comment(lines: Sequence[str], at: int) -> str:
    """What is said beside a line, else in the comment lines right above it."""
    if match := _COMMENT.fullmatch(lines[at]):
        return match["text"].strip()
    above: list[str] = []
    while at > 0 and lines[at - 1].lstrip().startswith("#"):
        at -= 1
        above.insert(0, lines[at].strip(" #"))
    return " ".join(above)
