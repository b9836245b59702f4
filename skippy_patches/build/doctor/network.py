"""Tests that use the network, and the loopback on which RPC servers listen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skippy_patches.build.doctor import finding
from skippy_patches.compilercache import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding

# Found by running every test of b10361 without a network; the last one clones into the source tree.
DOWNLOADING = (
    "test-download-model",
    "test-thread-safety",
    "test-state-restore-fragmented",
    "test-save-load-state",
    "test-arg-parser",
    "test-tokenizers-ggml-vocabs",
)
MODELS = Address("https", "", "huggingface.co", 443, "")  # where they download from
_LISTING = "tests/CMakeLists.txt"


def required(case: Case) -> Iterator[Finding]:
    """For a recipe that requires the network."""
    missing = case.host.unreachable(MODELS)
    if missing:
        yield finding.warning(
            "offline",
            f"{MODELS.host} cannot be reached: {missing}.",
            why="This recipe's tests would download from there and fail.",
            mend=f"Leave those tests out: tests.exclude in {case.recipe.file}. Or go online.",
        )


def unsaid(case: Case) -> Iterator[Finding]:
    """For every other one: tests of the checkout that download all the same."""
    names = _downloading(case)
    if "network" in case.recipe.requires or not names:
        return
    yield finding.info(
        "test-downloads",
        f"The recipe runs tests that use the network: {', '.join(names)}.",
        why="Without a network they fail, or pass and have tested nothing.",
        mend=f"Leave them out: tests.exclude in {case.recipe.file}, as recipe cpu does\n"
        "Or say that they are meant: requires: [network]",
    )


def loopback(case: Case) -> Iterator[Finding]:
    """Whether a server can listen here."""
    try:
        case.host.listen()
    except OSError as error:
        yield finding.warning(
            "loopback-missing",
            f"No server can listen on 127.0.0.1: {error.strerror or error}.",
            why="The tests of the RPC backend start one there and connect to it.",
            mend="Allow it, or bring the loopback up: ip link set lo up",
        )


def _downloading(case: Case) -> list[str]:
    """Those of DOWNLOADING that the recipe runs and that this llama.cpp has, as far as it is there."""
    plan = case.recipe.tests
    out = {exclusion.name for exclusion in plan.exclude}
    names = [name for name in DOWNLOADING if name not in out and re.search(plan.include, name)]
    if case.project is None or not names:
        return names
    try:
        listing = (case.project.checkout / _LISTING).read_text("utf-8", "replace")
    except OSError:
        return []
    return [name for name in names if name in listing]
