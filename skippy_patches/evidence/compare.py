"""What differs between two records: each thing by its name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skippy_patches.evidence import queuediff
from skippy_patches.evidence.claim import ClaimedPatch
from skippy_patches.evidence.difference import CHANGED, Difference, mappings
from skippy_patches.queue.findings import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skippy_patches.evidence.record import Record

# Told by a part of its own, or not at all: times differ always, digests with the patches that they are of.
_KNOWN = frozenset(
    {
        "recipe", "recipe_files", "upstream", "patched", "queue_digest", "queue_content_digest", "patches",
        "platform", "artifacts", "toolchain", "cmake", "tests", "required_tests", "started", "finished",
        "reproducible",
    }
)  # fmt: skip
_DEFINITION = "-D"
_WORDS = ("run", "passed", "failed", "skipped")
_REPRODUCIBLE = "reproducible"
_SHARED = "remote"  # of a launcher: down on one day and up on another, it changes no byte


def records(before: Record, after: Record) -> tuple[Difference, ...]:
    """From one record to the other, part by part; times are not compared.

    What one of them does not know, because an older version wrote it, is no difference.
    """
    old, new = before.content, after.content
    return (
        *mappings("pin", _pin(old), _pin(new)),
        *queuediff.compare(patches(old), patches(new)),
        *mappings("patched", old["patched"], new["patched"]),
        *_digests(old, new),
        *mappings("recipe", *_recipes(old, new)),
        *mappings("platform", old["platform"], new["platform"]),
        *_toolchain(old["toolchain"], new["toolchain"]),
        *mappings("flags", flags(old["cmake"], new["cmake"]), flags(new["cmake"], old["cmake"])),
        *mappings("libraries", _libraries(old), _libraries(new)),
        *_reproducible(old, new),
        *_tests("tests", old, new),
        *_tests("required_tests", old, new),
        *_others(old, new),
    )


def patches(content: Mapping[str, Any]) -> tuple[ClaimedPatch, ...]:
    """The patches of a record, in apply order."""
    return tuple(ClaimedPatch(each["number"], each["file"], each["sha256"]) for each in content["patches"])


def tool(entry: Mapping[str, Any] | None) -> str:
    """A tool in words: name, version and hash, and whatever else is said of it."""
    if entry is None:
        return "none"
    words = [f"{entry['name']} {entry['version']}".strip()]
    words += [f"sha256 {entry['sha256']}"] if entry["sha256"] else []
    more = {key: value for key, value in entry.items() if key not in ("name", "version", "sha256") and value}
    return ", ".join([*words, *(f"{key} {_word(value)}" for key, value in more.items())])


def reproducible(content: Mapping[str, Any], *, with_time: bool = True) -> str:
    """What a record says of a second build, in words."""
    again = content.get(_REPRODUCIBLE)
    if again is None:
        return "not checked"
    return f"the same bytes ({again['method']}{', ' + again['checked'] if with_time else ''})"


def counts(tests: Mapping[str, Any] | None) -> str:
    """Test counts in words."""
    return ", ".join(f"{tests[word]} {word}" for word in _WORDS) if tests else "none recorded"


def _pin(content: Mapping[str, Any]) -> dict[str, str]:
    upstream = content["upstream"]
    return {key: upstream[key] for key in ("tag", "commit", "tree")}


def _digests(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Of the queue, where its patches do not tell: the digest with names holds the lane, too."""
    if patches(old) == patches(new):
        keys = ("queue_digest", "queue_content_digest")
        both = [key for key in keys if key in old and key in new]
        yield from mappings(queuediff.PART, {key: old[key] for key in both}, {key: new[key] for key in both})


def _recipes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Name and files of both, the files only where both know them."""
    sides = ({"name": old["recipe"]}, {"name": new["recipe"]})
    if "recipe_files" in old and "recipe_files" in new:
        for side, content in zip(sides, (old, new), strict=True):
            side |= {file["name"]: file["sha256"] for file in content["recipe_files"]}
    return sides


def _toolchain(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for role in dict.fromkeys((*old, *new)):
        first, second = old.get(role), new.get(role)
        if first and second:
            common = [key for key in first if key in second and key != _SHARED]
            first, second = ({key: side[key] for key in common} for side in (first, second))
        if first != second:
            yield Difference(
                part="toolchain", name=role, what=CHANGED, before=tool(first), after=tool(second)
            )


def flags(cmake: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str]:
    """Generator, options as they were resolved, and arguments that are among the options of neither."""
    resolved = {**other["variables"], **cmake["variables"]}
    flags = {"generator": cmake["generator"], **cmake["variables"]}
    for argument in cmake["arguments"]:
        name, is_definition, value = argument.removeprefix(_DEFINITION).partition("=")
        if not argument.startswith(_DEFINITION) or not is_definition:
            flags[argument] = "given"
        elif name.partition(":")[0] not in resolved:
            flags[name] = value
    return flags


def _libraries(content: Mapping[str, Any]) -> dict[str, str]:
    return {
        each["name"]: f"sha256 {each['sha256']}, {counted(each['size'], 'byte')}"
        for each in content["artifacts"]
    }


def _reproducible(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Whether a second build gave the same; when is no difference."""
    if _REPRODUCIBLE in old and _REPRODUCIBLE in new:
        sides = ({"second build": reproducible(content, with_time=False)} for content in (old, new))
        yield from mappings(_REPRODUCIBLE, *sides)


def _tests(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Counts, then each test with a result other than passed; or that one record has no results at all."""
    if key not in old or key not in new:
        return
    sides = (old[key], new[key])
    if all(sides):
        yield from mappings(key, *(results(side) for side in sides))
    elif any(sides):
        before, after = (counts(side) for side in sides)
        yield Difference(part=key, name="results", what=CHANGED, before=before, after=after)


def results(tests: Mapping[str, Any]) -> dict[str, str]:
    rows: Iterable[tuple[str, str]] = [
        *((each["name"], f"{each['status']} {each['reason']}".strip()) for each in tests.get("failures", ())),
        *((each["name"], f"{each['status']} {each['reason']}".strip()) for each in tests.get("tests", ())),
        *((each["name"], f"skipped: {each['reason']}") for each in tests.get("skips", ())),
        *((each["name"], f"left out: {each['reason']}") for each in tests.get("excluded", ())),
    ]
    return {**{word: str(tests[word]) for word in _WORDS}, **dict(rows)}


def _others(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Keys of later versions, of which nothing is known but their values."""
    for key in old:
        if key in new and key not in _KNOWN:
            yield from mappings(key, _flat(old[key]), _flat(new[key]))


def _flat(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {str(key): _word(item) for key, item in value.items()}
    return {"value": _word(value)}


def _word(value: Any) -> str:
    """A value as JSON writes it, without the quotes of a text."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
