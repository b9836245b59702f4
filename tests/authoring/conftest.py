"""A place for a project that is copied, not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.world import World

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, upstream: Path) -> World:
    """Nothing yet; desk.three_patches and desk.conflicting put something there. It has no desk."""
    return World(root=tmp_path / "project", upstream=upstream, desk=tmp_path / "no-desk")
