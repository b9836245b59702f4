"""What doctor finds, as values, and what each of its codes stands for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from skippy_patches.apply.errors import NotOurs
from skippy_patches.build.cudaerrors import BadArchitecture, CublasMissing, NoArchitecture, NvccMissing
from skippy_patches.build.errors import (
    BadLauncher,
    ForeignBuildFolder,
    ToolBroken,
    ToolMissing,
    ToolTooOld,
    UnknownVariable,
    UnusablePath,
)
from skippy_patches.git import GitMissing

if TYPE_CHECKING:
    from skippy_patches.errors import SkippyError

ERROR = "error"  # the build would surely fail
WARNING = "warning"  # it may, or gives something else than one thinks
INFO = "info"  # worth knowing; only doctor says it
SEVERITIES = (ERROR, WARNING, INFO)
EVERY_BUILD = "every build"

CODES = {
    "cache-unused": "What `cache` in skippy-patches.yaml shares cannot be used from this machine.",
    "check-failed": "A check of doctor itself went wrong.",
    "check-unfinished": "A check took too long and was left behind.",
    "compiler-cannot-link": "The C++ compiler does not make a program of one line.",
    "compilers-differ": "The C and the C++ compiler are of different kinds or versions.",
    "conda-linker": "The system's compiler would use conda's linker.",
    "cublas-missing": "There is no cuBLAS for the CUDA toolkit.",
    "cuda-architecture": "The CUDA toolkit does not compile for a GPU that is asked for.",
    "cuda-architecture-unsaid": "Nobody says for which GPUs to compile, or it is `native` without a GPU.",
    "cuda-driver-old": "The NVIDIA driver is older than the CUDA toolkit asks for.",
    "cuda-glibc": "The C library declares functions otherwise than the headers of CUDA.",
    "cuda-incomplete": "The CUDA toolkit lacks the headers or the library of its runtime.",
    "cuda-mixed": "Parts of the CUDA toolkit are of different versions.",
    "cuda-several": "There are several CUDA toolkits.",
    "cuda-variable": "CUDAToolkit_ROOT, CUDA_PATH or CUDA_HOME names a folder without a toolkit.",
    "disk-full": "There is no space left to build.",
    "disk-low": "There is less free space than such a build takes.",
    "folder-unwritable": "The folder for checkout and builds cannot be written to, or is none.",
    "foreign-build-folder": "The build folder holds files of somebody else.",
    "foreign-checkout": "The checkout's folder is no checkout of skippy-patches.",
    "git-missing": "There is no git.",
    "glslc-old": "The shader compiler does not know cooperative matrices.",
    "gpu-missing": "There is no NVIDIA GPU or no driver: what is built for it is not run.",
    "hip-compiler-missing": "There is no compiler for HIP.",
    "hip-variable": "HIPCXX, HIP_PATH or ROCM_PATH names something that is not there.",
    "hipblas-missing": "ROCm has no hipBLAS or rocBLAS.",
    "host-compiler": "nvcc refuses the C++ compiler, most often because it is too new.",
    "jobs-exceed-memory": "--jobs asks for more compilers than the memory carries.",
    "launcher-unusable": "The compiler launcher that is asked for is not there.",
    "libcuda-missing": "There is no stub of the driver's library, nor the header to make one from.",
    "loader-path": "LD_LIBRARY_PATH leads to another libggml or libllama.",
    "loopback-missing": "No server can listen on 127.0.0.1.",
    "memory-limits-jobs": "Memory allows fewer compilers at once than there are cores.",
    "memory-short": "There is less memory than one compiler may take.",
    "metal-compiler-missing": "The recipe compiles Metal's kernels, and there is no metal compiler.",
    "metal-elsewhere": "Metal exists on macOS only.",
    "nvcc-cannot-compile": "nvcc does not compile a source of one line.",
    "nvcc-missing": "There is no CUDA toolkit.",
    "offline": "There is no network, and tests want one.",
    "preloaded-library": "LD_PRELOAD names a libggml or libllama.",
    "requirement-unsaid": "The recipe turns a backend on and does not say what it requires.",
    "rocm-missing": "There is no ROCm.",
    "rocm-old": "ROCm is older than llama.cpp asks for.",
    "spirv-missing": "The SPIR-V headers are not there.",
    "test-downloads": "The recipe runs tests that use the network and does not say so.",
    "tool-broken": "A program is there and does not run.",
    "tool-missing": "A program that the build needs is not there.",
    "tool-too-old": "A program is older than the build needs it.",
    "unusable-path": "A path holds a character that cmake does not carry.",
    "variable-unknown": "The recipe sets a variable that nothing reads.",
    "vulkan-device-missing": "The driver on which the tests run is not there.",
    "vulkan-headers-missing": "Vulkan's C++ headers are not there.",
    "vulkan-headers-old": "Vulkan's headers lack names that llama.cpp uses.",
    "vulkan-loader-missing": "Vulkan's loader cannot be linked.",
    "vulkan-variable": "VULKAN_SDK names a folder that is not there.",
    "xcode-missing": "Apple's command line tools are not there.",
}  # fmt: skip

# Errors that the stages raise when they get that far; the first that fits counts.
_ERRORS = (
    (NvccMissing, "nvcc-missing"),
    (CublasMissing, "cublas-missing"),
    (BadArchitecture, "cuda-architecture"),
    (NoArchitecture, "cuda-architecture-unsaid"),
    (BadLauncher, "launcher-unusable"),
    (ForeignBuildFolder, "foreign-build-folder"),
    (NotOurs, "foreign-checkout"),
    (UnknownVariable, "variable-unknown"),
    (UnusablePath, "unusable-path"),
    (GitMissing, "git-missing"),
    (ToolMissing, "tool-missing"),
    (ToolTooOld, "tool-too-old"),
    (ToolBroken, "tool-broken"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing about the machine.

    code: kebab-case, one of CODES, for machines. severity: one of SEVERITIES. what: the fact; why: what comes
    of it; mend: a command, a flag or a line to write, one step a line. needed_by: the requirement of the
    recipe, or EVERY_BUILD. error: what the build itself would raise, where that has words for it.
    """

    code: str
    severity: str
    what: str
    why: str = ""
    mend: str = ""
    needed_by: str = EVERY_BUILD
    error: SkippyError | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def is_error(self) -> bool:
        """Whether nothing can be built because of it."""
        return self.severity == ERROR

    @property
    def details(self) -> tuple[str, ...]:
        """Why it matters and what mends it, line by line."""
        return (*self.why.splitlines(), *(f"-> {line}" for line in self.mend.splitlines()))

    def as_json(self) -> dict[str, Any]:
        """One object of `doctor --format json`."""
        names = ("code", "severity", "what", "why", "mend", "needed_by")
        return {name: getattr(self, name) for name in names}


def error(code: str, what: str, *, why: str = "", mend: str = "") -> Finding:
    """Make a finding that stops a build."""
    return Finding(code=code, severity=ERROR, what=what, why=why, mend=mend)


def warning(code: str, what: str, *, why: str = "", mend: str = "") -> Finding:
    """Make a finding that is told before a build."""
    return Finding(code=code, severity=WARNING, what=what, why=why, mend=mend)


def info(code: str, what: str, *, why: str = "", mend: str = "") -> Finding:
    """Make a finding that only doctor tells."""
    return Finding(code=code, severity=INFO, what=what, why=why, mend=mend)


def of(raised: SkippyError, severity: str = ERROR) -> Finding:
    """A stage's own error as a finding, in its own words. Raises it when there is no code for it."""
    code = next((code for kind, code in _ERRORS if isinstance(raised, kind)), None)
    if code is None:
        raise raised
    return Finding(
        code=code, severity=severity, what=raised.what, why=raised.why, mend=raised.mend, error=raised
    )
