"""The team, made once: a review changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.review.team import Team, make_branches

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory, upstream: Path) -> Team:
    """A repository with many branches, to be read only."""
    folder = tmp_path_factory.mktemp("team")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        made = Team.create(folder / "top", upstream)
        make_branches(made)
    return made


@pytest.fixture
def own(team: Team, tmp_path: Path) -> Team:
    """A copy of the team's repository, to be changed."""
    return team.copy(tmp_path / "own")
