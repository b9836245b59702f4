"""The record of a build: which bytes were made from which commit, patches, tools and flags, how tested.

Schema (docs/recipes.md shows an example): one JSON object, `schema_version` 1, written to
`.skippy/build/<recipe>/record.json`, and by `save` to records/ to be committed. It holds no path of the
machine: <source>, <build>, <recipes>, <c>, <cxx>, <ninja> and <launcher> stand for them.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import re
from typing import TYPE_CHECKING, Any

from skippy_patches.build import artifacts, stored
from skippy_patches.build.errors import StoredFileBroken
from skippy_patches.build.recipe import Platform
from skippy_patches.build.report import SKIPPED
from skippy_patches.evidence.errors import (
    LibrariesChanged,
    NoRecord,
    OtherCommitBuilt,
    RecordBroken,
    RecordDiffers,
)
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.apply.result import Applied, Tip
    from skippy_patches.build.layout import Layout
    from skippy_patches.build.report import TestReport
    from skippy_patches.build.result import Built
    from skippy_patches.progress import Reporter

_TIMES = frozenset({"started", "finished"})
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_KEYS = (
    "recipe", "upstream", "patched", "queue_digest", "patches", "platform", "artifacts", "toolchain", "cmake",
    "tests", "started", "finished",
)  # fmt: skip
_LATER = ("recipe_files", "required_tests")  # records of older versions lack them


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """A checked record. `content` is the JSON object, without `schema_version`."""

    content: dict[str, Any]

    @property
    def recipe(self) -> str:
        """The recipe's name."""
        return str(self.content["recipe"])

    @property
    def slug(self) -> str:
        """The name of the file in records/: pin, patched commit, recipe and platform."""
        tag = self.content["upstream"]["tag"] or self.content["upstream"]["commit"][:12]
        place = self.content["platform"]
        commit = self.content["patched"]["commit"][:12]
        words = (tag, commit, self.recipe, place["system"], place["machine"])
        return "-".join(_UNSAFE.sub("_", word) for word in words)

    def as_json(self) -> dict[str, Any]:
        """The object as the file holds it."""
        return {"schema_version": stored.SCHEMA_VERSION, **self.content}

    @property
    def libraries(self) -> dict[str, str]:
        """Name -> sha256."""
        return {artifact["name"]: artifact["sha256"] for artifact in self.content["artifacts"]}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Results:
    """Test runs: the last whole one, and the last that had every test which the recipe requires."""

    whole: TestReport | None
    required: TestReport | None


def make(
    applied: Applied,
    built: Built,
    results: Results,
    *,
    reporter: Reporter = Silent(),  # noqa: B008 - has no state
) -> Record:
    """Put together what the stages found, after looking at the libraries once more.

    Test results of other bytes are left out, and that is said. Raises OtherCommitBuilt, LibrariesChanged.
    """
    if built.patched != applied.patched:
        old, new = built.patched.commit.short, applied.patched.commit.short
        raise OtherCommitBuilt(built.recipe, old, new)
    if names := artifacts.changed(built.artifacts):
        raise LibrariesChanged(built.recipe, names)
    tests = results.whole if _belongs(results.whole, built) else None
    required = results.required if _belongs(results.required, built) else None
    if (tests, required) != (results.whole, results.required):
        left = "those of the tests that the recipe requires" if required else "no test results"
        reporter.step(f"The last test run was of other libraries: the record holds {left}. Test again.")
    last = tests or required
    return Record(
        content={
            "recipe": built.recipe,
            "recipe_files": [dataclasses.asdict(file) for file in built.recipe_files],
            "upstream": {**_tip(applied.upstream), "tag": applied.upstream_tag},
            "patched": _tip(applied.patched),
            "queue_digest": applied.queue_digest,
            "patches": [dataclasses.asdict(patch) for patch in applied.patches],
            "platform": _platform(),
            "artifacts": [
                {"name": item.name, "sha256": item.sha256, "size": item.size} for item in built.artifacts
            ],
            "toolchain": _toolchain(built),
            "cmake": _cmake(built),
            "tests": None if tests is None else _tests(tests),
            "required_tests": None if required is None else _required(required),
            "started": built.started,
            "finished": built.finished if last is None else last.finished,
        }
    )


def write(record: Record, layout: Layout) -> Path:
    """Keep it as the build folder's `record.json`."""
    stored.write(layout.record, record.content)
    return layout.record


def load(file: Path) -> Record:
    """Read a record back. Raises NoRecord (6) and RecordBroken (2)."""
    try:
        content = stored.read(file, "")
    except StoredFileBroken as error:
        raise RecordBroken(file, error.what) from error
    if content is None:
        raise NoRecord(file)
    content.pop("schema_version")
    if problem := _problem(content):
        raise RecordBroken(file, problem)
    return Record(content=content)


def existing(state: Path) -> tuple[Record, ...]:
    """The records of every recipe that was built below `state`, by name. Raises RecordBroken."""
    return tuple(load(file) for file in sorted(state.glob("build/*/record.json")))


def save(record: Record, records: Path) -> Path:
    """Keep it in the folder `records`, to be committed.

    A record that is there and differs in nothing but times is left as it is. Raises RecordDiffers (1).
    """
    file = records / f"{record.slug}.json"
    if not file.exists():
        stored.write(file, record.content)
        return file
    old = load(file).content
    keys = [key for key in _KEYS if key not in _TIMES and old[key] != record.content[key]]
    keys += [key for key in _LATER if key in old and old[key] != record.content[key]]
    if keys:
        raise RecordDiffers(file, keys)
    return file


def _belongs(tests: TestReport | None, built: Built) -> bool:
    if tests is None:
        return False
    libraries = tuple((artifact.name, artifact.sha256) for artifact in built.artifacts)
    return tests.commit == built.patched.commit and tests.libraries == libraries


def _tip(tip: Tip) -> dict[str, str]:
    return {"commit": tip.commit, "tree": tip.tree}


def _platform() -> dict[str, str]:
    here = Platform.current()
    libc = " ".join(platform.libc_ver()).strip() or platform.mac_ver()[0]
    return {"system": here.system, "machine": here.machine, "libc": libc}


def _toolchain(built: Built) -> dict[str, Any]:
    """Role -> name, version, bytes; the launcher is null when there was none."""
    tools: dict[str, Any] = {"launcher": None}
    for role, tool in built.toolchain.tools():
        tools[role] = {"name": tool.name, "version": tool.version, "sha256": tool.sha256}
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
    }
    if tools.launcher is not None:
        places[str(tools.launcher.path)] = "<launcher>"
    # At the beginning, or behind what ends a word: "/usr/bin/cc" is not part of "/usr/bin/ccache".
    names = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return re.sub(rf"(?<![\w./])({names})(?![\w.-])", lambda match: places[match[1]], text)


def _tests(tests: TestReport) -> dict[str, Any]:
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


def _required(tests: TestReport) -> dict[str, Any]:
    rows = [{"name": row.name, "status": row.status, "reason": row.reason} for row in tests.required]
    return dataclasses.asdict(tests.required_counts) | {"tests": rows}


def _problem(content: dict[str, Any]) -> str:
    """What is wrong with a record's content, or nothing."""
    missing = [key for key in _KEYS if key not in content]
    if missing:
        return f"it lacks {', '.join(missing)}"
    try:
        for name in ("upstream", "patched"):
            if not (_SHA1.fullmatch(content[name]["commit"]) and _SHA1.fullmatch(content[name]["tree"])):
                return f"`{name}` holds no full commit and tree"
        sums = [artifact["sha256"] for artifact in content["artifacts"]]
        if not sums or not all(_SHA256.fullmatch(text) for text in sums):
            return "`artifacts` must name libraries with their sha256"
        for patch in content["patches"]:
            int(patch["number"]), str(patch["file"]), patch["sha256"]
    except (KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__} at {error}"
    return ""
