"""The environment of cmake, ninja, the compilers and ctest: an allowlist, never the user's own.

What is not named here does not reach the build. So git's local variables (GIT_DIR and kin, exported by
hooks) cannot point llama.cpp's configure step at another repository, SOURCE_DATE_EPOCH cannot turn the
instruction set off, and CFLAGS or CPATH cannot change bytes without being recorded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_COMMON = (
    "PATH",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SYSTEMROOT",
    "DEVELOPER_DIR",  # which Xcode; its compilers are recorded by version and hash
    "SDKROOT",
)
_BUILD = (
    "HOME",  # the caches' default folders and settings
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "LD_LIBRARY_PATH",  # a compiler outside /usr may need it to start
    "HIPCXX",  # where ROCm is: upstream's CMakeLists.txt and CMake look nowhere else
    "HIP_PATH",
    "ROCM_PATH",
    "VULKAN_SDK",  # the same for Vulkan
    # Where ccache keeps and looks for things. Not CCACHE_COMPILER, PREFIX and kin: they change what is run.
    "CCACHE_CONFIGPATH",
    "CCACHE_DEBUG",
    "CCACHE_DEBUGDIR",
    "CCACHE_DIR",
    "CCACHE_DISABLE",
    "CCACHE_LOGFILE",
    "CCACHE_MAXSIZE",
    "CCACHE_READONLY",
    "CCACHE_RECACHE",
    "CCACHE_REMOTE_ONLY",
    "CCACHE_REMOTE_STORAGE",
    "CCACHE_RESHARE",
    "CCACHE_SECONDARY_STORAGE",
    "CCACHE_STATSLOG",
    "CCACHE_TEMPDIR",
    "CCACHE_UMASK",
)
_BUILD_PREFIXES = ("SCCACHE_",)
_NEVER = frozenset({"SCCACHE_BASEDIRS"})  # hands out objects that hold another tree's paths

# Read by compilers, linkers, cmake or llama.cpp's configure step; worth a word when they are left out.
_INFLUENTIAL = (
    "AR", "ASFLAGS", "CFLAGS", "CMAKE_PREFIX_PATH", "CPATH", "CPPFLAGS", "CPLUS_INCLUDE_PATH", "CUDAARCHS",
    "CUDAFLAGS", "CUDAHOSTCXX", "CXXFLAGS", "C_INCLUDE_PATH", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
    "GIT_INDEX_FILE", "GIT_WORK_TREE", "HIPFLAGS", "LDFLAGS", "LIBRARY_PATH", "MACOSX_DEPLOYMENT_TARGET",
    "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "PKG_CONFIG_PATH", "SOURCE_DATE_EPOCH",
)  # fmt: skip


def for_build(checkout: Path, *, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which llama.cpp is configured and compiled."""
    own = os.environ if variables is None else variables
    return of_engines(own) | {"LC_ALL": "C", "NINJA_STATUS": "[%f/%t] "} | _git(checkout)


def of_engines(own: Mapping[str, str]) -> dict[str, str]:
    """What a compiler launcher sees of the person's environment."""
    kept = {name: own[name] for name in (*_COMMON, *_BUILD) if name in own}
    return kept | {
        name: value for name, value in own.items() if name.startswith(_BUILD_PREFIXES) and name not in _NEVER
    }


def for_tests(
    home: Path, extra: tuple[tuple[str, str], ...], *, variables: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of ctest: an empty home, so that no test reads or fills the user's caches.

    LD_LIBRARY_PATH is left out, because it beats the libraries' own run path and could load another
    libggml; a recipe that needs it sets it.
    """
    own = os.environ if variables is None else variables
    kept = {name: own[name] for name in _COMMON if name in own}
    return kept | {"LC_ALL": "C", "HOME": str(home)} | dict(extra)


def ignored(variables: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The set variables that would have changed the build and were left out."""
    own = os.environ if variables is None else variables
    return tuple(name for name in _INFLUENTIAL if own.get(name))


def _git(checkout: Path) -> dict[str, str]:
    """Git as llama.cpp's configure step runs it (ggml/CMakeLists.txt, cmake/build-info.cmake).

    The short commit id that ends up in libggml-base follows core.abbrev. The ceiling keeps a checkout
    that lost its .git from answering with the commit of the repository around it (llama.cpp#28397).
    """
    settings = {"core.abbrev": "12", "safe.directory": str(checkout)}
    variables = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(checkout.parent),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for index, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{index}"] = key
        variables[f"GIT_CONFIG_VALUE_{index}"] = value
    return variables
