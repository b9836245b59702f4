"""A record as an in-toto Statement v1 that carries SLSA provenance v1, and back to what it claims.

docs/provenance.md says what each field holds; it is the documentation that BUILD_TYPE and BUILDER stand for.
The formats: https://github.com/in-toto/attestation/tree/main/spec/v1 and https://slsa.dev/spec/v1.0/provenance.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skippy_patches.build import stored
from skippy_patches.evidence import identity
from skippy_patches.evidence.claim import (
    STATEMENT,
    Claim,
    ClaimedFile,
    ClaimedLibrary,
    ClaimedPatch,
    ClaimedTip,
    ClaimedTool,
)
from skippy_patches.evidence.errors import StatementInvalid
from skippy_patches.queue.patch import content_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skippy_patches.evidence.record import Record

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:skippy-patches:build:1"
BUILDER = "urn:skippy-patches:builder:local:1"

# Annotations. Which of them a descriptor has says what it describes.
UPSTREAM, QUEUE, PATCH = "skippy_upstream", "skippy_queue", "skippy_patch"
RECIPE, TOOL = "skippy_recipe", "skippy_tool"
PATCHED, RECORD = "skippy_patched", "skippy_record"
# https://github.com/in-toto/attestation/blob/main/spec/v1/field_types.md#timestamp
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)

_COUNTS = ("run", "passed", "failed", "skipped")


def make(record: Record) -> dict[str, Any]:
    """The statement about the record's libraries. It follows from the record alone.

    Raises StatementInvalid (2) for a record that somebody edited: what cannot be read back is not written.
    """
    document = _document(record)
    try:
        claim(document)
    except ValueError as error:
        raise StatementInvalid(str(error)) from error
    return document


def _document(record: Record) -> dict[str, Any]:
    content = record.content
    return {
        "_type": TYPE,
        "subject": [
            {"name": each["name"], "digest": {"sha256": each["sha256"]}} for each in content["artifacts"]
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": _external(content),
                "internalParameters": _internal(content),
                "resolvedDependencies": list(_dependencies(content)),
            },
            "runDetails": {
                "builder": {"id": BUILDER},
                "metadata": {
                    "invocationId": identity.urn(record),
                    "startedOn": _time(content, "started"),
                    "finishedOn": _time(content, "finished"),
                },
                "byproducts": _byproducts(record),
            },
        },
    }


def claim(content: dict[str, Any]) -> Claim:
    """What a statement of ours claims.

    Raises Foreign for another one, and KeyError, TypeError, AttributeError or ValueError for a broken one.
    """
    predicate = _predicate(content)
    definition, details = predicate["buildDefinition"], predicate["runDetails"]
    external, dependencies = definition["externalParameters"], definition["resolvedDependencies"]
    upstream, pin = identity.single(_annotated(dependencies, UPSTREAM), "upstream")
    patched, tip = identity.single(_annotated(details["byproducts"], PATCHED), "patched commit")
    patches = _patches(external["patches"], dependencies)
    if external["upstream"]["commit"] != _commit(upstream):
        raise ValueError("its parameters name another upstream than its dependencies")
    digest = content_digest(patch.sha256 for patch in patches)
    if any(said.get("contentDigest", digest) != digest for _, said in _annotated(dependencies, QUEUE)):
        raise ValueError("its contentDigest is not that of its patches")
    return Claim(
        kind=STATEMENT,
        recipe=identity.text(external["recipe"]),
        upstream=ClaimedTip(_commit(upstream), identity.text(pin["tree"])),
        patched=ClaimedTip(_commit(patched), identity.text(tip["tree"])),
        patches=patches,
        libraries=_libraries(content["subject"]),
        toolchain={"launcher": None, **_tools(dependencies)},
        recipe_files=_recipe_files(dependencies),
        queue_digest=_queue_digest(external, dependencies),
    )


def _external(content: Mapping[str, Any]) -> dict[str, Any]:
    """What whoever started the build chose, by name: what that was shows in the dependencies."""
    place = content["platform"]
    return {
        "recipe": content["recipe"],
        "platform": {"system": place["system"], "machine": place["machine"]},
        "upstream": {"repository": identity.REPOSITORY, "commit": content["upstream"]["commit"]},
        "patches": [each["file"] for each in content["patches"]],
    }


def _internal(content: Mapping[str, Any]) -> dict[str, Any]:
    """What followed from that, from the recipe and from the machine."""
    cmake = content["cmake"]
    return {
        "generator": cmake["generator"],
        "arguments": cmake["arguments"],
        "variables": cmake["variables"],
        "libc": content["platform"]["libc"],
        **_known(content, {"reproducibility": "reproducibility"}),
    }


def _dependencies(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Resource descriptors of all that went in."""
    upstream = content["upstream"]
    yield {
        "uri": f"git+{identity.REPOSITORY}@{upstream['commit']}",
        "digest": {"gitCommit": upstream["commit"]},
        "annotations": {UPSTREAM: {"tag": upstream["tag"], "tree": upstream["tree"]}},
    }
    whole = _known(content, {"queue_content_digest": "contentDigest"})
    yield _file("SHA256SUMS", content["queue_digest"], {QUEUE: whole})
    for patch in content["patches"]:
        said = {key: patch[key] for key in ("number", "subject", "commit", "tree") if key in patch}
        yield _file(patch["file"], patch["sha256"], {PATCH: said})
    for file in content.get("recipe_files", ()):
        yield _file(file["name"], file["sha256"], {RECIPE: {"name": content["recipe"]}})
    for role, tool in content["toolchain"].items():
        if tool is not None:
            more = {key: value for key, value in tool.items() if key not in ("name", "sha256")}
            yield {
                "name": tool["name"],
                "uri": identity.tool_purl(tool["name"], tool["version"]),
                **({"digest": {"sha256": tool["sha256"]}} if tool["sha256"] else {}),
                "annotations": {TOOL: {"role": role, **more}},
            }


def _byproducts(record: Record) -> list[dict[str, Any]]:
    """The patched commit, between what went in and what came out; the record, with what was checked."""
    content = record.content
    results = {key: content[key] for key in ("tests", "required_tests") if content.get(key)}
    counts = {key: {word: found[word] for word in _COUNTS} for key, found in results.items()}
    again = {key: content[key] for key in ("reproducible",) if content.get(key)}
    patched = content["patched"]
    return [
        {
            "name": identity.NAME,
            "digest": {"gitCommit": patched["commit"]},
            "annotations": {PATCHED: {"tree": patched["tree"]}},
        },
        {
            **_file("record.json", identity.digest(record), {}),
            "mediaType": "application/json",
            "annotations": {RECORD: {"schema_version": stored.SCHEMA_VERSION, **again, **counts}},
        },
    ]


def _time(content: Mapping[str, Any], key: str) -> str:
    if not _TIMESTAMP.fullmatch(content[key]):
        raise StatementInvalid(f"`{key}` is {content[key]!r}, no time in UTC (RFC 3339)")
    return str(content[key])


def _file(name: str, sha256: str, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """A file is identified by its bytes: a name relative to somebody's folder is no URI."""
    return {"name": name, "digest": {"sha256": sha256}, "annotations": annotations}


def _known(content: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What older records lack is left out; `names`: key there -> key here."""
    return {new: content[old] for old, new in names.items() if old in content}


def _predicate(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The provenance in a statement of ours. Raises Foreign when it is somebody else's."""
    _check("_type", content["_type"], TYPE)
    _check("predicateType", content["predicateType"], PREDICATE_TYPE)
    predicate: Mapping[str, Any] = content["predicate"]
    _check("buildType", predicate["buildDefinition"]["buildType"], BUILD_TYPE)
    return predicate


def _check(key: str, found: object, wanted: str) -> None:
    if found != wanted:
        raise identity.Foreign(f"its {key} is {found!r}, not {wanted}")


def _annotated(
    descriptors: Iterable[Mapping[str, Any]], kind: str
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The descriptors of that kind, each with what its annotation says."""
    annotated = ((each, each.get("annotations") or {}) for each in descriptors)
    return [(each, said[kind]) for each, said in annotated if kind in said]


def _libraries(subjects: Iterable[Mapping[str, Any]]) -> tuple[ClaimedLibrary, ...]:
    found = [ClaimedLibrary(identity.text(each["name"]), _digest(each, "sha256")) for each in subjects]
    identity.unique((library.name for library in found), "the library")
    return tuple(found)


def _patches(order: Iterable[str], dependencies: Iterable[Mapping[str, Any]]) -> tuple[ClaimedPatch, ...]:
    """In the order of the queue: dependencies have none."""
    found = [
        ClaimedPatch(identity.number(said["number"]), identity.text(each["name"]), _digest(each, "sha256"))
        for each, said in _annotated(dependencies, PATCH)
    ]
    files = [identity.text(file) for file in order]
    identity.unique(files, "the patch")
    if sorted(files) != sorted(patch.file for patch in found):
        raise ValueError("its queue lists other patches than its dependencies")
    places = {file: at for at, file in enumerate(files)}
    return tuple(sorted(found, key=lambda patch: places[patch.file]))


def _queue_digest(external: Mapping[str, Any], dependencies: Iterable[Mapping[str, Any]]) -> str:
    """With names; it is a dependency, or among the parameters, by which version wrote it."""
    found = [each for each, _ in _annotated(dependencies, QUEUE)]
    if found:
        return _digest(identity.single(found, "queue"), "sha256")
    return identity.text(external.get("queue", {}).get("digest", ""))


def _recipe_files(dependencies: Iterable[Mapping[str, Any]]) -> tuple[ClaimedFile, ...]:
    found = [
        ClaimedFile(identity.text(each["name"]), _digest(each, "sha256"))
        for each, _ in _annotated(dependencies, RECIPE)
    ]
    identity.unique((file.name for file in found), "the recipe file")
    return tuple(sorted(found))


def _tools(dependencies: Iterable[Mapping[str, Any]]) -> dict[str, ClaimedTool]:
    """By role."""
    annotated = _annotated(dependencies, TOOL)
    identity.unique((identity.text(said["role"]) for _, said in annotated), "the tool")
    return {
        said["role"]: ClaimedTool(
            identity.text(each["name"]),
            identity.text(said["version"]),
            _digest(each, "sha256") if "digest" in each else "",
        )
        for each, said in annotated
    }


def _commit(descriptor: Mapping[str, Any]) -> str:
    return identity.commit(descriptor["digest"]["gitCommit"])


def _digest(descriptor: Mapping[str, Any], algorithm: str) -> str:
    return identity.text(descriptor["digest"][algorithm])
