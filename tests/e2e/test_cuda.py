"""Recipe cuda-smoke on the real llama.cpp, by the real nvcc; no GPU and no driver. Minutes: `pytest -m e2e`.

A machine without a CUDA toolkit fails here, for otherwise nobody would compile the backend any more. Where
that is as it should be, E2E_CUDA=none says so. cuBLAS is the toolkit's, else the wheel of the extra `cuda`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from skippy_patches.build import cuda

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "skippy-patches"
VARIABLE = "E2E_CUDA"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.environ.get(VARIABLE) == "none", reason=f"{VARIABLE}=none: no CUDA toolkit here"),
]
# As the person has it, taken before any fixture: with the caches of pins and of compiled files.
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith(("GIT_", "SKIPPY_"))}
LAUNCHER = os.environ.get("E2E_LAUNCHER", "none")
SMOKE = "75-virtual"


@pytest.fixture(scope="module")
def toolkit() -> cuda.CudaToolkit:
    """The machine's."""
    found = cuda.find(ENVIRONMENT)
    if found is None:
        pytest.fail(f"There is no nvcc. Install the CUDA toolkit, or say that it is so: {VARIABLE}=none")
    return found


@pytest.fixture(scope="module")
def environment(toolkit: cuda.CudaToolkit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One in which there is cuBLAS: what the extra `cuda` installs, where the toolkit has none."""
    if toolkit.cublas is not None:
        return ENVIRONMENT
    folder = tmp_path_factory.mktemp("wheels")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [each.partition(";")[0].strip() for each in project["optional-dependencies"]["cuda"]]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*command, *wanted], check=True, env=ENVIRONMENT)
    return {**ENVIRONMENT, "PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project's queue and recipes, and nothing built."""
    folder = tmp_path_factory.mktemp("cuda")
    shutil.copy(ROOT / "skippy-patches.yaml", folder)
    for name in ("patches", "recipes"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def run(folder: Path, environment: dict[str, str], *words: str, status: int = 0) -> tuple[str, str]:
    """Both streams of a command."""
    command = [str(PROGRAM), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr[-8000:]
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def record(copy: Path, environment: dict[str, str]) -> dict[str, Any]:
    """The record of cuda-smoke, built and tested."""
    words = ("test", "--recipe", "cuda-smoke", "--launcher", LAUNCHER)
    begin = time.monotonic()
    _, said = run(copy, environment, *words)
    print(f"cuda-smoke: {time.monotonic() - begin:.0f} s\n{said}")
    content = json.loads((copy / ".skippy/build/cuda-smoke/record.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def test_the_library_is_in_the_record(record: dict[str, Any], toolkit: cuda.CudaToolkit) -> None:
    artifacts = {each["name"]: each["sha256"] for each in record["artifacts"]}
    print(json.dumps(artifacts, indent=1))
    assert re.fullmatch(r"[0-9a-f]{64}", artifacts["libggml-cuda.so"])
    nvcc = record["toolchain"]["cuda"]
    assert (nvcc["name"], nvcc["version"], nvcc["sha256"]) == (
        "nvcc",
        toolkit.nvcc.version,
        toolkit.nvcc.sha256,
    )


def test_the_flags_are_in_the_record_and_no_path(record: dict[str, Any], toolkit: cuda.CudaToolkit) -> None:
    variables = record["cmake"]["variables"]
    own = ";".join(map(str, toolkit.gpus))
    assert variables["CMAKE_CUDA_ARCHITECTURES"] == (own or SMOKE)
    assert variables["GGML_CUDA"] == variables["GGML_CUDA_NO_VMM"] == "ON"
    assert variables["GGML_CUDA_FA"] == variables["GGML_CUDA_FA_ALL_QUANTS"] == "OFF"
    arguments = record["cmake"]["arguments"]
    assert "-DCMAKE_CUDA_COMPILER=<cuda>" in arguments
    assert "-DCMAKE_CUDA_HOST_COMPILER=<cxx>" in arguments
    assert not [argument for argument in arguments if re.search(r"[=:]/", argument)]


def test_the_queue_s_tests_pass_in_programs_that_load_it(record: dict[str, Any]) -> None:
    assert record["tests"]["failed"] == 0
    required = record["required_tests"]
    assert required["run"] == required["passed"] > 0
    assert required["skipped"] == 0


def test_the_library_wants_no_driver_and_names_no_folder(record: dict[str, Any], copy: Path) -> None:
    """What loads it finds the toolkit's libraries; the folders of this machine are in no bytes."""
    library = copy / ".skippy/build/cuda-smoke/tree/bin/libggml-cuda.so"
    assert "libggml-cuda.so" in {each["name"] for each in record["artifacts"]}
    command = ["readelf", "--dynamic", str(library)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "[libcublas.so." in told
    assert "[libcuda.so." not in told
    assert re.findall(r"R(?:UN)?PATH.*\[(.*)\]", told) == ["$ORIGIN"]


def test_another_architecture_is_refused_at_once(copy: Path, environment: dict[str, str]) -> None:
    _, said = run(copy, environment, "build", "--cuda", "--cuda-arch", "91", status=2)
    assert "'91'" in said
    assert re.search(r"Did you mean '\d+' or '\d+'\?", said)


def test_a_misspelt_flag_is_refused_before_anything_is_compiled(
    record: dict[str, Any], copy: Path, environment: dict[str, str]
) -> None:
    assert record["recipe"] == "cuda-smoke"  # so that the queue is applied
    head = "extends: cuda-smoke\ndescription: Misspelt.\ncmake:\n"
    text = f"{head}  GGML_CUDA_F16: ON\n  GGML_CUDA_FA_ALL_QUANT: ON\n"
    (copy / "recipes/misspelt.yaml").write_text(text, encoding="utf-8")
    _, said = run(copy, environment, "build", "--recipe", "misspelt", status=2)
    assert "misspelt.yaml:4: 'GGML_CUDA_F16' is no variable of this llama.cpp" in said
    text = text.replace("  GGML_CUDA_F16: ON\n", "")
    (copy / "recipes/misspelt.yaml").write_text(text, encoding="utf-8")
    _, said = run(copy, environment, "build", "--recipe", "misspelt", status=2)
    assert "Did you mean 'GGML_CUDA_FA_ALL_QUANTS'?" in said
