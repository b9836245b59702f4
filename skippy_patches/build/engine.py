"""A compiler launcher: which one was chosen, and at work in one build its environment and what it did."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skippy_patches.build.sharing import Scheduler
    from skippy_patches.build.tool import Tool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Launcher:
    """What runs in front of the compilers.

    remote: the kind of the shared store ("redis", "http", ...), never its address; empty: there is none.
    environment: how the engine finds that store; it may hold a secret, so it is neither kept nor shown.
    """

    tool: Tool
    remote: str = ""
    environment: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False)
    scheduler: Scheduler | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counts:
    """What a launcher did in one build, in files.

    hits: taken from a cache; shared: those of them that came from the remote. misses: compiled.
    failures: requests that the remote did not answer. distributed: compiled on another machine;
    returned: those that were to be, and were compiled here after all.
    """

    hits: int
    misses: int
    shared: int = 0
    failures: int = 0
    distributed: int = 0
    returned: int = 0

    @property
    def rate(self) -> float:
        """Hits of all, 0 to 1."""
        return self.hits / (self.hits + self.misses)

    def told(self, launcher: str) -> str:
        """In a sentence."""
        words = [f"{self.hits} of {self.hits + self.misses} files from the cache ({self.rate:.1%})"]
        words += [f"{self.shared} of these from the shared one"] if self.shared else []
        words += [f"{self.distributed} compiled elsewhere"] if self.distributed else []
        words += [f"{self.returned} that came back undone"] if self.returned else []
        words += [f"{self.failures} failures of the shared cache"] if self.failures else []
        return f"{launcher}: {', '.join(words)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Engine:
    """environment: of everything that the build runs; it may hold a secret.

    remote: the kind of the shared store in use, or empty. cpus: of the machines that compile for this one.
    count: what was done so far; None: nothing that counts.
    """

    environment: Mapping[str, str] = dataclasses.field(repr=False)
    remote: str
    cpus: int
    count: Callable[[], Counts | None]


def plain(environment: Mapping[str, str]) -> Engine:
    """No launcher."""
    return Engine(environment=environment, remote="", cpus=0, count=lambda: None)
