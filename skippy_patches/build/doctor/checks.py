"""Every check there is, with the requirement of a recipe that it belongs to."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import (
    compilers,
    conda,
    cuda,
    cudahost,
    disk,
    hip,
    leftovers,
    loader,
    memory,
    metal,
    network,
    requirements,
    tools,
    vulkan,
)
from skippy_patches.build.doctor.finding import EVERY_BUILD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding
    from skippy_patches.build.recipe import Recipe


@dataclasses.dataclass(frozen=True, kw_only=True)
class Check:
    """subject: what it looks at, in words. needed_by: a word of recipefile.REQUIREMENTS, or EVERY_BUILD."""

    subject: str
    needed_by: str
    look: Callable[[Case], Iterable[Finding]]

    def is_needed_by(self, recipe: Recipe) -> bool:
        """Whether the recipe cannot do without."""
        return self.needed_by in (EVERY_BUILD, *recipe.requires)


def _check(subject: str, needed_by: str, look: Callable[[Case], Iterable[Finding]]) -> Check:
    return Check(subject=subject, needed_by=needed_by, look=look)


# In the order in which findings are shown; what starts programs for long stands first among its kind.
CHECKS = (
    _check("git", EVERY_BUILD, tools.git),
    _check("cmake", EVERY_BUILD, tools.cmake),
    _check("ninja", EVERY_BUILD, tools.ninja),
    _check("the C compiler", EVERY_BUILD, compilers.c),
    _check("the C++ compiler", EVERY_BUILD, compilers.cxx),
    _check("both compilers", EVERY_BUILD, compilers.pair),
    _check("linking", EVERY_BUILD, compilers.linking),
    _check("conda", EVERY_BUILD, conda.linker),
    _check("the compiler launcher", EVERY_BUILD, tools.launcher),
    _check("nvcc", "cuda", cuda.nvcc),
    _check("CUDA's variables", "cuda", cuda.variables),
    _check("nvcc with the host's compiler", "cuda", cudahost.host_compiler),
    _check("the CUDA toolkit's parts", "cuda", cuda.parts),
    _check("other CUDA toolkits", "cuda", cuda.several),
    _check("CUDA architectures", "cuda", cuda.architectures),
    _check("the stub of libcuda", "cuda", cuda.driver_library),
    _check("the NVIDIA driver", "cuda", cuda.driver),
    _check("cuBLAS", "cublas", cuda.cublas),
    _check("Vulkan's variable", "vulkan", vulkan.variable),
    _check("Vulkan's headers", "vulkan", vulkan.headers),
    _check("Vulkan's loader", "vulkan", vulkan.loader),
    _check("the Vulkan driver", "vulkan", vulkan.device),
    _check("SPIR-V's headers", "spirv", vulkan.spirv),
    _check("glslc", "glslc", vulkan.shader_compiler),
    _check("Metal", "metal", metal.check),
    _check("ROCm's variables", "hip", hip.variables),
    _check("ROCm", "hip", hip.rocm),
    _check("HIP's compiler", "hip", hip.compiler),
    _check("hipBLAS", "hipblas", hip.libraries),
    _check("the loopback", "rpc", network.loopback),
    _check("the network", "network", network.required),
    _check("tests that download", EVERY_BUILD, network.unsaid),
    _check("memory", EVERY_BUILD, memory.check),
    _check("the folders to write to", EVERY_BUILD, disk.writable),
    _check("disk space", EVERY_BUILD, disk.check),
    _check("the loader's path", EVERY_BUILD, loader.check),
    _check("the build folder", EVERY_BUILD, leftovers.build_folder),
    _check("the checkout", EVERY_BUILD, leftovers.checkout),
    _check("paths", EVERY_BUILD, leftovers.paths),
    _check("what the recipe requires", EVERY_BUILD, requirements.check),
    _check("the recipe's variables", EVERY_BUILD, requirements.variables),
)
