"""How a stage tells what it is doing, without knowing whether anybody looks.

The command line hands down a `Reporter`; domain code calls it and never prints.
"""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Receives what long work has to say."""

    def step(self, text: str) -> None:
        """Say that something worth a line began or ended."""

    def detail(self, text: str) -> None:
        """Say something that only a person who asked for more (-v) wants to read."""

    def advance(self, label: str, done: int, total: int | None) -> None:
        """Say how far the work named `label` is: `done` of `total`, in any unit; None: not known."""


class Silent:
    """The reporter of callers that do not want to hear."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def detail(self, text: str) -> None:
        """Say nothing."""

    def advance(self, label: str, done: int, total: int | None) -> None:
        """Say nothing."""
