"""The compiler cache of the person who runs these: without it each test would compile llama.cpp anew."""

from __future__ import annotations

import os

import pytest

# As the person has it, taken before any fixture.
CACHES = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME") if name in os.environ}


@pytest.fixture(autouse=True)
def _caches(_no_home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in CACHES.items():
        monkeypatch.setenv(name, folder)
