"""Backends that a recipe turns on, held against what it says that it requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_BACKENDS = {
    "GGML_CUDA": ("cuda", "cublas"),
    "GGML_VULKAN": ("vulkan", "spirv", "glslc"),
    "GGML_METAL": ("metal",),
    "GGML_HIP": ("hip", "hipblas"),
    "GGML_RPC": ("rpc",),
}


def check(case: Case) -> Iterator[Finding]:
    """A backend of which the recipe requires nothing at all: doctor has then not looked for it."""
    for option, words in _BACKENDS.items():
        if case.is_on(option) and not set(words) & set(case.recipe.requires):
            said = ", ".join((*case.recipe.requires, *words))
            yield finding.warning(
                "requirement-unsaid",
                f"The recipe turns {option} on and does not say that it requires {' and '.join(words)}.",
                why="So nothing of that was looked for: what is missing shows when cmake stops.",
                mend=f"Write it into {case.recipe.file}: requires: [{said}]",
            )
