"""What `build --check-reproducible` leaves: that these libraries came out the same in a second build."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from skippy_patches.build import stored
from skippy_patches.build.errors import StoredFileBroken
from skippy_patches.build.result import now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.build.artifacts import Artifact
    from skippy_patches.build.layout import Layout
    from skippy_patches.build.reproduce import Reproduction


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reproduced:
    """checked: when the second build had ended, UTC. method: of both builds. libraries: name -> sha256."""

    checked: str
    method: str
    libraries: tuple[tuple[str, str], ...]

    def is_of(self, artifacts: Sequence[Artifact]) -> bool:
        """Whether these are the very libraries."""
        return self.libraries == _hashes(artifacts)


def save(done: Reproduction, layout: Layout) -> None:
    """Write `reproduced.json`; where a library differs there is none."""
    if done.differences:
        layout.reproduced.unlink(missing_ok=True)
        return
    first = done.first
    content = {"checked": now(), "method": first.method, "libraries": dict(_hashes(first.artifacts))}
    stored.write(layout.reproduced, content)


def load(layout: Layout) -> Reproduced | None:
    """Read it back; None when it was not checked, or differed. Raises StoredFileBroken (3)."""
    mend = f"Check again: skippy-patches build --recipe {layout.folder.name} --check-reproducible"
    content = stored.read(layout.reproduced, mend)
    if content is None:
        return None
    try:
        return _reproduced(content)
    except (KeyError, TypeError, AttributeError) as error:
        raise StoredFileBroken(layout.reproduced, f"{type(error).__name__} at {error}", mend) from error


def _reproduced(content: dict[str, Any]) -> Reproduced:
    libraries = tuple(content["libraries"].items())
    return Reproduced(checked=content["checked"], method=content["method"], libraries=libraries)


def _hashes(artifacts: Sequence[Artifact]) -> tuple[tuple[str, str], ...]:
    return tuple((artifact.name, artifact.sha256) for artifact in artifacts)
