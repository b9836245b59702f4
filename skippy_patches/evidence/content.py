"""The parts of a record, each from what one stage handed on while it was at work.

Nothing here looks at the checkout, the queue's files or the machine's tools again: what these are later is
not what was built.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import re
from typing import TYPE_CHECKING, Any

from skippy_patches.build import mount
from skippy_patches.build.recipe import Platform
from skippy_patches.build.report import SKIPPED
from skippy_patches.evidence import elf
from skippy_patches.queue.patch import content_digest

if TYPE_CHECKING:
    from skippy_patches.apply.result import Applied, Tip
    from skippy_patches.build.artifacts import Artifact
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.reproduced import Reproduced
    from skippy_patches.build.result import Built


def of_queue(applied: Applied) -> dict[str, Any]:
    """Pin, patched commit, both digests, and the ledger of prefixes: commit and tree of each patch."""
    return {
        "upstream": {**_tip(applied.upstream), "tag": applied.upstream_tag},
        "patched": _tip(applied.patched),
        "queue_digest": applied.queue_digest,
        "queue_content_digest": content_digest(patch.sha256 for patch in applied.patches),
        "patches": [dataclasses.asdict(patch) for patch in applied.patches],
    }


def of_build(built: Built) -> dict[str, Any]:
    """Recipe, libraries, tools and flags."""
    return {
        "recipe": built.recipe,
        "recipe_files": [dataclasses.asdict(file) for file in built.recipe_files],
        "artifacts": [_library(item) for item in built.artifacts],
        "toolchain": _toolchain(built),
        "cmake": _cmake(built),
        "reproducibility": {"method": built.method},
    }


def of_machine() -> dict[str, str]:
    """Where the build was made."""
    here = Platform.current()
    libc = " ".join(platform.libc_ver()).strip() or platform.mac_ver()[0]
    return {"system": here.system, "machine": here.machine, "libc": libc}


def of_reproduced(again: Reproduced) -> dict[str, str]:
    """When a second build elsewhere gave the same bytes, and by which method both kept paths out of them."""
    return {"checked": again.checked, "method": again.method}


def of_tests(tests: TestReport) -> dict[str, Any]:
    """Counts of a whole run, and every test that did not simply pass."""
    return {
        "run": tests.run,
        "passed": tests.passed,
        "failed": tests.failed,
        "skipped": tests.skipped,
        "failures": [
            {"name": row.name, "status": row.status, "reason": row.reason} for row in tests.failures
        ],
        "skips": [{"name": row.name, "reason": row.reason} for row in tests.rows if row.status == SKIPPED],
        "excluded": [dataclasses.asdict(exclusion) for exclusion in tests.excluded],
    }


def of_required_tests(tests: TestReport) -> dict[str, Any]:
    """Counts of the tests that the recipe requires, and each of them."""
    rows = [{"name": row.name, "status": row.status, "reason": row.reason} for row in tests.required]
    return dataclasses.asdict(tests.required_counts) | {"tests": rows}


def _tip(tip: Tip) -> dict[str, str]:
    return {"commit": tip.commit, "tree": tip.tree}


def _library(item: Artifact) -> dict[str, Any]:
    """Its bytes as they were built, and once an installation has taken their run path out (ELF alone)."""
    found = elf.run_path(item.path)
    return {
        "name": item.name,
        "sha256": item.sha256,
        "size": item.size,
        "run_path": found and found.text,
        "sha256_without_run_path": found and found.sha256_without,
    }


def _toolchain(built: Built) -> dict[str, Any]:
    """Role -> name, version, bytes; the launcher is null when there was none."""
    tools: dict[str, Any] = {"launcher": None}
    for role, tool in built.toolchain.tools():
        tools[role] = {"name": tool.name, "version": tool.version, "sha256": tool.sha256}
    if tools["launcher"] is not None:
        tools["launcher"]["remote"] = built.remote  # its kind; where it is concerns nobody else
    return dict(sorted(tools.items()))


def _cmake(built: Built) -> dict[str, Any]:
    return {
        "generator": built.generator,
        "arguments": [_without_paths(argument, built) for argument in built.arguments],
        "variables": dict(built.variables),
    }


def _without_paths(text: str, built: Built) -> str:
    tools = built.toolchain
    places = {
        str(built.recipes): "<recipes>",
        str(built.source): "<source>",
        str(built.tree): "<build>",
        os.path.relpath(built.source, built.tree): "<source from build>",
        str(tools.c.path): "<c>",
        str(tools.cxx.path): "<cxx>",
        str(tools.ninja.path): "<ninja>",
        str(built.tree.parent / "cuda"): "<cuda links>",  # cudasetup's folder
        # The names that a build under the canonical mount knows.
        str(mount.SOURCE): "<source>",
        str(mount.FOLDER / built.tree.name): "<build>",
        str(mount.FOLDER / "cuda"): "<cuda links>",
        os.path.relpath(mount.SOURCE, mount.FOLDER / built.tree.name): "<source from build>",
    }
    if tools.cuda is not None:
        places[str(tools.cuda.path)] = "<cuda>"
    if tools.launcher is not None:
        places[str(tools.launcher.path)] = "<launcher>"
    # At the beginning, or behind what ends a word: "/usr/bin/cc" is not part of "/usr/bin/ccache".
    names = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return re.sub(rf"(?<![\w./])({names})(?![\w.-])", lambda match: places[match[1]], text)
