from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches.build import cudaarch
from skippy_patches.build.cuda import CudaToolkit
from skippy_patches.build.cudaerrors import BadArchitecture, NoArchitecture
from skippy_patches.build.tool import Tool

KNOWN = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)  # of CUDA 13.0


def toolkit(*gpus: int) -> CudaToolkit:
    nvcc = Tool(name="nvcc", path=Path("/cuda/bin/nvcc"), version="13.0.88", sha256="f" * 64)
    return CudaToolkit(
        root=Path("/cuda"),
        nvcc=nvcc,
        version=(13, 0),
        architectures=KNOWN,
        cublas=None,
        driver=None,
        gpus=gpus,
    )


@pytest.mark.parametrize(
    ("asked", "gpus", "value", "source"),
    [
        ("86,90", (), "86;90", "--cuda-arch"),
        ("86;90", (89,), "86;90", "--cuda-arch"),
        (" 90a-real, 75-virtual 75-virtual ", (), "90a-real;75-virtual", "--cuda-arch"),
        ("120f", (), "120f", "--cuda-arch"),
        ("", (89, 120), "89;120", "the GPU of this machine"),
        ("native", (86,), "86", "the GPU of this machine"),
        ("", (), "75-virtual;86-real", "recipe mine"),
    ],
)
def test_option_then_gpu_then_recipe(asked: str, gpus: tuple[int, ...], value: str, source: str) -> None:
    chosen = cudaarch.choose(asked, "mine", "75-virtual;86-real", toolkit(*gpus))

    assert (chosen.value, chosen.source) == (value, source)


@pytest.mark.parametrize(
    ("asked", "mend"),
    [
        ("91", "Did you mean '89' or '90'?"),
        ("52", "Did you mean '75' or '80'?"),
        ("130", "Did you mean '120' or '121'?"),
        ("sm_86", "Did you mean '86'?"),
        ("compute_90a", "Did you mean '90a'?"),
        ("8.6", "Did you mean '86'?"),
        ("86-reel", "Write a number: --cuda-arch 86,90"),
        ("all", "Write a number: --cuda-arch 86,90"),
        ("86,91,90", "Did you mean '89' or '90'?\nTo go without it: --cuda-arch 86,90"),
    ],
)
def test_what_the_toolkit_does_not_know_names_the_nearest(asked: str, mend: str) -> None:
    with pytest.raises(BadArchitecture, match=r"^--cuda-arch asks for the CUDA architecture '") as caught:
        cudaarch.choose(asked, "mine", "", toolkit())

    assert caught.value.exit_status == 2
    assert "75, 80, 86" in caught.value.why
    assert caught.value.mend == mend


def test_the_recipe_s_list_is_checked_as_well() -> None:
    with pytest.raises(
        BadArchitecture, match="Recipe mine asks for the CUDA architecture '61-virtual'"
    ) as caught:
        cudaarch.choose("", "mine", "61-virtual;86-real", toolkit())

    assert caught.value.mend.endswith("To go without it: --cuda-arch 86-real")


def test_a_gpu_that_the_toolkit_has_given_up() -> None:
    with pytest.raises(BadArchitecture, match="The GPU of this machine asks for the CUDA architecture '61'"):
        cudaarch.choose("", "mine", "75", toolkit(61))


@pytest.mark.parametrize(
    ("asked", "says"), [("", "The recipe 'mine' names no"), ("native", "--cuda-arch native")]
)
def test_nobody_says_for_which_gpu(asked: str, says: str) -> None:
    with pytest.raises(NoArchitecture, match=says) as caught:
        cudaarch.choose(asked, "mine", "", toolkit())

    assert "--cuda-arch 86,90" in caught.value.mend


def test_native_is_not_the_recipe_s_list() -> None:
    """Without a GPU it has no meaning, and another one would be a surprise."""
    with pytest.raises(NoArchitecture):
        cudaarch.choose("native", "mine", "75", toolkit())
