"""Whether this machine would build with the tools that a claim names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build import cuda, launcher, toolchain
from skippy_patches.build.tool import examine
from skippy_patches.compilercache import LAUNCHERS, NONE
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import content
from skippy_patches.evidence.checked import Checked, compared, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.tool import Tool
    from skippy_patches.evidence.claim import Claim, ClaimedTool

_LAUNCHER = "launcher"
_CUDA = "cuda"
_CHOSEN_BY = {"c": "CC", "cxx": "CXX"}


def tools(claim: Claim) -> Iterator[Checked]:
    """Version and bytes of every tool, by its role."""
    trouble = "there is none here"
    try:
        here = dict(toolchain.find(NONE).tools())
    except SkippyError as error:
        here, trouble = {}, error.what.rstrip(".")
    for role, recorded in claim.toolchain.items():
        if recorded is None:
            continue
        found = here.get(role) or _other(role, recorded)
        if found is None:
            yield unknown("toolchain", role, _shown(recorded), trouble)
        else:
            yield _compared(role, recorded, found)


def platform(claim: Claim) -> Iterator[Checked]:
    """System, processor and C library."""
    if claim.record is None:
        return
    for name, found in content.of_machine().items():
        yield compared("platform", name, claim.record.content["platform"][name], found)


def _other(role: str, recorded: ClaimedTool) -> Tool | None:
    """A launcher or nvcc; None when it is not here, or does not work."""
    try:
        if role == _CUDA:
            toolkit = cuda.find(os.environ)
            return toolkit.nvcc if toolkit else None
        if role != _LAUNCHER or recorded.name not in LAUNCHERS:
            return None
        place = launcher.locate(recorded.name, os.environ.get("PATH", os.defpath))
        return examine(recorded.name, Path(place)) if place else None
    except SkippyError:
        return None


def _compared(role: str, recorded: ClaimedTool, found: Tool) -> Checked:
    """By what the claim knows: its hash alone would do, its version is for people."""
    other = type(recorded)(found.name, found.version, found.sha256)
    if not recorded.sha256:
        other = other._replace(sha256="")
    if not recorded.version:
        other = other._replace(version="")
    if recorded.sha256 == other.sha256 and recorded.version == other.version:
        other = other._replace(name=recorded.name)  # c++ and g++ may be one program
    variable = _CHOSEN_BY.get(role)
    why = (
        f"{variable} chooses another one: {variable}={recorded.name}"
        if variable and recorded.name != other.name
        else ""
    )
    return compared("toolchain", role, _shown(recorded), _shown(other), why)


def _shown(tool: ClaimedTool) -> str:
    words = f"{tool.name} {tool.version}".strip()
    return f"{words}, sha256 {tool.sha256}" if tool.sha256 else words
