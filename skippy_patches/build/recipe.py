"""recipes/NAME.yaml -> Recipe: what to configure, what to build, what to hash and what to test.

    description: The CPU backend alone, with every test.
    cmake: {CMAKE_BUILD_TYPE: Release}       # variables, taken as they are written
    cmake_on:                                # more of them, by system or machine
      x86_64: {GGML_AVX2: ON}
    targets: []                              # none: all
    artifacts: ["libllama", "libggml*"]      # libraries that must be there, by name without suffix
    tests:
      include: ".*"                          # regular expression, searched in the test's name
      exclude: [{name: test-x, reason: why}]
      require: ["test-skippy-*"]             # must run and pass wherever they exist
      needs: {test-b: test-a}                # test-b reads what test-a writes
      timeout: 900                           # seconds, each
      environment: {OMP_NUM_THREADS: 2}

docs/recipes.md is the same for people.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import platform
import re
from typing import TYPE_CHECKING, ClassVar

from skippy_patches import yamlfile
from skippy_patches.build.errors import UnknownRecipe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIX = ".yaml"
SYSTEMS = ("linux", "macos")
MACHINES = ("x86_64", "arm64")
DEFAULT_ARTIFACTS = ("libllama",)
DEFAULT_TIMEOUT = 900
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SYSTEM_NAMES = {"darwin": "macos"}
_MACHINE_NAMES = {"amd64": "x86_64", "aarch64": "arm64"}


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
    """One recipe, for one platform: `cmake` holds the variables that apply there, in the file's order."""

    name: str
    file: Path
    description: str
    cmake: tuple[tuple[str, str], ...]
    targets: tuple[str, ...]
    artifacts: tuple[str, ...]
    tests: TestPlan


def names(folder: Path) -> tuple[str, ...]:
    """The recipes of `folder`, sorted."""
    return tuple(sorted(file.stem for file in folder.glob("*" + SUFFIX) if file.is_file()))


def load(folder: Path, name: str, *, target: Platform | None = None) -> Recipe:
    """Read one recipe of the project's recipes folder.

    Raises UnknownRecipe, and ConfigError with file and line.
    """
    known = names(folder)
    if name not in known:
        raise UnknownRecipe(name, known, folder)
    file = folder / (name + SUFFIX)
    section = yamlfile.load(file)
    recipe = Recipe(
        name=name,
        file=file,
        description=section.text("description"),
        cmake=_cmake(section, target or Platform.current()),
        targets=section.texts("targets"),
        artifacts=section.texts("artifacts", DEFAULT_ARTIFACTS),
        tests=_tests(section.section("tests")),
    )
    section.close()
    return recipe


def _cmake(section: yamlfile.Section, target: Platform) -> tuple[tuple[str, str], ...]:
    variables = dict(_variables(section.section("cmake")))
    parts = section.section("cmake_on")
    if parts is not None:
        for key in (*SYSTEMS, *MACHINES):
            more = _variables(parts.section(key))
            if key in (target.system, target.machine):
                variables.update(more)
        parts.close()
    return tuple(variables.items())


def _variables(section: yamlfile.Section | None) -> Iterable[tuple[str, str]]:
    if section is None:
        return ()
    variables = tuple(section.scalars())
    for name, _ in variables:
        if not _VARIABLE.fullmatch(name):
            raise section.error(
                name, "is not the name of a CMake variable", mend="Write NAME: value, without -D."
            )
    return variables


def _tests(section: yamlfile.Section | None) -> TestPlan:
    if section is None:
        return TestPlan(include="", exclude=(), require=(), needs=(), timeout=DEFAULT_TIMEOUT, environment=())
    needs = section.section("needs")
    plan = TestPlan(
        include=_pattern(section, "include"),
        exclude=tuple(_exclusion(entry) for entry in section.sections("exclude")),
        require=section.texts("require"),
        needs=tuple(needs.scalars()) if needs else (),
        timeout=section.integer("timeout", DEFAULT_TIMEOUT),
        environment=tuple(_variables(section.section("environment"))),
    )
    section.close()
    if plan.timeout < 1:
        raise section.error("timeout", "must be a number of seconds above 0")
    _check_exclusions(section, plan)
    return plan


def _pattern(section: yamlfile.Section, key: str) -> str:
    text = section.text(key, "")
    try:
        re.compile(text)
    except re.error as error:
        raise section.error(key, f"is not a regular expression: {error}") from None
    return text


def _exclusion(section: yamlfile.Section) -> Exclusion:
    name = section.text("name")
    reason = section.text("reason", "").strip()
    if not reason:
        raise section.error("reason", f"is missing: say why {name} is left out")
    section.close()
    return Exclusion(name=name, reason=reason)


def _check_exclusions(section: yamlfile.Section, plan: TestPlan) -> None:
    seen: set[str] = set()
    for exclusion in plan.exclude:
        if exclusion.name in seen:
            raise section.error("exclude", f"names {exclusion.name} twice")
        if plan.is_required(exclusion.name):
            raise section.error("exclude", f"leaves out {exclusion.name}, which `require` asks for")
        seen.add(exclusion.name)
