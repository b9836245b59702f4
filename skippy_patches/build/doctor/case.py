"""What a check gets to see: the recipe, the project and the machine, which it may ask each thing once."""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skippy_patches.build import cuda, toolchain
from skippy_patches.build import launcher as launchers
from skippy_patches.build.layout import Layout
from skippy_patches.compilercache import NOT_CONFIGURED
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skippy_patches.build.cuda import CudaToolkit
    from skippy_patches.build.doctor.host import Host, Ran
    from skippy_patches.build.launcher import Choice
    from skippy_patches.build.recipe import Recipe
    from skippy_patches.build.tool import Tool
    from skippy_patches.compilercache import CompilerCache
    from skippy_patches.config import Project

TOOLKIT, LAUNCHER = "toolkit", "launcher"  # questions of Memo
_Answer = TypeVar("_Answer")
_PLACING = (
    "CMAKE_TOOLCHAIN_FILE", "CMAKE_SYSROOT", "CMAKE_FIND_ROOT_PATH", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER",
    "CMAKE_CUDA_COMPILER", "CMAKE_HIP_COMPILER", "CMAKE_LINKER", "CUDAToolkit_", "CUDA_", "Vulkan_", "hip_",
    "hipblas_", "rocblas_",
)  # fmt: skip
# Where CMake looks for packages, headers and libraries besides the folders of PATH and CMAKE_PREFIX_PATH.
_PREFIXES = ("/usr/local", "/usr", "/opt/homebrew", "/opt/local")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line and the configuration ask for beside the recipe.

    is_twice: it shall be built once more, elsewhere.
    """

    launcher: str = "auto"
    jobs: int | None = None
    architectures: str = ""
    cache: CompilerCache = NOT_CONFIGURED
    is_twice: bool = False


class Memo:
    """Answers that several checks want. A question is put once; who asks meanwhile waits for the answer."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[object, threading.Lock] = {}
        self._answers: dict[object, tuple[Any, SkippyError | None]] = {}

    def ask(self, question: object, answer: Callable[[], _Answer]) -> _Answer:
        """What `answer` returned, or the SkippyError that it raised."""
        with self._guard:
            lock = self._locks.setdefault(question, threading.Lock())
        with lock:
            if question not in self._answers:
                self._answers[question] = self._try(answer)
        given, raised = self._answers[question]
        if raised is not None:
            raise raised
        found: _Answer = given
        return found

    def known(self, question: object) -> Any:
        """What was answered so far, without waiting; None: nothing."""
        answer, _ = self._answers.get(question, (None, None))
        return answer

    @staticmethod
    def _try(answer: Callable[[], _Answer]) -> tuple[_Answer | None, SkippyError | None]:
        try:
            return answer(), None
        except SkippyError as error:
            return None, error


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A recipe that shall be built on a machine. project: None where only the machine is of interest."""

    recipe: Recipe
    project: Project | None
    host: Host
    asked: Asked
    memo: Memo

    def run(self, *command: str | Path, given: str = "") -> Ran:
        """What comes of a program; the same command line is started once for all checks."""
        words = tuple(map(str, command))
        return self.memo.ask((words, given), lambda: self.host.run(words, given))

    def tool(self, role: str) -> Tool:
        """The cmake, ctest, ninja, c or cxx of the build. Raises what toolchain.find raises for it."""
        return self.memo.ask(role, toolchain.seekers(self.host.variables)[role])

    def tool_if_there(self, role: str) -> Tool | None:
        """The same, for a check that says nothing of it: another one does."""
        try:
            return self.tool(role)
        except SkippyError:
            return None

    def toolkit(self) -> CudaToolkit | None:
        """The CUDA toolkit that the build takes."""
        folders = tuple(self.host.place(folder) for folder in cuda.FOLDERS)
        return self.memo.ask(
            TOOLKIT, lambda: cuda.find(self.host.variables, folders=folders, packages=self.host.wheels)
        )

    def launcher(self) -> Choice:
        """What runs in front of the compilers. Raises what launcher.choose raises."""
        asked = self.asked
        return self.memo.ask(
            LAUNCHER, lambda: launchers.choose(asked.launcher, asked.cache, self.host.variables)
        )

    def layout(self) -> Layout | None:
        """Where the build will be."""
        return Layout.of(self.project.state, self.recipe.name) if self.project else None

    def places_itself(self) -> bool:
        """Whether the recipe tells CMake where something is, which a check may then not find."""
        return any(name.startswith(_PLACING) for name, _ in self.recipe.cmake)

    def prefixes(self, *roots: str) -> tuple[Path, ...]:
        """Folders in which CMake looks for lib, include and share. roots: variables that name more."""
        named = [Path(self.host.variables[name]) for name in roots if self.host.variables.get(name)]
        named += [Path(part) for part in self.recipe.variable("CMAKE_PREFIX_PATH").split(";") if part]
        parts = [Path(part) for part in self.host.path.split(os.pathsep) if part]
        named += [part.parent for part in parts if part.name in {"bin", "sbin"}]
        named += [self.host.place(prefix) for prefix in _PREFIXES]
        return tuple(folder for folder in dict.fromkeys(named) if folder.is_dir())


def first_lines(output: str, words: Sequence[str] = ("error", "fatal"), count: int = 4) -> str:
    """What a compiler's output says first: its errors, else its first lines."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    told = [line for line in lines if any(word in line.lower() for word in words)]
    return "\n".join((told or lines)[:count])
