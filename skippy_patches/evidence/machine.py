"""Whether this machine would build with the tools that a claim names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skippy_patches.build import cuda, launcher, toolchain
from skippy_patches.compilercache import CCACHE, SCCACHE
from skippy_patches.errors import SkippyError
from skippy_patches.evidence import content
from skippy_patches.evidence.checked import Checked, compared, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skippy_patches.build.tool import Tool
    from skippy_patches.evidence.claim import Claim, ClaimedTool

_LAUNCHER = "launcher"
_CUDA = "cuda"
_CHOSEN_BY = {"c": "CC", "cxx": "CXX", "cuda": "CUDACXX"}
_CUDA_PLACES = ", ".join((cuda.VARIABLE, *cuda.ROOT_VARIABLES, "PATH", "the folders of NVIDIA's installers"))


def tools(claim: Claim) -> Iterator[Checked]:
    """Version and bytes of every tool, by its role; each is looked for alone."""
    seek = toolchain.seekers(os.environ)
    for role, recorded in claim.toolchain.items():
        if recorded is None:
            continue
        found = _find(role, recorded, seek)
        if isinstance(found, str):
            yield unknown("toolchain", role, _shown(recorded), found)
        else:
            yield _compared(role, recorded, found)


def platform(claim: Claim) -> Iterator[Checked]:
    """System, processor and C library."""
    if claim.record is None:
        return
    for name, found in content.of_machine().items():
        yield compared("platform", name, claim.record.content["platform"][name], found)


def _find(role: str, recorded: ClaimedTool, seek: Mapping[str, Callable[[], Tool]]) -> Tool | str:
    """What a build would take here; or why there is nothing to compare with, and what was looked for."""
    try:
        if role in seek:
            return seek[role]()
        if role == _CUDA:
            toolkit = cuda.find(os.environ)
            return toolkit.nvcc if toolkit else f"no nvcc was found; looked at: {_CUDA_PLACES}"
        if role != _LAUNCHER or recorded.name not in (CCACHE, SCCACHE):
            return f"nothing here knows where a {role} called {recorded.name} would be"
        return launcher.program(recorded.name, os.environ)
    except (SkippyError, OSError, ValueError) as error:
        return f"{_chosen(role)}{_told(error)}"


def _chosen(role: str) -> str:
    """The variable that says which one is taken, where it is set."""
    variable = _CHOSEN_BY.get(role, "")
    value = os.environ.get(variable)
    return f"{variable}={value}: " if value else ""


def _told(error: Exception) -> str:
    """In a line: what a program printed may have many."""
    if not isinstance(error, SkippyError):
        return str(error)
    return " ".join([error.what, *error.why.splitlines()[:1]]).rstrip(".")


def _compared(role: str, recorded: ClaimedTool, found: Tool) -> Checked:
    """By what the claim knows: its hash alone would do, its version is for people."""
    if not recorded.sha256 and not recorded.version:
        return unknown("toolchain", role, _shown(recorded), "neither its version nor its hash is in it")
    other = type(recorded)(found.name, found.version, found.sha256)
    if not recorded.sha256:
        other = other._replace(sha256="")
    if not recorded.version:
        other = other._replace(version="")
    if recorded.sha256 == other.sha256 and recorded.version == other.version:
        other = other._replace(name=recorded.name)  # c++ and g++ may be one program
    why = ""
    if role in _CHOSEN_BY and recorded.name != other.name:
        why = f"{_chosen(role)}another one is taken; to take that: {_CHOSEN_BY[role]}={recorded.name}"
    return compared("toolchain", role, _shown(recorded), _shown(other), why)


def _shown(tool: ClaimedTool) -> str:
    words = f"{tool.name} {tool.version}".strip()
    return f"{words}, sha256 {tool.sha256}" if tool.sha256 else words
