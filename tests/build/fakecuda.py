"""A CUDA toolkit made of scripts and empty files, laid out as NVIDIA's installers do."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NVCC = """\
#!/bin/sh
[ -z "$NVCC_PREPEND_FLAGS" ] || exit 1
case "$1" in
--version) echo "nvcc: NVIDIA (R) Cuda compiler driver"
    echo "Cuda compilation tools, release {release}, V{release}.88" ;;
--list-gpu-arch) for each in {architectures}; do echo compute_$each; done ;;
-v) echo "#$ _HERE_={root}/bin" >&2; echo "#$ TOP={root}/bin/.." >&2; exit 1 ;;
*) exit 1 ;;
esac
"""
HEADER = "CUresult CUDAAPI cuInit(unsigned int Flags);\n#define cuMemFree cuMemFree_v2\n"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FakeCuda:
    """root: the toolkit. wheels: the folder `nvidia` of a site-packages."""

    root: Path
    wheels: Path

    @property
    def variables(self) -> dict[str, str]:
        """An environment in which this toolkit is the one on PATH; /usr/bin has the shell's programs."""
        return {"PATH": f"{self.root / 'bin'}:/usr/bin:/bin"}

    def add_cublas(self, *, version: str = "13", folder: str = "lib64", headers: bool = True) -> Path:
        """cuBLAS in the toolkit, ready to link."""
        library = self.root / folder / f"libcublas.so.{version}"
        touch(library)
        library.with_name("libcublas.so").symlink_to(library.name)
        if headers:
            touch(self.root / "include" / "cublas_v2.h")
        return library.parent

    def add_runtime(self) -> None:
        """What makes a toolkit whole; and nvcc compiles whatever it is given."""
        touch(self.root / "include/cuda_runtime.h")
        touch(self.root / "lib64/libcudart.so")
        nvcc = self.root / "bin/nvcc"
        script(nvcc, nvcc.read_text(encoding="utf-8").replace("*) exit 1 ;;", "*) exit 0 ;;"))

    def add_wheel(self, *, name: str = "cu13", version: str = "13") -> Path:
        """cuBLAS as NVIDIA's wheels bring it: no name to link with, headers among other headers."""
        folder = self.wheels / name / "lib"
        for library in ("libcublas", "libcublasLt", "libnvrtc"):
            touch(folder / f"{library}.so.{version}")
        for header in ("cublas_v2.h", "cublas_api.h", "cuda_runtime.h"):
            touch(self.wheels / name / "include" / header)
        return folder

    def add_gpu(self, *rows: str) -> None:
        """nvidia-smi that tells of these."""
        script(self.root / "bin" / "nvidia-smi", "#!/bin/sh\n" + "".join(f"echo '{row}'\n" for row in rows))


def make(
    folder: Path, *, release: str = "13.0", architectures: str = "75 80 86 89 90 100 120", name: str = "cuda"
) -> FakeCuda:
    """A toolkit without cuBLAS."""
    root = folder / name
    text = NVCC.format(release=release, architectures=architectures, root=root)
    script(root / "bin" / "nvcc", text)
    touch(root / "include" / "cuda.h", HEADER)
    (root / "lib64").mkdir()
    return FakeCuda(root=root, wheels=folder / "site-packages" / "nvidia")


def script(file: Path, text: str) -> Path:
    """A program."""
    touch(file, text)
    file.chmod(0o755)
    return file


def touch(file: Path, text: str = "") -> None:
    """A file, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
