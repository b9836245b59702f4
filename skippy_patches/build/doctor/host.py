"""The machine that is looked at: where to look, and what to ask. Tests make machines out of folders."""

from __future__ import annotations

import dataclasses
import os
import platform as running
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.build.ask import ask
from skippy_patches.build.recipe import Platform
from skippy_patches.upstream.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skippy_patches.compilercache import Address

TIMEOUT = 30.0  # seconds for one program; the examination itself waits for less
_PASSED = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "SDKROOT", "SYSTEMROOT")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of a program. status: None: it did not start, or took too long. output: both streams."""

    status: int | None
    output: str

    @property
    def is_fine(self) -> bool:
        """Whether it ended well."""
        return self.status == 0


def free_space(folder: Path) -> int:
    """Bytes that a person may still write where `folder` is, or will be."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(there).free


def listen() -> None:
    """Open a server on the loopback, and close it. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.bind(("127.0.0.1", 0))


def unreachable(address: Address) -> str:
    """Why nothing answers at a server, or nothing: remote.unreachable."""
    from skippy_patches.build import remote  # noqa: PLC0415 - http and TLS, which hardly any build needs

    return remote.unreachable(address)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """A machine.

    variables: its environment. root: of its file system. glibc: its version; None: another C library.
    cores, memory (bytes): None for what this machine grants. wheels: folders `nvidia` of site-packages; None:
    those of this Python. remembered: the file of remembered.py; None: nothing is. free: bytes free at a
    folder. listen: raises OSError where no server can. unreachable: why a server is, or nothing.
    """

    variables: Mapping[str, str]
    platform: Platform
    root: Path = Path("/")
    glibc: tuple[int, int] | None = None
    cores: int | None = None
    memory: int | None = None
    wheels: tuple[Path, ...] | None = None
    remembered: Path | None = None
    free: Callable[[Path], int] = free_space
    listen: Callable[[], None] = listen
    unreachable: Callable[[Address], str] = unreachable

    @classmethod
    def current(cls) -> Host:
        """The one we run on."""
        return cls(
            variables=dict(os.environ),
            platform=Platform.current(),
            glibc=_glibc(),
            remembered=Cache.default().root / "doctor.json",
        )

    @property
    def path(self) -> str:
        """PATH, as the programs of the build see it."""
        return self.variables.get("PATH", os.defpath)

    def which(self, name: str) -> Path | None:
        """The program `name`, a word or a path."""
        found = shutil.which(name, path=self.path)
        return Path(found) if found else None

    def place(self, path: str | Path) -> Path:
        """An absolute path of the machine."""
        return self.root / str(path).lstrip("/")

    def run(self, command: Sequence[str], given: str = "") -> Ran:
        """Start a program and wait. given: its standard input."""
        own = {name: self.variables[name] for name in _PASSED if name in self.variables}
        answer = ask(command, environment=own | {"LC_ALL": "C"}, given=given, timeout=TIMEOUT, is_merged=True)
        return Ran(status=answer.status, output=answer.problem or answer.out)


def _glibc() -> tuple[int, int] | None:
    name, version = running.libc_ver()
    major, _, minor = version.partition(".")
    return (int(major), int(minor)) if name == "glibc" and minor.isdecimal() else None
