"""Vulkan: headers, loader, SPIR-V's headers, the shader compiler, and the driver on which tests run.

Looked for where CMake looks, and for headers and loader also where the C++ compiler does.
"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import tool
from skippy_patches.build.doctor import finding
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

SDK = "VULKAN_SDK"
_OR_SDK = f"Or the SDK of lunarg.com, and {SDK}=/path/to/it"
_HEADER, _C_HEADER = "vulkan/vulkan.hpp", "vulkan/vulkan_core.h"
_NEEDED = (1, 3, 272)  # VkLayerSettingEXT, which ggml-vulkan.cpp of b10361 uses
_COMPLETE = re.compile(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(\d+, *(\d+), *(\d+),")
_PATCH = re.compile(r"^#define VK_HEADER_VERSION (\d+)", re.MULTILINE)
_SHIM = "CMAKE_PROJECT_ggml_INCLUDE"  # with it, a recipe brings the missing names, as recipe vulkan does
_SPIRV = "SPIRV-Headers/SPIRV-HeadersConfig.cmake"
_SELECT = "VK_LOADER_DRIVERS_SELECT"
_DRIVERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")
_EXTENSION = "GL_KHR_cooperative_matrix"
_SHADER = f"#version 460\n#extension {_EXTENSION} : require\nvoid main() {{}}\n"


def variable(case: Case) -> Iterator[Finding]:
    """VULKAN_SDK, where it is set."""
    folder = case.host.variables.get(SDK)
    if folder and not Path(folder).is_dir():
        yield finding.warning(
            "vulkan-variable",
            f"{SDK} is {folder}, which is no folder.",
            why="CMake looks there first, and then takes another Vulkan than was meant.",
            mend=f"Correct it, or: unset {SDK}",
        )


def headers(case: Case) -> Iterator[Finding]:
    """Vulkan's C++ headers, new enough."""
    if not _has_header(case, _HEADER):
        yield finding.error(
            "vulkan-headers-missing",
            f"Vulkan's C++ headers were not found: {_HEADER}.",
            why="ggml-vulkan.cpp includes them.",
            mend=f"Debian, Ubuntu: apt install libvulkan-dev. Fedora: dnf install vulkan-headers.\n{_OR_SDK}",
        )
        return
    version = _version(case)
    if version is not None and version < _NEEDED and not case.recipe.variable(_SHIM):
        told, needed = (".".join(map(str, each)) for each in (version, _NEEDED))
        yield finding.error(
            "vulkan-headers-old",
            f"Vulkan's headers are of version {told}: {needed} or newer is needed.",
            why="ggml-vulkan.cpp uses names that they lack, and is compiled after minutes of shaders.",
            mend="Build on recipe vulkan, which declares them: extends: vulkan\n"
            f"Or install newer ones. {_OR_SDK}",
        )


def loader(case: Case) -> Iterator[Finding]:
    """The library that libggml-vulkan links."""
    names = ("libvulkan.so", "libvulkan.dylib")
    if not any(_has_library(case, name) for name in names):
        yield finding.error(
            "vulkan-loader-missing",
            "Vulkan's loader was not found: libvulkan.so (the one without a number, to link with).",
            why="libggml-vulkan is linked with it.",
            mend="Debian, Ubuntu: apt install libvulkan-dev. Fedora: dnf install vulkan-loader-devel.\n"
            f"{_OR_SDK}",
        )


def spirv(case: Case) -> Iterator[Finding]:
    """The CMake package of SPIR-V's headers."""
    for prefix in case.prefixes(SDK):
        for folder in ("share/cmake", "lib/cmake", "lib64/cmake", "lib/*/cmake"):
            if next(prefix.glob(f"{folder}/{_SPIRV}"), None):
                return
    yield finding.error(
        "spirv-missing",
        f"SPIR-V's headers were not found: {_SPIRV}.",
        why="llama.cpp's CMakeLists.txt stops without them.",
        mend="Debian, Ubuntu: apt install spirv-headers. Fedora: dnf install spirv-headers-devel.\n"
        f"{_OR_SDK}",
    )


def shader_compiler(case: Case) -> Iterator[Finding]:
    """Glslc: there, running, and how much of the shading language it knows."""
    inside = [folder / "bin/glslc" for folder in case.prefixes(SDK)]
    program = case.host.which("glslc") or next((file for file in inside if file.is_file()), None)
    if program is None:
        yield finding.error(
            "tool-missing",
            "glslc was not found.",
            why="It compiles the 1,394 shaders of the Vulkan backend.",
            mend=f"Debian, Ubuntu: apt install glslc. Fedora: dnf install glslc.\n{_OR_SDK}",
        )
        return
    try:
        found = tool.examine("glslc", program)
    except SkippyError as error:
        yield finding.of(error)
        return
    command = (program, "-fshader-stage=compute", "--target-env=vulkan1.3", "-o", "-", "-")
    if f"extension not supported: {_EXTENSION}" in case.run(*command, given=_SHADER).output:
        yield finding.info(
            "glslc-old",
            f"glslc ({program}, {found.version}) does not know cooperative matrices.",
            why="llama.cpp leaves the shaders out that use them: slower on GPUs that have them.",
            mend=f"Take a newer one. {_OR_SDK}",
        )


def device(case: Case) -> Iterator[Finding]:
    """The driver that the recipe's tests select. Not needed to build."""
    wanted = dict(case.recipe.tests.environment).get(_SELECT, "")
    if not wanted or case.host.platform.system != "linux":
        return
    files = [file.name for folder in _DRIVERS for file in case.host.place(folder).glob("*.json")]
    if any(fnmatch.fnmatchcase(name, pattern) for name in files for pattern in wanted.split(",")):
        return
    yield finding.warning(
        "vulkan-device-missing",
        f"No Vulkan driver {wanted} was found, on which the recipe's tests run.",
        why=f"The tests set {_SELECT}={wanted}; without that driver they find no device, and fail or skip.",
        mend="Lavapipe is Mesa's, for the processor. Debian, Ubuntu: apt install mesa-vulkan-drivers.\n"
        f"For the GPU of this machine, in a recipe of yours: tests.environment: {{{_SELECT}: null}}",
    )


def _has_header(case: Case, name: str) -> bool:
    if any((prefix / "include" / name).is_file() for prefix in case.prefixes(SDK)):
        return True
    compiler = case.tool_if_there("cxx")
    if compiler is None:
        return False
    asks = f"#if !__has_include(<{name}>)\n#error none\n#endif\n"
    return case.run(compiler.path, "-x", "c++", "-E", "-", given=asks).is_fine


def _version(case: Case) -> tuple[int, int, int] | None:
    for prefix in case.prefixes(SDK):
        try:
            text = (prefix / "include" / _C_HEADER).read_text("utf-8", "replace")
        except OSError:
            continue
        complete, patch = _COMPLETE.search(text), _PATCH.search(text)
        if complete and patch:
            return int(complete[1]), int(complete[2]), int(patch[1])
    return None


def _has_library(case: Case, name: str) -> bool:
    for prefix in case.prefixes(SDK):
        if any(
            next(prefix.glob(f"{folder}/{name}"), None) for folder in ("lib", "lib64", "lib/*-linux-gnu*")
        ):
            return True
    compiler = case.tool_if_there("cxx")
    if compiler is None:
        return False
    told = case.run(compiler.path, f"-print-file-name={name}").output.strip()
    return Path(told).is_absolute() and Path(told).exists()
