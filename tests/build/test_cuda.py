from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from skippy_patches.build import cuda
from tests.build import fakecuda

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.build.cuda import CudaToolkit


def find(fake: fakecuda.FakeCuda, **variables: str) -> CudaToolkit:
    """What is found with this toolkit on PATH, and nothing of this machine's."""
    found = cuda.find({**fake.variables, **variables}, folders=(), packages=[fake.wheels])
    assert found is not None
    return found


def test_a_machine_without_cuda(tmp_path: Path) -> None:
    assert cuda.find({"PATH": str(tmp_path)}, folders=(tmp_path,), packages=()) is None


def test_what_a_toolkit_tells(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)

    found = find(fake)

    assert (found.root, found.version, found.release) == (fake.root, (13, 0), "13.0")
    assert found.architectures == (75, 80, 86, 89, 90, 100, 120)
    assert (found.nvcc.name, found.nvcc.version) == ("nvcc", "13.0.88")
    assert found.nvcc.sha256 == hashlib.sha256((fake.root / "bin/nvcc").read_bytes()).hexdigest()
    assert (found.cublas, found.driver, found.gpus) == (None, None, ())


def test_a_wrapper_leads_to_the_toolkit_s_own_nvcc(tmp_path: Path) -> None:
    """Its bytes are what is recorded, and what cmake is given."""
    fake = fakecuda.make(tmp_path)
    fakecuda.script(tmp_path / "bin/nvcc", f'#!/bin/sh\nexec {fake.root}/bin/nvcc "$@"\n')

    found = cuda.find({"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, folders=(), packages=())

    assert found is not None
    assert (found.nvcc.path, found.root) == (fake.root / "bin/nvcc", fake.root)


def test_variables_beat_path_and_path_beats_the_usual_folders(tmp_path: Path) -> None:
    on_path, named = fakecuda.make(tmp_path), fakecuda.make(tmp_path, release="12.8", name="named")
    usual = fakecuda.make(tmp_path, release="12.0", name="usual")

    assert find(on_path).version == (13, 0)
    assert find(on_path, CUDA_PATH=str(named.root)).version == (12, 8)
    assert find(on_path, CUDAToolkit_ROOT=str(named.root), CUDA_PATH=str(on_path.root)).version == (12, 8)
    assert find(on_path, CUDA_HOME=str(named.root)).version == (12, 8)
    assert find(on_path, CUDACXX=str(named.root / "bin/nvcc")).version == (12, 8)
    found = cuda.find({"PATH": "/usr/bin:/bin"}, folders=(usual.root,), packages=())
    assert found is not None
    assert found.version == (12, 0)


def test_the_named_compiler_is_the_only_one(tmp_path: Path) -> None:
    """Another one instead would be a surprise in the record."""
    fake = fakecuda.make(tmp_path)

    assert cuda.find({**fake.variables, "CUDACXX": "/nowhere/nvcc"}, folders=(fake.root,)) is None


def test_what_variables_name_and_is_not_there(tmp_path: Path) -> None:
    root = fakecuda.make(tmp_path).root
    wrong = {"CUDA_PATH": "/nowhere", "CUDA_HOME": str(tmp_path), "CUDAToolkit_ROOT": str(root)}

    assert cuda.astray({"PATH": "/bin"}) == {}
    assert cuda.astray({"PATH": "/bin", **wrong}) == {
        "CUDA_PATH": "is /nowhere, which is no folder",
        "CUDA_HOME": f"is {tmp_path}, which has no bin/nvcc",
    }
    assert cuda.astray({"PATH": "/bin", **wrong, "CUDACXX": str(root / "bin/nvcc")}) == {}
    assert cuda.astray({"PATH": "/bin", **wrong, "CUDACXX": "/x"}) == {
        "CUDACXX": "is /x, which is no program"
    }


def test_an_nvcc_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fakecuda.script(tmp_path / "bin/nvcc", "#!/bin/sh\necho cannot load libnvvm >&2\nexit 127\n")

    found = cuda.find({"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, folders=(fake.root,), packages=())

    assert found is not None
    assert found.root == fake.root


def test_flags_in_variables_do_not_reach_nvcc(tmp_path: Path) -> None:
    assert find(fakecuda.make(tmp_path), NVCC_PREPEND_FLAGS="-arch=sm_10").architectures


def test_cublas_is_the_toolkit_s_own_before_a_wheel_s(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    wheel = fake.add_wheel()
    assert find(fake).cublas == wheel

    assert fake.add_cublas() == find(fake).cublas == fake.root / "lib64"
    assert cuda.cublas_headers(find(fake)) == fake.root / "include"


def test_cublas_of_conda(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)

    assert fake.add_cublas(folder="targets/x86_64-linux/lib") == find(fake).cublas


def test_cublas_of_another_generation_is_none(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fake.add_cublas(version="12")
    fake.add_wheel(name="cublas", version="12")
    assert find(fake).cublas is None

    older = fakecuda.make(tmp_path, release="12.4", name="older")
    assert find(older).cublas == fake.wheels / "cublas/lib"


def test_cublas_without_headers_is_none(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fake.add_cublas(headers=False)

    assert find(fake).cublas is None


def test_gpus_and_driver(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fake.add_gpu("9.0, 580.65.06", "8.6, 580.65.06", "8.6, 580.65.06")

    found = find(fake)

    assert (found.gpus, found.driver) == ((86, 90), "580.65.06")


def test_a_driver_that_sees_no_gpu(tmp_path: Path) -> None:
    fake = fakecuda.make(tmp_path)
    fake.add_gpu("No devices were found")

    assert (find(fake).gpus, find(fake).driver) == ((), None)
