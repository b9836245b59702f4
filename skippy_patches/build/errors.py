"""What can go wrong between a patched checkout and a tested library: one class a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build.backends import meant, nearest
from skippy_patches.errors import BuildError, ConfigError, SkippyError, TestsError, UsageError, WrongTree
from skippy_patches.yamlfile import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class UnknownRecipe(UsageError):
    """There is no recipe of that name."""

    def __init__(self, name: str, known: Iterable[str], folder: Path, *, is_shipped: bool = False) -> None:
        names = tuple(known)
        if is_shipped:
            mend = f"skippy-patches brings one, to copy there and commit: skippy-patches recipe add {name}"
        else:
            mend = nearest(name, names) if names else f"Write one: {folder / (name + '.yaml')}"
        super().__init__(
            f"There is no recipe '{name}'.", why=f"Recipes are the *.yaml files of {folder}.", mend=mend
        )


class RecipeDiffers(UsageError):
    """A shipped recipe is asked for, and the project has another one of that name."""

    def __init__(self, name: str, file: Path) -> None:
        super().__init__(
            f"There is a recipe '{name}' already, and it is another one: {file}",
            why="The project's own recipes are never overwritten.",
            mend="To take the shipped one, move yours away first; to build with yours: "
            f"skippy-patches build --recipe {name}",
        )


class UnknownVariable(ConfigError):
    """A variable of a recipe that nothing reads: cmake takes any, and a misspelt one does nothing."""

    def __init__(self, name: str, whose: str, names: Iterable[str], *, file: Path, line: int | None) -> None:
        """whose: what does not know it. names: those that are known there."""
        near = suggest(name, names)
        super().__init__(
            f"'{name}' is no variable of {whose}",
            file=file,
            line=line,
            why="cmake takes it, and nothing reads it.",
            mend=near if near.startswith("Did") else "Delete the line.",
        )


class NoSuchFlag(UsageError):
    """A backend or recipe written as a flag, where there is none of that name."""

    def __init__(self, name: str, flags: Sequence[str], recipes: Iterable[str]) -> None:
        """flags: backends that have one in this command. recipes: those of the project."""
        known = tuple(recipes)
        if flag := meant(name, flags):
            mend = f"Did you mean --{flag}?"
        elif recipe := name if name in known else meant(name, known):
            mend = f"Name the recipe: --recipe {recipe}"
        else:
            mend = nearest(name, known or flags)
        super().__init__(
            f"There is no flag --{name}.",
            why=f"Flags for backends are: {', '.join(f'--{each}' for each in flags)}." if flags else "",
            mend=mend,
        )


class SeveralRecipes(UsageError):
    """Two recipes are named for one build."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"One recipe at a time, not {' and '.join(names)}.",
            why="A build is of one recipe: each has its own folder, its own libraries and its own record.",
            mend="\n".join(f"Build {name}: skippy-patches build --recipe {name}" for name in names),
        )


class ToolMissing(BuildError):
    """A program that the build needs is not on this machine, or is too old."""

    def __init__(self, program: str, *, why: str, mend: str) -> None:
        super().__init__(f"{program} was not found.", why=why, mend=mend)
        self.program = program


class ToolTooOld(BuildError):
    """A program is older than what the build asks of it."""

    def __init__(self, program: str, path: Path, version: str, *, wanted: str, mend: str) -> None:
        super().__init__(
            f"{program} {version} ({path}) is too old: {wanted} or newer is needed.", why="", mend=mend
        )


class ToolBroken(BuildError):
    """A program is there and cannot even tell its version."""

    def __init__(self, program: str, path: Path, output: str) -> None:
        super().__init__(f"{program} ({path}) does not run.", why=output.strip(), mend="Reinstall it.")


class ForeignBuildFolder(WrongTree):
    """The folder to build in has content, and nothing says that skippy-patches made it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} holds files that skippy-patches did not put there.",
            why="Mixing two builds in one folder gives libraries that nobody can describe.",
            mend=f"Look at it, then move it away or delete it: {folder}",
        )


class _Failed(BuildError):
    """Shared wording: the end of the output and where all of it is."""

    def __init__(self, what: str, output: Sequence[str], log: Path, *, why: str = "", mend: str = "") -> None:
        lines = "\n".join(output)
        super().__init__(
            what,
            why="\n".join(part for part in (lines, why) if part),
            mend="\n".join(part for part in (mend, f"The whole log: {log}") if part),
        )
        self.output = tuple(output)
        self.log = log


class ConfigureFailed(_Failed):
    """CMake's configure step stopped."""

    def __init__(self, status: int, output: Sequence[str], log: Path) -> None:
        super().__init__(f"cmake could not configure llama.cpp (status {status}):", output, log)


class BuildFailed(_Failed):
    """A compiler or the linker stopped with an error of the code."""

    def __init__(self, status: int, output: Sequence[str], log: Path) -> None:
        super().__init__(
            f"The build stopped (ninja's status {status}):",
            output,
            log,
            mend="If a patch of the queue touches this file, mend that patch; then build again.",
        )


class OutOfMemory(_Failed):
    """The kernel killed a compiler, or it found no memory."""

    def __init__(self, output: Sequence[str], log: Path, *, jobs: int) -> None:
        fewer = max(1, jobs // 2)
        super().__init__(
            f"The machine ran out of memory: a compiler was killed ({jobs} ran at once).",
            output,
            log,
            why="Compiling some files of llama.cpp takes up to 2 GB each.",
            mend=f"Compile fewer at once: --jobs {fewer}" if jobs > 1 else "Add memory or swap.",
        )


class DiskFull(_Failed):
    """No space left on the device while building."""

    def __init__(self, output: Sequence[str], log: Path, *, folder: Path) -> None:
        super().__init__(
            "The disk is full.", output, log, mend=f"Free some space on the file system of {folder}."
        )


class UnknownTarget(BuildError):
    """The recipe asks for a target that this llama.cpp does not have."""

    def __init__(self, output: Sequence[str], recipe: Path) -> None:
        super().__init__(
            "The recipe names a target that this llama.cpp does not have.",
            why="\n".join(output),
            mend=f"Correct `targets` in {recipe}.",
        )


class NoTarget(BuildError):
    """The recipe's targets are patterns, and none of them matches anything."""

    def __init__(self, patterns: Sequence[str], recipe: Path) -> None:
        super().__init__(
            f"No target of this llama.cpp matches {', '.join(patterns)}.",
            why="There would be nothing to build.",
            mend=f"Name a target that is always there, llama for example, in `targets` of {recipe}.",
        )


class NoLibrary(BuildError):
    """The build ended well and made no libllama."""

    def __init__(self, folder: Path, found: Iterable[str]) -> None:
        names = ", ".join(found) or "none"
        super().__init__(
            "The build made no shared libllama.",
            why=f"Shared libraries found in {folder}: {names}.",
            mend="The recipe needs BUILD_SHARED_LIBS: ON and must build the target llama.",
        )


class LibraryMissing(BuildError):
    """The recipe names a library that the build did not make."""

    def __init__(self, pattern: str, found: Sequence[str], recipe: Path) -> None:
        super().__init__(
            f"The build made no library '{pattern}', which the recipe asks for.",
            why=f"It made: {', '.join(found)}.",
            mend=f"Correct `artifacts` or the variables in {recipe}. {suggest(pattern, found)}",
        )


class NotBuilt(BuildError):
    """A stage needs a build that has not been made."""

    def __init__(self, recipe: str, file: Path, why: str = "") -> None:
        super().__init__(
            f"The recipe '{recipe}' has not been built here.",
            why=why or f"There is no {file}.",
            mend=f"Build it: skippy-patches build --recipe {recipe}",
        )


class TestsNotListed(TestsError):
    """Ctest cannot tell which tests there are."""

    def __init__(self, output: str, folder: Path) -> None:
        super().__init__(f"ctest cannot list the tests of {folder}.", why=output.strip(), mend="Build again.")


class NoTestsRan(TestsError):
    """Nothing ran, and a green result would mean nothing."""

    def __init__(self, why: str, mend: str = "") -> None:
        super().__init__("No test ran.", why=why, mend=mend)


class TestsStopped(TestsError):
    """Ctest ended without a result."""

    def __init__(self, status: int, output: Sequence[str], log: Path) -> None:
        super().__init__(
            f"ctest stopped with status {status} and wrote no result.",
            why="\n".join(output),
            mend=f"The whole log: {log}",
        )


class TestsFailed(TestsError):
    """One test or more failed, timed out or could not start."""

    def __init__(self, failures: Sequence[tuple[str, str, str]], log: Path) -> None:
        """Take (name, reason, end of the output) of each failure."""
        names = ", ".join(f"{name} ({reason})" for name, reason, _ in failures)
        plural = "test" if len(failures) == 1 else "tests"
        super().__init__(
            f"{len(failures)} {plural} failed: {names}.",
            why="\n".join(f"--- {name}\n{output}" for name, _, output in failures if output),
            mend=f"The whole output: {log}",
        )
        self.names = tuple(name for name, _, _ in failures)


class PrefixBreaks(SkippyError):
    """The first prefix of the queue that does not apply, build or pass its tests."""

    def __init__(self, name: str, error: SkippyError) -> None:
        super().__init__(
            f"The queue breaks at {name}: {error.what}",
            why=error.why,
            mend=f"{error.mend}\nAmend that patch: skippy-patches edit {int(name[:4])}",
        )
        self.exit_status = error.exit_status  # type: ignore[misc]  # that of the cause


class UnusablePath(UsageError):
    """cmake cannot work in this folder."""

    def __init__(self, path: Path, character: str) -> None:
        super().__init__(
            f"The path {path} holds {character!r}, which cmake and its flags do not carry.",
            mend="Move the project, or set `checkout:` in skippy-patches.yaml, to a path without it.",
        )


class BadPattern(UsageError):
    """A regular expression that does not compile."""

    def __init__(self, pattern: str, problem: str) -> None:
        super().__init__(f"'{pattern}' is not a regular expression: {problem}.")


class BadLauncher(UsageError):
    """A compiler launcher that is not known, or is asked for and not there."""

    def __init__(self, name: str, choices: Iterable[str], *, why: str = "", mend: str = "") -> None:
        what = f"The compiler launcher '{name}' cannot be used."
        cure = f"Install it: {mend}\nOr build without: --launcher none"
        super().__init__(what, why=why, mend=cure if mend else suggest(name, choices))


class LauncherBroken(BuildError):
    """A compiler launcher that works in a server, and the server does not start."""

    def __init__(self, name: str, path: Path, said: str = "") -> None:
        super().__init__(
            f"{name} ({path}) does not start its server{said}.",
            why=f"Its variables, {name.upper()}_*, may hold what it does not know.",
            mend=f"See what it says: {path} --start-server\nOr build without: --launcher none",
        )


class StoredFileBroken(SkippyError):
    """A file that an earlier stage wrote cannot be read back."""

    def __init__(self, file: Path, problem: str, mend: str) -> None:
        super().__init__(f"{file} is not what skippy-patches wrote: {problem}.", mend=mend)


class MountImpossible(BuildError):
    """A mount namespace cannot be had here."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            "The canonical mount is not possible here.",
            why=problem,
            mend="Let this user make user and mount namespaces, see docs/reproducible.md.",
        )
