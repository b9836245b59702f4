"""A machine made of folders and scripts, whole until a test takes something away."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import examination
from skippy_patches.build.doctor.case import Asked
from skippy_patches.build.doctor.host import Host
from skippy_patches.build.recipe import Platform, Recipe, TestPlan
from skippy_patches.build.recipefile import REQUIREMENTS
from tests.build import fakecuda
from tests.build.fakecuda import script, touch

if TYPE_CHECKING:
    from skippy_patches.build.doctor.report import Report
    from skippy_patches.config import Project

GB = 1 << 30
GCC = "(Debian 12.2.0-14) 12.2.0"
COMPILER = """\
#!/bin/sh
case "$1" in
--version) echo "{version}" ;;
-print-prog-name=ld) echo ld ;;
-print-file-name=*) echo "${{1#*=}}" ;;
*) case "$*" in *-E*) exit 1 ;; esac; {link} ;;
esac
"""
CAN_BUILD = tuple(word for word in REQUIREMENTS if word != "metal")  # on Linux


def says(text: str, status: int = 0) -> str:
    """A program that says `text`, whatever it is asked."""
    return f"#!/bin/sh\necho '{text}'\nexit {status}\n"


def compiler(version: str, link: str = "exit 0") -> str:
    """A compiler whose link step is `link`."""
    return COMPILER.format(version=version, link=link)


@dataclasses.dataclass(kw_only=True)
class Machine:
    """Everything that a recipe may require, but for Metal, without a GPU. A test changes what it is about."""

    folder: Path
    project: Project | None = None
    requires: tuple[str, ...] = ()
    cmake: dict[str, str] = dataclasses.field(default_factory=dict)
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    include: str = "^test-skippy-"
    asked: Asked = dataclasses.field(default_factory=Asked)
    system: str = "linux"
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    more: dict[str, object] = dataclasses.field(default_factory=dict)
    patience: float = 20

    def __post_init__(self) -> None:
        self.put("git", says("git version 2.39.5"))
        self.put("cc", compiler(f"cc {GCC}"))
        self.put("c++", compiler(f"c++ {GCC}"))
        self.put("glslc", says("shaderc v2026.1"))
        self.cuda = fakecuda.make(self.root / "usr/local")
        self.compile_cuda("exit 0")
        self.cuda.add_cublas()
        touch(self.cuda.root / "include/cuda_runtime.h")
        touch(self.cuda.root / "lib64/libcudart.so")
        touch(self.root / "usr/include/vulkan/vulkan.hpp")
        self.vulkan_headers(303)
        touch(self.root / "usr/lib/libvulkan.so")
        touch(self.root / "usr/share/vulkan/icd.d/lvp_icd.json")
        touch(self.root / "usr/share/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake")
        for name in ("hip", "hipblas", "rocblas"):
            touch(self.rocm / f"lib/cmake/{name}/{name}-config.cmake")
        touch(self.rocm / ".info/version", "6.4.1-83")
        touch(self.rocm / "llvm/bin/clang++")

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def rocm(self) -> Path:
        return self.root / "opt/rocm"

    def put(self, name: str, text: str) -> Path:
        """A program on PATH."""
        return script(self.bin / name, text)

    def compile_cuda(self, body: str) -> None:
        """What nvcc does with a source."""
        file = self.cuda.root / "bin/nvcc"
        text = fakecuda.NVCC.format(release="13.0", architectures="75 80 90", root=self.cuda.root)
        script(file, text.replace("*) exit 1 ;;", f"*) {body} ;;"))

    def vulkan_headers(self, number: int) -> None:
        """Vulkan's headers of version 1.3.`number`."""
        text = f"#define VK_HEADER_VERSION {number}\n"
        text += "#define VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION(0, 1, 3, VK_HEADER_VERSION)\n"
        touch(self.root / "usr/include/vulkan/vulkan_core.h", text)

    def remove(self, *names: str) -> None:
        """Take away files of the root."""
        for name in names:
            (self.root / name).unlink()

    def examine(self) -> Report:
        """What doctor finds."""
        more = {"cores": 4, "memory": 64 * GB, "wheels": (), "free": lambda _: 64 * GB} | self.more
        host = Host(
            variables={"PATH": str(self.bin)} | self.variables,
            platform=Platform(system=self.system, machine="x86_64"),
            root=self.root,
            **{"listen": lambda: None, "unreachable": lambda _: "", **more},  # type: ignore[arg-type]
        )
        return examination.examine(self._recipe(), self.project, host, self.asked, patience=self.patience)

    def _recipe(self) -> Recipe:
        plan = TestPlan(
            include=self.include,
            exclude=(),
            require=(),
            needs=(),
            timeout=9,
            environment=tuple(self.environment.items()),
        )
        return Recipe(
            name="mine",
            file=Path("recipes/mine.yaml"),
            folder=Path("recipes"),
            files=(),
            description="",
            cmake=tuple(({"CMAKE_CUDA_ARCHITECTURES": "80"} | self.cmake).items()),
            targets=(),
            artifacts=(),
            tests=plan,
            requires=self.requires,
        )
