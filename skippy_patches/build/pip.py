"""The command that installs a package beside skippy-patches; the `pip` on PATH may be another Python's."""

from __future__ import annotations

import shlex
import sys


def install(requirement: str, *options: str) -> str:
    """The line to type."""
    return shlex.join((sys.executable, "-m", "pip", "install", *options, requirement))
