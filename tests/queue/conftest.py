"""The corpus, made once: it is only read."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from tests.queue.corpus import RECIPES, Desk, Mails

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A repository to make patches in; every recipe leaves it on its base."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        return Desk(tmp_path_factory.mktemp("desk") / "repository")


@pytest.fixture(scope="session")
def corpus(desk: Desk) -> dict[str, bytes]:
    """Every legitimate odd patch by its name."""
    return {name: make(desk) for name, make in RECIPES.items()}


@pytest.fixture
def mails(tmp_path: Path) -> Mails:
    """Git's own reading of a patch file."""
    return Mails(tmp_path / "mails")


@pytest.fixture(scope="session")
def as_git_am(corpus: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """The name of a patch of the corpus to what git am hands to git apply; asked of git once."""
    mails = Mails(tmp_path_factory.mktemp("corpus") / "mails")
    return functools.cache(lambda name: mails.patch(corpus[name]))
