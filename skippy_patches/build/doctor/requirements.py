"""What a recipe says of its variables, held against what it requires and against llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.apply import stamp
from skippy_patches.build import options
from skippy_patches.build.doctor import finding
from skippy_patches.errors import SkippyError

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
        if case.recipe.is_on(option) and not set(words) & set(case.recipe.requires):
            said = ", ".join((*case.recipe.requires, *words))
            yield finding.warning(
                "requirement-unsaid",
                f"The recipe turns {option} on and does not say that it requires {' and '.join(words)}.",
                why="So nothing of that was looked for: what is missing shows when cmake stops.",
                mend=f"Write it into {case.recipe.file}: requires: [{said}]",
            )


def variables(case: Case) -> Iterator[Finding]:
    """Variables that nothing reads, where the checkout is as a build will find it: else nobody can tell."""
    if case.project is None or stamp.answer(str(case.project.root), case.host.variables) is None:
        return
    cmake = case.tool_if_there("cmake")
    if cmake is None:
        return
    try:
        yield from map(finding.of, options.unknown(case.recipe, case.project.checkout, cmake))
    except SkippyError as error:
        yield finding.of(error)
