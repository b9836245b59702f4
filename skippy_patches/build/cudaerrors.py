"""What can be wrong with a build for CUDA before anything is compiled: one class a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build import pip
from skippy_patches.build.cuda import ROOT_VARIABLES, VARIABLE
from skippy_patches.build.errors import ToolMissing
from skippy_patches.errors import BuildError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skippy_patches.build.cuda import CudaToolkit

WHEEL = "nvidia-cublas"
_INSTALL = (
    "Install the CUDA toolkit (developer.nvidia.com/cuda-downloads; building needs no driver), "
    "or name its compiler: CUDACXX=/path/to/nvcc"
)


class NvccMissing(ToolMissing):
    """There is no CUDA toolkit, or a variable names one that is not there."""

    def __init__(self, astray: Mapping[str, str]) -> None:
        """astray: cuda.astray of the environment."""
        told = [f"{name} {what}." for name, what in astray.items()]
        if VARIABLE in astray:
            why = ["Where CUDACXX is set, only that one is taken."]
        else:
            why = [f"Looked at {', '.join(ROOT_VARIABLES)}, PATH, /usr/local/cuda and /opt/cuda."]
        mend = [f"Correct it, or: unset {name}" for name in astray]
        super().__init__(
            "nvcc",
            why="\n".join((*told, *why)),
            mend="\n".join((*mend, _INSTALL)),
        )


class CublasMissing(ToolMissing):
    """The toolkit has no cuBLAS, and no wheel brings one."""

    def __init__(self, toolkit: CudaToolkit) -> None:
        major, minor = toolkit.version
        wheel = WHEEL if major >= 13 else f"{WHEEL}-cu{major}"
        super().__init__(
            f"cuBLAS for CUDA {toolkit.release}",
            why=f"Looked for libcublas.so.{major} and cublas_v2.h in {toolkit.root} and in NVIDIA's wheels.",
            mend=f"Install it: {pip.install(f'{wheel}=={major}.{minor}.*')}\n"
            "Or the toolkit's package: libcublas-dev",
        )


class BadArchitecture(UsageError):
    """A CUDA architecture that the toolkit does not compile for, or that is none."""

    def __init__(
        self, word: str, source: str, toolkit: CudaToolkit, *, near: str, rest: Sequence[str]
    ) -> None:
        """source: who asks for it. near: what was meant, perhaps. rest: those of its list that are known."""
        known = ", ".join(map(str, toolkit.architectures))
        mends = [near] if near else []
        mends += [f"To go without it: --cuda-arch {','.join(rest)}"] if rest else []
        super().__init__(
            f"{source} asks for the CUDA architecture '{word}', which CUDA {toolkit.release} does not know.",
            why=f"{toolkit.nvcc.path} --list-gpu-arch tells: {known}.",
            mend="\n".join(mends),
        )


class NotAnArchitecture(UsageError):
    """--cuda-arch holds a word that is no architecture for any toolkit."""

    def __init__(self, word: str, near: str) -> None:
        super().__init__(
            f"--cuda-arch holds '{word}', which is no CUDA architecture.",
            why="One is a compute capability times ten: 86 is that of the GPUs with 8.6.",
            mend=near,
        )


class NoArchitecture(UsageError):
    """Nobody says for which GPUs to compile."""

    def __init__(self, source: str, toolkit: CudaToolkit) -> None:
        known = ", ".join(map(str, toolkit.architectures))
        super().__init__(
            f"{source} names no CUDA architecture.",
            why="nvcc compiles for named generations of GPUs, and this machine has none to look at.",
            mend=f"Name them: --cuda-arch 86,90\nCUDA {toolkit.release} knows: {known}.",
        )


class NotForCuda(UsageError):
    """--cuda-arch for a recipe that builds nothing for CUDA."""

    def __init__(self, recipe: str) -> None:
        super().__init__(
            f"The recipe '{recipe}' does not build for CUDA, so --cuda-arch means nothing to it.",
            mend="Name one that does: --recipe cuda. A recipe of yours says `requires: [cuda]`.",
        )


class StubFailed(BuildError):
    """The host's compiler could not make the stand-in for the driver's library."""

    def __init__(self, library: Path, output: str) -> None:
        super().__init__(
            f"No stand-in for the driver's library could be made: {library}",
            why=output.strip(),
            mend="Build without it: GGML_CUDA_NO_VMM: ON in the recipe",
        )
