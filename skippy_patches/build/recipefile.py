"""One recipe file as it is written, and the chain of files that `extends` makes.

Nothing is merged here: a file says what it says, `null` included, and recipe.py puts the files together.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skippy_patches import yamlfile
from skippy_patches.build.errors import UnknownRecipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skippy_patches.errors import ConfigError

SUFFIX = ".yaml"
SHIPPED = Path(__file__).parents[1] / "recipes"  # in the repository a link to the project's own
SYSTEMS = ("linux", "macos")
MACHINES = ("x86_64", "arm64")
# What a recipe may require of a machine; doctor knows how to look for each.
REQUIREMENTS = (
    "cuda", "cublas", "vulkan", "glslc", "spirv", "metal", "hip", "hipblas", "rpc", "network",
)  # fmt: skip
RECIPES = "{recipes}"  # in the value of a variable: the folder of the recipes
EVERYWHERE = ""  # the place of `cmake`, beside those of `cmake_on`
_Value = TypeVar("_Value")
_BELOW = re.compile(re.escape(RECIPES) + r"/([^\s;]+)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecipeFile:
    """A file that makes up a recipe: its place in the recipes' folder, and the SHA-256 of its bytes."""

    name: str
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """What one file says. A value that is None was written as `null`: it takes away what the parent says.

    cmake: place (EVERYWHERE, a system or a machine) to variables. lists, texts, numbers: by dotted key. maps:
    the free mappings below `tests`; `tests.exclude` is one of them, test to reason.
    """

    file: Path
    sha256: str
    section: yamlfile.Section
    tests: yamlfile.Section
    extends: str
    description: str
    cmake: Mapping[str, Mapping[str, str | None]]
    lists: Mapping[str, tuple[str, ...] | None]
    texts: Mapping[str, str | None]
    numbers: Mapping[str, int | None]
    maps: Mapping[str, Mapping[str, str | None] | None]

    def identify(self) -> RecipeFile:
        """Its name and hash, as records have them."""
        return RecipeFile(name=self.file.name, sha256=self.sha256)


def names(folder: Path) -> tuple[str, ...]:
    """The recipes of `folder`, sorted."""
    return tuple(sorted(file.stem for file in folder.glob("*" + SUFFIX) if file.is_file()))


def chain(folder: Path, name: str) -> tuple[Part, ...]:
    """The file of recipe `name`, its parent, the parent's parent and so on.

    Raises UnknownRecipe, and ConfigError with file and line: also for a parent that is not there, and for
    files that extend each other in a circle.
    """
    known = names(folder)
    if name not in known:
        raise UnknownRecipe(name, known, folder, is_shipped=name in names(SHIPPED))
    parts = [read(folder / (name + SUFFIX))]
    seen = [name]
    while parent := parts[-1].extends:
        section = parts[-1].section
        if parent not in known:
            mend = yamlfile.suggest(parent, set(known) - set(seen))
            raise section.error("extends", f"names '{parent}', which is no recipe of {folder}", mend=mend)
        if parent in seen:
            circle = " -> ".join([*seen[seen.index(parent) :], parent])
            raise section.error(
                "extends", f"goes in a circle: {circle}", mend="One of them must stand on its own."
            )
        seen.append(parent)
        parts.append(read(folder / (parent + SUFFIX)))
    return tuple(parts)


def read(file: Path) -> Part:
    """Read one file, strictly. Raises ConfigError."""
    section = yamlfile.load(file)
    tests = section.mapping("tests")
    part = Part(
        file=file,
        sha256=_sha256(file),
        section=section,
        tests=tests,
        extends=section.text("extends", ""),
        description=section.text("description"),
        cmake=_cmake(section),
        lists={
            **_said(section, "requires", lambda key: _requirements(section, key)),
            **_said(section, "targets", section.texts),
            **_said(section, "artifacts", section.texts),
            **_said(tests, "require", tests.texts, "tests."),
        },
        texts=_said(tests, "include", lambda key: _pattern(tests, key), "tests."),
        numbers=_said(tests, "timeout", lambda key: _seconds(tests, key), "tests."),
        maps={
            **_said(tests, "exclude", lambda key: _exclusions(tests, key), "tests."),
            **_said(tests, "needs", lambda key: _map(tests, key), "tests."),
            **_said(tests, "environment", lambda key: _variables(tests, key), "tests."),
        },
    )
    tests.close()
    section.close()
    return part


def placed(value: str, folder: Path) -> str:
    """The value of a variable with the real folder of the recipes in it."""
    return value.replace(RECIPES, str(folder))


def named(folder: Path, variables: Sequence[tuple[str, str]], part: Part) -> tuple[RecipeFile, ...]:
    """The files that variables name below {recipes}; of a folder there all, for they belong together.

    Raises ConfigError, which points at `part`, when one is not there.
    """
    found: dict[str, RecipeFile] = {}
    for name, value in variables:
        for text in _BELOW.findall(value):
            file = folder / text
            if not file.is_file():
                raise part.section.error("cmake", f"has {name} name {file}, which is no file")
            beside = sorted(file.parent.iterdir()) if file.parent != folder else [file]
            for each in (each for each in beside if each.is_file()):
                place = each.relative_to(folder).as_posix()
                found[place] = RecipeFile(name=place, sha256=_sha256(each))
    return tuple(found.values())


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _said(
    section: yamlfile.Section, key: str, take: Callable[[str], _Value], path: str = ""
) -> dict[str, _Value | None]:
    """The value at `key` by its dotted name, None for `null`; nothing when the key is not there."""
    value = take(key)  # in any case, so that the section knows the key
    if key in section:
        return {path + key: value}
    return {path + key: None} if _is_null(section, key) else {}


def _is_null(section: yamlfile.Section, key: str) -> bool:
    written = section.keys()
    return key in written and key not in section


def _cmake(section: yamlfile.Section) -> dict[str, Mapping[str, str | None]]:
    found: dict[str, Mapping[str, str | None]] = {EVERYWHERE: _place(section, "cmake")}
    places = section.mapping("cmake_on")
    if _is_null(section, "cmake_on"):
        raise _nameless(section, "cmake_on")
    for place in (*SYSTEMS, *MACHINES):
        found[place] = _place(places, place)
    places.close()
    return found


def _place(section: yamlfile.Section, key: str) -> Mapping[str, str | None]:
    if _is_null(section, key):
        raise _nameless(section, key)
    return _variables(section, key)


def _nameless(section: yamlfile.Section, key: str) -> ConfigError:
    return section.error(
        key, "is null", mend="To take variables away, name each: NAME: null. Else delete it."
    )


def _map(section: yamlfile.Section, key: str) -> dict[str, str | None]:
    inner = section.mapping(key)
    return {name: text if name in inner else None for name, text in inner.scalars()}


def _variables(section: yamlfile.Section, key: str) -> dict[str, str | None]:
    found = _map(section, key)
    for name in found:
        if not _VARIABLE.fullmatch(name):
            raise section.mapping(key).error(
                name, "is not the name of a CMake variable", mend="Write NAME: value, without -D."
            )
    return found


def _requirements(section: yamlfile.Section, key: str) -> tuple[str, ...]:
    words = section.texts(key)
    for word in words:
        if word not in REQUIREMENTS:
            mend = yamlfile.suggest(word, REQUIREMENTS)
            raise section.error(key, f"names '{word}', which is no requirement", mend=mend)
    return words


def _pattern(section: yamlfile.Section, key: str) -> str:
    text = section.text(key, "")
    try:
        re.compile(text)
    except re.error as error:
        raise section.error(key, f"is not a regular expression: {error}") from None
    return text


def _seconds(section: yamlfile.Section, key: str) -> int:
    seconds = section.integer(key, 1)
    if seconds < 1:
        raise section.error(key, "must be a number of seconds above 0")
    return seconds


def _exclusions(section: yamlfile.Section, key: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for entry in section.sections(key):
        name = entry.text("name")
        reason = entry.text("reason", "").strip()
        if not reason:
            raise entry.error("reason", f"is missing: say why {name} is left out")
        entry.close()
        if name in found:
            raise section.error(key, f"names {name} twice")
        found[name] = reason
    return found
