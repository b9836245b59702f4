"""Metal: a Mac with Apple's command line tools; its compiler only where a recipe wants the library apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

_EMBED = "GGML_METAL_EMBED_LIBRARY"


def check(case: Case) -> Iterator[Finding]:
    """Everything, one behind the other: without the first the rest means nothing."""
    if case.host.platform.system != "macos":
        yield finding.error(
            "metal-elsewhere",
            f"Metal exists on macOS only, and this is {case.host.platform.system}.",
            why="libggml-metal is linked with frameworks of macOS.",
            mend="Build this recipe on a Mac. For other GPUs: --cuda, --vulkan, --hip",
        )
        return
    if not case.run("xcode-select", "-p").is_fine:
        yield finding.error(
            "xcode-missing",
            "Apple's command line tools were not found (xcode-select -p).",
            why="The compiler and the frameworks Foundation, Metal and MetalKit come with them.",
            mend="Install them: xcode-select --install",
        )
    elif not case.recipe.is_on(_EMBED, default=True) and not _has_compiler(case):
        yield finding.error(
            "metal-compiler-missing",
            f"The recipe has {_EMBED}: OFF, and there is no metal compiler (xcrun -sdk macosx metal).",
            why="It compiles the kernels into default.metallib. With ON their source is in the library.",
            mend=f"Do without: {_EMBED}: ON in {case.recipe.file}\n"
            "Or install Xcode, and in it: xcodebuild -downloadComponent MetalToolchain",
        )


def _has_compiler(case: Case) -> bool:
    return case.run("xcrun", "-sdk", "macosx", "metal", "--version").is_fine
