"""conda's linker in the hands of the system's compiler.

gcc takes its linker from its own folders, and where these have none from PATH, on which an active
conda environment stands first. That linker looks for libraries in the environment: libgomp and the C
library's own are not found there, or are older, when libggml-cpu is linked (llama.cpp#9913, #11877).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_MARK = "conda-meta"  # a folder that every conda environment has


def linker(case: Case) -> Iterator[Finding]:
    """The linker that the C++ compiler would take."""
    compiler = case.tool_if_there("cxx")
    if compiler is None or not _may_be_active(case):
        return
    told = case.run(compiler.path, "-print-prog-name=ld").output.strip()
    taken = case.host.which(told) if told else None
    environment = _environment(taken) if taken else None
    if environment is None or compiler.path.resolve().is_relative_to(environment):
        return
    yield finding.warning(
        "conda-linker",
        f"{compiler.path} would link with conda's linker: {taken}.",
        why="It looks for libraries in the conda environment, and does not find the system's: "
        "llama.cpp then often fails at its first library, with an undefined reference.",
        mend=f"Leave the environment: conda deactivate\n"
        f"Or take {environment / 'bin'} off PATH for the build, "
        "or use conda's compilers as well: conda install gxx",
    )


def _may_be_active(case: Case) -> bool:
    """Saves a start of the compiler on every other machine."""
    variables = case.host.variables
    return "CONDA_PREFIX" in variables or "conda" in case.host.path or "mamba" in case.host.path


def _environment(program: Path) -> Path | None:
    """The conda environment that a program belongs to, links resolved or not."""
    for path in (program, program.resolve()):
        for folder in path.parents:
            if (folder / _MARK).is_dir():
                return folder.resolve()
    return None
