"""What a backend or a recipe that is none may have meant, in words to act upon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.yamlfile import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

# Other names of the backends that recipes are shipped for.
_ALIASES = {
    "amd": "hip", "amdgpu": "hip", "cublas": "cuda", "hipblas": "hip", "mtl": "metal", "nvidia": "cuda",
    "rocm": "hip", "vk": "vulkan",
}  # fmt: skip
# Backends without a recipe of ours -> the option of ggml/CMakeLists.txt that turns each on.
_UNSHIPPED = {
    "blas": "GGML_BLAS", "cann": "GGML_CANN", "hexagon": "GGML_HEXAGON", "musa": "GGML_MUSA",
    "opencl": "GGML_OPENCL", "sycl": "GGML_SYCL", "webgpu": "GGML_WEBGPU", "zdnn": "GGML_ZDNN",
}  # fmt: skip


def is_one(name: str) -> bool:
    """Whether people call a backend of llama.cpp so, if there is a recipe for it or not."""
    return name.lower() in {*_ALIASES, *_ALIASES.values(), *_UNSHIPPED}


def meant(name: str, known: Iterable[str]) -> str:
    """The one of `known` that the backend `name` is called there, or ""."""
    word = name.lower()
    found = _ALIASES.get(word, word)
    return found if found in known else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """What to do about `name`, which is none of the recipes `known`: one step a line."""
    names = sorted(known)
    if other := meant(name, names):
        return f"Did you mean '{other}'?"
    if option := _UNSHIPPED.get(name.lower()):
        return (
            f"llama.cpp has that backend; a recipe of yours turns it on, recipes/{name.lower()}.yaml: "
            f"extends: cpu, cmake: {{{option}: ON}}\nKnown: {', '.join(names)}."
        )
    return suggest(name, names)
