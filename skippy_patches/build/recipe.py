"""recipes/NAME.yaml -> Recipe: what to configure, what to build, what to hash and what to test.

    extends: cpu                             # what that recipe says, where this one does not
    description: The CPU backend alone, with every test.
    requires: [cuda, cublas]                 # what the machine must have, words of recipefile.REQUIREMENTS
    cmake: {CMAKE_BUILD_TYPE: Release}       # variables, taken as they are written
    cmake_on:                                # more of them, by system or machine
      x86_64: {GGML_AVX2: ON}
    targets: [llama, "test-skippy-*"]        # none: all
    artifacts: ["libllama", "libggml*"]      # libraries that must be there, by name without suffix
    tests:
      include: ".*"                          # regular expression, searched in the test's name
      exclude: [{name: test-x, reason: why}]
      require: ["test-skippy-*"]             # must run and pass wherever they exist
      needs: {test-b: test-a}                # test-b reads what test-a writes
      timeout: 900                           # seconds, each
      environment: {OMP_NUM_THREADS: 2}

The rule of `extends`: mappings are merged, `tests.exclude` with them, by test; every other value replaces
the parent's, and `null` takes it away. What a file says of a variable, in `cmake` or for the
platform, beats all that its parents say of it. docs/recipes.md is the same for people.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import platform
from typing import TYPE_CHECKING, ClassVar, TypeVar

from skippy_patches.build import recipefile
from skippy_patches.build.recipefile import EVERYWHERE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.build.recipefile import Part, RecipeFile
    from skippy_patches.errors import ConfigError

DEFAULT_ARTIFACTS = ("libllama",)
DEFAULT_TIMEOUT = 900
_Value = TypeVar("_Value")
_SYSTEM_NAMES = {"darwin": "macos"}
_MACHINE_NAMES = {"amd64": "x86_64", "aarch64": "arm64"}
_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})  # cmake-language(7), constants of if()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Platform:
    """Operating system and processor, in the words of the recipes' `cmake_on`."""

    system: str
    machine: str

    @classmethod
    def current(cls) -> Platform:
        """The one we run on."""
        system, machine = platform.system().lower(), platform.machine().lower()
        return cls(system=_SYSTEM_NAMES.get(system, system), machine=_MACHINE_NAMES.get(machine, machine))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exclusion:
    """A test that is left out, and why."""

    name: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestPlan:
    """Which tests run.

    needs: a test, and one that runs before it even when it was not asked for; ctest's own fixtures need not
    be named. timeout: seconds, for each test. environment: set for all of them; {build} in a
    value is cmake's folder.
    """

    __test__: ClassVar[bool] = False  # not a test class, whatever pytest thinks of the name

    include: str
    exclude: tuple[Exclusion, ...]
    require: tuple[str, ...]
    needs: tuple[tuple[str, str], ...]
    timeout: int
    environment: tuple[tuple[str, str], ...]

    def is_required(self, name: str) -> bool:
        """Whether a test that skips, or says that it did, is a failure."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.require)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """One recipe, for one platform.

    file: its own, in the recipes' `folder`. files: that, those it extends, and what its variables name below
    {recipes}, all as they were when it was read. cmake: the variables that apply on the platform, in the
    files' order, the farthest parent's first. requires: words of REQUIREMENTS.
    """

    name: str
    file: Path
    folder: Path
    files: tuple[RecipeFile, ...]
    description: str
    cmake: tuple[tuple[str, str], ...]
    targets: tuple[str, ...]
    artifacts: tuple[str, ...]
    tests: TestPlan
    requires: tuple[str, ...] = ()

    def variable(self, name: str) -> str:
        """What it says of a CMake variable, or ""."""
        return dict(self.cmake).get(name, "")

    def is_on(self, name: str, *, default: bool = False) -> bool:
        """Whether it turns an option on. default: what the option is where the recipe says nothing."""
        value = self.variable(name)
        return value.upper() in _TRUE if value else default


def names(folder: Path) -> tuple[str, ...]:
    """The recipes of `folder`, sorted."""
    return recipefile.names(folder)


def load(folder: Path, name: str, *, target: Platform | None = None) -> Recipe:
    """Read one recipe of the project's recipes folder, with what it extends.

    Raises UnknownRecipe, and ConfigError with file and line.
    """
    chain = recipefile.chain(folder, name)
    own, eldest_first = chain[0], chain[::-1]
    lists = _merged([(part, part.lists) for part in eldest_first])
    variables = _cmake(eldest_first, target or Platform.current())
    named = recipefile.named(folder, variables, own)
    recipe = Recipe(
        name=name,
        file=own.file,
        folder=folder.resolve(),
        files=(*(part.identify() for part in chain), *named),
        description=own.description,
        cmake=variables,
        targets=lists.get("targets", ()),
        artifacts=lists.get("artifacts", DEFAULT_ARTIFACTS),
        tests=_tests(eldest_first, lists),
        requires=lists.get("requires", ()),
    )
    _check_exclusions(chain, recipe.tests)
    return recipe


def _cmake(parts: Sequence[Part], target: Platform) -> tuple[tuple[str, str], ...]:
    """The variables of `target`, file by file. A `null` must take away what some parent says somewhere."""
    variables: dict[str, str] = {}
    named: set[str] = set()
    for part in parts:
        for place, said in part.cmake.items():
            is_here = place in (EVERYWHERE, target.system, target.machine)
            for name, text in said.items():
                if text is None and name not in named:
                    raise _nothing_to_take(part, f"cmake_on.{place}.{name}" if place else f"cmake.{name}")
                if is_here and text is None:
                    variables.pop(name, None)
                elif is_here and text is not None:
                    variables[name] = text
        named |= {name for said in part.cmake.values() for name, text in said.items() if text is not None}
    return tuple(variables.items())


def _merged(parts: Sequence[tuple[Part, Mapping[str, _Value | None]]]) -> dict[str, _Value]:
    """Key by key the value of the last file that says something of it; `null` takes it away."""
    merged: dict[str, _Value] = {}
    for part, said in parts:
        for key, value in said.items():
            if value is not None:
                merged[key] = value
            elif merged.pop(key, None) is None and part.extends:
                raise _nothing_to_take(part, key)
    return merged


def _map(parts: Sequence[Part], key: str) -> dict[str, str]:
    """The mapping at `key`: that of every file over those before it."""
    merged: dict[str, str] = {}
    for part in parts:
        said = part.maps.get(key, {})
        for name, text in (said or {}).items():
            if text is not None:
                merged[name] = text
            elif merged.pop(name, None) is None:
                raise _nothing_to_take(part, f"{key}.{name}")
        if said is None:
            merged.clear()
    return merged


def _nothing_to_take(part: Part, path: str) -> ConfigError:
    *outer, key = path.split(".", 2)
    section = part.section
    for name in outer:
        section = section.mapping(name)
    what = "is null, which takes away what a parent says, and there is nothing to take away"
    why = f"{part.extends} says nothing of it." if part.extends else "This recipe extends none."
    return section.error(key, what, why=why, mend='Delete the line, or write "" for an empty value.')


def _tests(parts: Sequence[Part], lists: Mapping[str, tuple[str, ...]]) -> TestPlan:
    texts = _merged([(part, part.texts) for part in parts])
    numbers = _merged([(part, part.numbers) for part in parts])
    exclude = _map(parts, "tests.exclude")
    return TestPlan(
        include=texts.get("tests.include", ""),
        exclude=tuple(Exclusion(name=name, reason=reason) for name, reason in exclude.items()),
        require=lists.get("tests.require", ()),
        needs=tuple(_map(parts, "tests.needs").items()),
        timeout=numbers.get("tests.timeout", DEFAULT_TIMEOUT),
        environment=tuple(_map(parts, "tests.environment").items()),
    )


def _check_exclusions(chain: Sequence[Part], plan: TestPlan) -> None:
    for exclusion in plan.exclude:
        if plan.is_required(exclusion.name):
            saying = next(part for part in chain if exclusion.name in (part.maps.get("tests.exclude") or {}))
            raise saying.tests.error("exclude", f"leaves out {exclusion.name}, which `require` asks for")
