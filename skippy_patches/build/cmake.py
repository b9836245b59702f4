"""Configures and builds the checkout, in a folder that never mixes two sets of flags or tools."""

from __future__ import annotations

import contextlib
import re
import shutil
from typing import TYPE_CHECKING, Any

from skippy_patches.build import (
    arguments,
    artifacts,
    codemodel,
    environment,
    ggmlgit,
    mount,
    ninja,
    options,
    plainincludes,
    process,
    result,
    stored,
)
from skippy_patches.build import jobs as parallel
from skippy_patches.build import launcher as launchers
from skippy_patches.build.engine import Launcher
from skippy_patches.build.errors import (
    BuildFailed,
    ConfigureFailed,
    DiskFull,
    ForeignBuildFolder,
    OutOfMemory,
    StoredFileBroken,
    UnknownTarget,
)
from skippy_patches.build.result import Built
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from skippy_patches.apply.result import Applied
    from skippy_patches.build.engine import Counts, Engine
    from skippy_patches.build.errors import UnknownVariable
    from skippy_patches.build.layout import Layout
    from skippy_patches.build.mount import Place
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.toolchain import Toolchain
    from skippy_patches.progress import Reporter

LABEL = "Building"
_ENTRY = re.compile(r"^(\w+):(?!INTERNAL|STATIC)\w+=", re.MULTILINE)
# NAME:TYPE=VALUE of the options that decide what is in the libraries; paths are left out.
_CACHED = re.compile(
    r"(?P<name>(?:GGML|LLAMA)_\w+|BUILD_SHARED_LIBS|CMAKE_BUILD_TYPE|CMAKE_(?:CUDA|HIP)_ARCHITECTURES)"
    r":(?:BOOL|STRING|UNINITIALIZED)=(?P<value>.*)"
)


def build(  # noqa: PLR0913 - all but four have a default that suits
    applied: Applied,
    recipe: Recipe,
    toolchain: Toolchain,
    layout: Layout,
    *,
    launcher: Launcher | None = None,
    jobs: int | None = None,
    method: str | None = None,
    variables: Mapping[str, str] | None = None,
    is_part: bool = False,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> Built:
    """Build the recipe's targets from `applied.checkout` and write `built.json`.

    The configure step runs each time, because ninja does not see a HEAD that moved. launcher: the
    toolchain's, with what it shares; None: it shares nothing. jobs: compilers at once; None: as many as cores
    and memory allow. method: a word of mount.py; None: what suits the recipe and the system. variables: the
    environment to take from; None: this process's. is_part: patches follow, which may bring variables.
    Raises the errors of build.errors (5 and 6), UnknownVariable (2), and MountImpossible (6).
    """
    if launcher is None and toolchain.launcher is not None:
        launcher = Launcher(tool=toolchain.launcher)
    with layout.locked(reporter):
        layout.built.unlink(missing_ok=True)  # a build that is interrupted leaves nothing to record
        # ccache and the compiler see the real path
        real = applied.checkout.resolve(), layout.tree.resolve()
        if method is None:
            place = mount.choose(*real, compiles_cuda=toolchain.cuda is not None, reporter=reporter)
        else:
            place = mount.of(method, *real)
        with layout.log.open("wb") as log:
            work = _Work(applied, recipe, toolchain, layout, place, reporter, log, is_part=is_part)
            built = work.run(launcher, jobs, variables)
        result.save(built, layout)
    return built


class _Work:
    """One build: what its steps share."""

    def __init__(
        self,
        applied: Applied,
        recipe: Recipe,
        toolchain: Toolchain,
        layout: Layout,
        place: Place,
        reporter: Reporter,
        log: BinaryIO,
        *,
        is_part: bool,
    ) -> None:
        self.is_part = is_part
        self.applied = applied
        self.recipe = recipe
        self.toolchain = toolchain
        self.layout = layout
        self.reporter = reporter
        self.log = log
        self.place = place
        self.source, self.tree = place.real
        self.environment: Mapping[str, str] = {}

    def run(self, launcher: Launcher | None, jobs: int | None, variables: Mapping[str, str] | None) -> Built:
        arguments.refuse_unusable(self.source, self.tree)
        self._refuse(options.unknown(self.recipe, self.source, self.toolchain.cmake))
        own = environment.for_build(self.place.source, variables=variables)
        at_work = launchers.at_work(
            launcher, own, self.source, self.tree, self.reporter, front=self.place.front
        )
        with at_work as engine:
            self.environment = self.place.environment(engine.environment)
            return self._build(engine, jobs)

    def _build(self, engine: Engine, jobs: int | None) -> Built:
        started = result.now()
        self._say_what_is_ignored()
        source, tree = self.place.source, self.place.tree
        plain = arguments.variables(self.recipe, self.toolchain, source, tree)
        given = {name: self.place.inside(value) for name, value in plain.items()}
        self._prepare_tree(_key(given, self.recipe, self.toolchain, self.source))
        line = arguments.command(arguments.identity(self.applied) | given, source, tree)
        self._configure(line)
        progress = self._compile(engine, jobs)
        found = artifacts.find(self.tree, self.recipe)
        self.reporter.step(f"Built; files compiled: {progress.compiled}, steps in all: {progress.steps}")
        cached = self._counted(engine)
        return Built(
            recipe=self.recipe.name,
            recipe_files=self.recipe.files,
            recipes=self.recipe.folder,
            patched=self.applied.patched,
            source=self.source,
            tree=self.tree,
            method=self.place.method,
            artifacts=found,
            toolchain=self.toolchain,
            remote=engine.remote,
            cached=cached,
            generator=arguments.GENERATOR,
            arguments=line,
            variables=_resolved(self.tree),
            steps=progress.steps,
            compiled=progress.compiled,
            started=started,
            finished=result.now(),
        )

    def _say_what_is_ignored(self) -> None:
        if names := environment.ignored():
            self.reporter.step(
                f"Not used from the environment: {', '.join(names)} (put flags into the recipe)"
            )
        if arguments.build_number(self.applied.upstream_tag) is None:
            tag = self.applied.upstream_tag or "(none)"
            self.reporter.step(
                f"The pin's tag {tag} holds no build number: the libraries say {arguments.NO_BUILD_NUMBER}"
            )

    def _prepare_tree(self, key: dict[str, Any]) -> None:
        """Start over when the tree was made with other flags or tools; refuse one that is not ours."""
        mend = f"Delete {self.layout.folder} and build again."
        try:
            old = stored.read(self.layout.key, mend)
        except StoredFileBroken:
            old = {}
        if self.tree.is_dir() and any(self.tree.iterdir()):
            if old is None:
                raise ForeignBuildFolder(self.tree)
            if differences := _differences(old, key):
                self.reporter.step(f"Building from scratch, because these changed: {', '.join(differences)}")
                shutil.rmtree(self.tree)
        codemodel.ask(self.tree)
        ggmlgit.write(self.tree)
        plainincludes.write(self.tree)
        stored.write(self.layout.key, key)

    def _configure(self, line: tuple[str, ...]) -> None:
        self.reporter.step(f"Configuring recipe {self.recipe.name}")
        was_configured = (self.tree / "build.ninja").is_file()
        status, output = self._start((str(self.toolchain.cmake.path), *line))
        cache = self.tree / "CMakeCache.txt"
        if status == 0:
            unused = tuple(options.unused(self.recipe, output, _entries(cache)))
            if unused and not self.is_part:
                cache.unlink()  # cmake tells it once
            self._refuse(unused)
            return
        if not was_configured:
            # What a failed first run cached (a compiler that does not work, ...) would outlive its cause.
            cache.unlink(missing_ok=True)
        raise ConfigureFailed(status, _configure_errors(output), self.layout.log)

    def _refuse(self, wrong: Iterable[UnknownVariable]) -> None:
        """Raise the first; but in a part of the queue the patch that brings the variable may be missing."""
        for error in wrong:
            if not self.is_part:
                raise error
            self.reporter.step(f"{error.what}, with this part of the queue")

    def _compile(self, engine: Engine, wanted: int | None) -> ninja.Progress:
        jobs = self._jobs(engine, wanted)
        progress = ninja.Progress(lambda done, total: self.reporter.advance(LABEL, done, total))
        targets = codemodel.expand(self.recipe.targets, self.tree, self.recipe.file, self.reporter)
        line = (str(self.toolchain.ninja.path), "-C", str(self.place.tree), "-j", str(jobs), *targets)
        status, output = self._start(line, progress.read)
        if status == 0:
            return progress
        failed = ninja.failure(output)
        if ninja.is_unknown_target(output):
            raise UnknownTarget(failed, self.recipe.file)
        if ninja.is_out_of_memory(failed):
            raise OutOfMemory(failed, self.layout.log, jobs=jobs)
        if ninja.is_disk_full(failed):
            raise DiskFull(failed, self.layout.log, folder=self.tree)
        raise BuildFailed(status, failed, self.layout.log)

    def _jobs(self, engine: Engine, wanted: int | None) -> int:
        """How many at once, told."""
        decided = parallel.decide(elsewhere=engine.cpus)
        jobs, why = (wanted, "") if wanted else (decided.count, f" ({decided.limit})")
        launcher = self.toolchain.launcher.name if self.toolchain.launcher else "no cache"
        shared = f" with {engine.remote}" if engine.remote else ""
        said = f"Compiling, {jobs} at once{why}, {launcher}{shared}"
        self.log.write(f"# {said}\n".encode())
        self.reporter.step(f"{said}; the log is {self.layout.log}")
        return jobs

    def _counted(self, engine: Engine) -> Counts | None:
        """What the launcher did, told."""
        counts = engine.count()
        if counts is not None and self.toolchain.launcher is not None:
            self.reporter.step(counts.told(self.toolchain.launcher.name))
        return counts

    def _start(
        self, line: tuple[str, ...], listen: Callable[[str], None] | None = None
    ) -> tuple[int, tuple[str, ...]]:
        def heard(text: str) -> None:
            self.reporter.detail(self.place.outside(text))
            if listen is not None:
                listen(text)

        whole = (*self.place.front, *line)
        status, output = process.run(
            whole, environment=self.environment, log=self.log, folder=self.tree, listen=heard
        )
        return status, tuple(map(self.place.outside, output))


def _key(given: dict[str, str], recipe: Recipe, toolchain: Toolchain, source: Path) -> dict[str, Any]:
    """What a CMakeCache.txt outlives badly. ninja itself may be another: it keeps its own log."""
    tools = {
        role: f"{tool.path} {tool.version} {tool.sha256}"
        for role, tool in toolchain.tools()
        if role != "ninja"
    }
    own = {name: value for name, value in given.items() if name != "CMAKE_MAKE_PROGRAM"}
    return {"source": str(source), "variables": own, "targets": list(recipe.targets), "tools": tools}


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Names of what differs: variables and tools by their own names."""
    names: list[str] = []
    for part, value in new.items():
        before = old.get(part)
        if isinstance(value, dict) and isinstance(before, dict):
            names += sorted(key for key in value.keys() | before.keys() if value.get(key) != before.get(key))
        elif value != before:
            names.append(part)
    return names


def _configure_errors(output: tuple[str, ...]) -> tuple[str, ...]:
    """From the first "CMake Error" on."""
    start = next((at for at, line in enumerate(output) if line.startswith("CMake Error")), None)
    lines = output[-ninja.OUTPUT_LINES :] if start is None else output[start : start + ninja.OUTPUT_LINES]
    return tuple(lines)


def _resolved(tree: Path) -> tuple[tuple[str, str], ...]:
    """The options in CMakeCache.txt, sorted by name."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in (tree / "CMakeCache.txt").read_text("utf-8", "replace").splitlines():
            if match := _CACHED.fullmatch(line):
                found[match["name"]] = match["value"]
    return tuple(sorted(found.items()))


def _entries(cache: Path) -> Iterator[str]:
    """The names of a person's variables in CMakeCache.txt: NAME:TYPE=VALUE, no INTERNAL ones."""
    with contextlib.suppress(OSError):
        for match in _ENTRY.finditer(cache.read_text("utf-8", "replace")):
            yield match[1]
