"""What many tests begin with, made once for each upstream and copied from then on: a copy starts no git."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, TypeVar

from tests.world import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.world import World

Result = TypeVar("Result")
_made: dict[tuple[Path, Callable[[World], object]], tuple[Path, object]] = {}


def once(world: World, make: Callable[[World], Result]) -> Result:
    """What `make` does to the patches, the desk and the checkout of a new world, and what it returned.

    The configuration stays what it is: `make` may not depend on anything but the upstream.
    """
    key = (world.upstream, make)
    if key not in _made:
        result = make(world)
        kept = world.upstream.with_name(f"{world.upstream.name}-once-{len(_made)}")
        for name, folder in _folders(world).items():
            if folder.exists():
                shutil.copytree(folder, kept / name, symlinks=True)
        git(kept / "desk", "repack", "-adq")  # a few files to copy, not one for each object
        _made[key] = (kept, result)
        return result
    kept, known = _made[key]
    for name, folder in _folders(world).items():
        if (kept / name).exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(kept / name, folder, symlinks=True)
    return known  # type: ignore[return-value]  # what this very function returned


def _folders(world: World) -> dict[str, Path]:
    return {"patches": world.patches, "desk": world.desk, "state": world.checkout.parent}
