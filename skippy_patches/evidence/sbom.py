"""A record as a CycloneDX 1.6 bill of materials in JSON, and back to what it claims.

docs/provenance.md says what each field holds; the format: https://cyclonedx.org/docs/1.6/json/. The library
of CycloneDX, extra `sbom`, checks what is made. It cannot make it: it does not know `formulation`, where
recipe and tools belong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skippy_patches.evidence import identity
from skippy_patches.evidence.claim import (
    SBOM,
    Claim,
    ClaimedFile,
    ClaimedLibrary,
    ClaimedPatch,
    ClaimedTip,
    ClaimedTool,
)
from skippy_patches.evidence.errors import SbomExtraMissing, SbomInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skippy_patches.evidence.record import Record

FORMAT = "CycloneDX"
SPEC_VERSION = "1.6"
SCHEMA = f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json"
MAKER = "skippy-patches"
_RECIPE = "recipe:"  # how the bom-ref of a recipe's file begins

_COUNTS = ("run", "passed", "failed", "skipped")


def make(record: Record) -> dict[str, Any]:
    """The bill of materials of the record's libraries. The same record gives the same one, at any time."""
    content = record.content
    whole, libraries = _patched(content), [_library(content, each) for each in content["artifacts"]]
    return {
        "$schema": SCHEMA,
        "bomFormat": FORMAT,
        "specVersion": SPEC_VERSION,
        "serialNumber": identity.urn(record),
        "version": 1,
        "metadata": {
            "timestamp": content["finished"],
            "lifecycles": [{"phase": "build"}],
            # Without its version, which would give other bytes for the same record.
            "tools": {"components": [{"type": "application", "name": MAKER}]},
            "component": whole,
        },
        "components": libraries,
        "externalReferences": [_reference(record)],
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [each["bom-ref"] for each in libraries]}],
        # Neither what is compiled in from vendor/ nor what the system provides is known.
        "compositions": [{"aggregate": "incomplete", "dependencies": [whole["bom-ref"]]}],
        "formulation": [_formula(content)],
    }


def check(document: dict[str, Any]) -> None:
    """Hold it against the published schema, strictly: a key that is not in it is wrong; and read it back.

    Raises SbomExtraMissing and SbomInvalid (2).
    """
    try:  # about a second, and only here
        from cyclonedx.exception import MissingOptionalDependencyException  # noqa: PLC0415
        from cyclonedx.schema import SchemaVersion  # noqa: PLC0415
        from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415
    except ImportError as error:
        raise SbomExtraMissing(str(error)) from error
    try:
        wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(document))
    except (
        MissingOptionalDependencyException
    ) as error:  # the library is there, but not what it checks JSON with
        raise SbomExtraMissing(str(error)) from error
    if wrong is not None:
        raise SbomInvalid(SPEC_VERSION, "/".join(map(str, wrong.data.path)), wrong.data.message)
    try:
        claim(document)
    except ValueError as error:
        raise SbomInvalid(SPEC_VERSION, "", str(error)) from error


def claim(content: dict[str, Any]) -> Claim:
    """What a bill of materials of ours claims.

    Raises Foreign for another one, and KeyError, TypeError, AttributeError or ValueError for a broken one.
    """
    metadata = content.get("metadata") or {}
    tools = metadata.get("tools")
    listed = (
        tools.get("components", ()) if isinstance(tools, dict) else ()
    )  # before CycloneDX 1.5 it was a list
    if MAKER not in (each["name"] for each in listed):
        raise identity.Foreign(f"it was not written by {MAKER}")
    ancestor = identity.single(metadata["component"]["pedigree"]["ancestors"], "ancestor")
    formula = identity.single(content["formulation"], "formula")
    patches = tuple(_claimed_patches(formula["components"]))
    pedigree = [each["diff"]["url"] for each in metadata["component"]["pedigree"]["patches"]]
    if pedigree != [identity.relative(patch.file) for patch in patches]:
        raise ValueError("its pedigree lists other patches than its formula")
    said = _properties(formula)
    return Claim(
        kind=SBOM,
        recipe=said["recipe"],
        upstream=_tip(ancestor),
        patched=_tip(metadata["component"]),
        patches=patches,
        libraries=_claimed_libraries(content["components"]),
        toolchain={"launcher": None, **_claimed_tools(formula["components"])},
        recipe_files=_claimed_recipe_files(formula["components"]),
        queue_digest=said.get("queue-digest", ""),
    )


def _patched(content: Mapping[str, Any]) -> dict[str, Any]:
    """What the libraries were built from, and how it came about."""
    upstream, patched, patches = content["upstream"], content["patched"], content["patches"]
    return {
        "type": "library",
        "bom-ref": identity.NAME,
        "group": identity.GROUP,
        "name": identity.NAME,
        "version": _version(content),
        "purl": identity.purl(upstream["commit"], patched["commit"]),
        "swhid": _swhid(patched),
        "pedigree": {
            "ancestors": [
                {
                    "type": "library",
                    "bom-ref": f"upstream:{identity.NAME}",
                    "group": identity.GROUP,
                    "name": identity.NAME,
                    "version": identity.version(content),
                    "purl": identity.purl(upstream["commit"]),
                    "swhid": _swhid(upstream),
                    "externalReferences": [{"type": "vcs", "url": identity.REPOSITORY}],
                }
            ],
            "commits": [{"uid": each["commit"], "message": each.get("subject", "")} for each in patches],
            # A record does not say where a patch comes from, so none is called a backport.
            "patches": [
                {"type": "unofficial", "diff": {"url": identity.relative(each["file"])}} for each in patches
            ],
        },
    }


def _library(content: Mapping[str, Any], artifact: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": f"library:{artifact['name']}",
        "name": artifact["name"],
        "version": _version(content),
        "hashes": _hashes(artifact["sha256"]),
        "properties": [_property("size", artifact["size"])],
    }


def _reference(record: Record) -> dict[str, Any]:
    """Where the rest is said."""
    return {"type": "evidence", "url": f"{record.slug}.json", "hashes": _hashes(identity.digest(record))}


def _formula(content: Mapping[str, Any]) -> dict[str, Any]:
    """Everything else that went in, and what came of testing what came out."""
    return {
        "bom-ref": "build",
        "components": [*_patch_files(content), *_recipe_files(content), *_tools(content)],
        "properties": [
            _property("recipe", content["recipe"]),
            *(_property(f"platform:{key}", value) for key, value in content["platform"].items()),
            _property("queue-digest", content["queue_digest"]),
            _property("started", content["started"]),
            _property("finished", content["finished"]),
            _property("cmake:generator", content["cmake"]["generator"]),
            *(_property("cmake:argument", argument) for argument in content["cmake"]["arguments"]),
            *_second_build(content),
            *_test_counts(content),
        ],
    }


def _patch_files(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The files behind `pedigree.patches`, which has no place for a hash; in the queue's order, as there."""
    for each in content["patches"]:
        said = [_property(f"patch:{key}", each[key]) for key in ("number", "commit", "tree")]
        yield {**_file("patch", each["file"], each["sha256"]), "properties": said}


def _recipe_files(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in content.get("recipe_files", ()):
        yield _file("recipe", each["name"], each["sha256"])


def _tools(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for role, tool in content["toolchain"].items():
        if tool is not None:
            yield {
                "type": "application",
                "bom-ref": f"tool:{role}",
                "name": tool["name"],
                "version": tool["version"],
                **({"hashes": _hashes(tool["sha256"])} if tool["sha256"] else {}),
                "properties": [_property("tool:role", role)],
            }


def _second_build(content: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    again = content.get("reproducible") or {}
    yield from (_property(f"reproducible:{key}", again[key]) for key in ("checked", "method") if key in again)


def _test_counts(content: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for key, name in (("tests", "tests"), ("required_tests", "required-tests")):
        if counts := content.get(key):
            yield from (_property(f"{name}:{word}", counts[word]) for word in _COUNTS)


def _file(kind: str, name: str, sha256: str) -> dict[str, Any]:
    return {"type": "file", "bom-ref": f"{kind}:{name}", "name": name, "hashes": _hashes(sha256)}


def _version(content: Mapping[str, Any]) -> str:
    return f"{identity.version(content)}+{content['patched']['commit'][:12]}"


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]


def _swhid(tip: Mapping[str, str]) -> list[str]:
    """A commit and its tree as Software Heritage identifiers, which hold git's ids: SHA-1s of no file."""
    return [f"swh:1:rev:{tip['commit']}", f"swh:1:dir:{tip['tree']}"]


def _property(name: str, value: object) -> dict[str, str]:
    return {"name": f"{MAKER}:{name}", "value": str(value)}


def _properties(holder: Mapping[str, Any]) -> dict[str, str]:
    """Our properties without the prefix; of several with one name the last."""
    return {
        each["name"].removeprefix(f"{MAKER}:"): identity.text(each["value"])
        for each in holder.get("properties", ())
    }


def _tip(component: Mapping[str, Any]) -> ClaimedTip:
    ids = [identity.text(each).split(":")[2:] for each in component["swhid"]]
    commit, tree = (
        identity.single(
            (each[1] for each in ids if len(each) == 2 and each[0] == kind), f"swhid of kind {kind}"
        )
        for kind in ("rev", "dir")
    )
    return ClaimedTip(identity.commit(commit), tree)


def _sha256(component: Mapping[str, Any]) -> str:
    found = [each["content"] for each in component["hashes"] if each["alg"] == "SHA-256"]
    return identity.text(identity.single(found, f"SHA-256 of {component['name']}"))


def _claimed_libraries(components: Iterable[Mapping[str, Any]]) -> tuple[ClaimedLibrary, ...]:
    found = [
        ClaimedLibrary(identity.text(each["name"]), _sha256(each), identity.number(_properties(each)["size"]))
        for each in components
    ]
    identity.unique((library.name for library in found), "the library")
    return tuple(found)


def _claimed_patches(components: Iterable[Mapping[str, Any]]) -> Iterator[ClaimedPatch]:
    for each in components:
        if number := _properties(each).get("patch:number"):
            yield ClaimedPatch(identity.number(number), identity.text(each["name"]), _sha256(each))


def _claimed_recipe_files(components: Iterable[Mapping[str, Any]]) -> tuple[ClaimedFile, ...]:
    found = [
        ClaimedFile(identity.text(each["name"]), _sha256(each))
        for each in components
        if identity.text(each.get("bom-ref", "")).startswith(_RECIPE)
    ]
    identity.unique((file.name for file in found), "the recipe file")
    return tuple(sorted(found))


def _claimed_tools(components: Iterable[Mapping[str, Any]]) -> dict[str, ClaimedTool]:
    """By role."""
    rows = [(role, each) for each in components if (role := _properties(each).get("tool:role"))]
    identity.unique((role for role, _ in rows), "the tool")
    return {
        role: ClaimedTool(
            identity.text(each["name"]),
            identity.text(each.get("version", "")),
            _sha256(each) if "hashes" in each else "",
        )
        for role, each in rows
    }
