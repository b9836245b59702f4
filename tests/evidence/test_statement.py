"""Statements, held against the published classes of in-toto and SLSA, and read back."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement

from skippy_patches.evidence import evidencefile, identity, kept, record, statement
from skippy_patches.evidence.errors import EvidenceBroken, StatementInvalid
from tests.evidence import specimen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skippy_patches.evidence.claim import Claim

RECORDS = {"full": specimen.record(), "old": specimen.old_record()}
all_records = pytest.mark.parametrize("made", RECORDS.values(), ids=RECORDS)


# https://github.com/in-toto/attestation/blob/main/spec/v1/: digest_set.md and field_types.md
DIGESTS = {"sha256": re.compile("[0-9a-f]{64}"), "gitCommit": re.compile("[0-9a-f]{40}")}
URI = re.compile(r"[a-z][a-z0-9+.-]*:[!-~]+")
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def check(document: dict[str, Any]) -> None:
    """Raise when it is no statement with provenance: as the schemas say, and the rules beside them."""
    message = json_format.ParseDict(document, statement_pb2.Statement())
    Statement.copy_from_pb(message).validate()
    provenance = json_format.ParseDict(document["predicate"], provenance_pb2.Provenance())
    for parsed, given in ((message, document), (provenance, document["predicate"])):
        if json_format.MessageToDict(parsed) != given:  # protobuf takes its own names of the fields, too
            raise ValueError("a field has the name that JSON has for it")
    definition, details = provenance.build_definition, provenance.run_details
    for each in (*definition.resolved_dependencies, *details.byproducts):
        ResourceDescriptor.copy_from_pb(each).validate()
        if not (each.uri or each.digest or each.content):
            raise ValueError("a descriptor needs uri, digest or content")
        if each.uri and not URI.fullmatch(each.uri):
            raise ValueError("a resource URI is a URI")
    for each in (*message.subject, *definition.resolved_dependencies, *details.byproducts):
        if not all(DIGESTS[name].fullmatch(text) for name, text in each.digest.items()):
            raise ValueError("digests are in lowercase hex")
    if len({each.name for each in message.subject}) != len(message.subject):
        raise ValueError("names are unique within subject")
    if not all(URI.fullmatch(text) for text in (definition.build_type, details.builder.id)):
        raise ValueError("type URIs are URIs")
    times = document["predicate"]["runDetails"]["metadata"]
    if not all(UTC.fullmatch(times[key]) for key in ("startedOn", "finishedOn")):
        raise ValueError("timestamps are in UTC")
    if not (definition.build_type and definition.external_parameters and details.builder.id):
        raise ValueError("SLSA Build L1 needs buildType, externalParameters and builder.id")


def claimed(made: record.Record) -> Claim:
    """What the record itself claims, as far as a statement says it."""
    claim = evidencefile.of_record(made)
    libraries = tuple(each._replace(size=None) for each in claim.libraries)
    return dataclasses.replace(claim, kind="statement", libraries=libraries, record=None)


@all_records
def test_it_is_what_in_toto_and_slsa_published(made: record.Record) -> None:
    check(statement.make(made))


def _without(*keys: str) -> Callable[[dict[str, Any]], None]:
    def take_away(document: dict[str, Any]) -> None:
        for key in keys[:-1]:
            document = document[key]
        del document[keys[-1]]

    return take_away


def _with(value: object, *keys: str | int) -> Callable[[dict[str, Any]], None]:
    def put(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return put


def _dependencies(document: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    found = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    return [each for each in found if kind in each["annotations"]]


def _numbered(value: object) -> Callable[[dict[str, Any]], None]:
    def put(document: dict[str, Any]) -> None:
        _dependencies(document, "skippy_patch")[0]["annotations"]["skippy_patch"]["number"] = value

    return put


def _twice(kind: str) -> Callable[[dict[str, Any]], None]:
    def add(document: dict[str, Any]) -> None:
        again = copy.deepcopy(_dependencies(document, kind)[0])
        document["predicate"]["buildDefinition"]["resolvedDependencies"].append(again)

    return add


BREAKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "another type": _with("https://in-toto.io/Statement/v0.1", "_type"),
    "a key that there is not": _with(1, "subjects"),
    "protobuf's name of a field": lambda document: document.update(type=document.pop("_type")),
    "no subject": _without("subject"),
    "a subject without digest": _with([{"name": "libllama.so"}], "subject"),
    "a digest that is a list": _with([], "subject", 0, "digest"),
    "no predicate": _without("predicate"),
    "no type of predicate": _without("predicateType"),
    "no type of build": _without("predicate", "buildDefinition", "buildType"),
    "a misspelt key": _with({}, "predicate", "buildDefinition", "external_params"),
    "parameters in a list": _with([], "predicate", "buildDefinition", "internalParameters"),
    "a dependency without anything": _with({}, "predicate", "buildDefinition", "resolvedDependencies", 0),
    "a dependency with a name alone": _with(
        {"name": "cc"}, "predicate", "buildDefinition", "resolvedDependencies", 0
    ),
    "no builder": _without("predicate", "runDetails", "builder"),
    "a builder that is a number": _with(1, "predicate", "runDetails", "builder", "id"),
    "a builder that is no URI": _with("my machine", "predicate", "runDetails", "builder", "id"),
    "a type of build that is no URI": _with("build.md", "predicate", "buildDefinition", "buildType"),
    "a dependency whose address is none": _with(
        "c++ 12", "predicate", "buildDefinition", "resolvedDependencies", 0, "uri"
    ),
    "a digest in capitals": _with("C" * 64, "subject", 0, "digest", "sha256"),
    "a short commit": _with(
        {"gitCommit": "a" * 12}, "predicate", "buildDefinition", "resolvedDependencies", 0, "digest"
    ),
    "a name twice": _with([{"name": "a", "digest": {"sha256": "c" * 64}}] * 2, "subject"),
    "a time elsewhere": _with(
        "2026-01-31T13:00:00+01:00", "predicate", "runDetails", "metadata", "startedOn"
    ),
    "a time of another kind": _with("yesterday", "predicate", "runDetails", "metadata", "startedOn"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_published_refuses_a_broken_one(name: str) -> None:
    """Else the test above would show nothing."""
    document = statement.make(specimen.record())
    BREAKS[name](document)

    with pytest.raises((json_format.ParseError, ValueError, KeyError)):
        check(document)


_LIBRARY, _PATCH = specimen.CONTENT["artifacts"][0], specimen.CONTENT["patches"][0]
EDITED: dict[str, tuple[dict[str, Any], str]] = {
    "no time": ({"finished": "yesterday"}, "`finished` is 'yesterday', no time in UTC"),
    "a time elsewhere": ({"started": "2026-01-31T13:00:00+01:00"}, "`started` is "),
    "a library twice": ({"artifacts": [_LIBRARY, _LIBRARY]}, "the library 'libllama.so' stands there twice"),
    "a patch twice": ({"patches": [_PATCH, _PATCH]}, "the patch '0018-one.patch' stands there twice"),
    "no number": ({"patches": [{**_PATCH, "number": -1}]}, "-1 in it is no whole number"),
}


@pytest.mark.parametrize("name", EDITED)
def test_what_an_edited_record_would_make_is_refused(name: str) -> None:
    """A statement that `verify` refuses is of no use to anybody."""
    changes, says = EDITED[name]
    with pytest.raises(StatementInvalid) as caught:
        statement.make(specimen.record(**changes))

    assert says in caught.value.what
    assert caught.value.exit_status == 2


def test_what_the_fields_hold() -> None:
    document = statement.make(specimen.record())
    definition = document["predicate"]["buildDefinition"]

    assert document["subject"][0] == {"name": "libllama.so", "digest": {"sha256": "c" * 64}}
    assert definition["externalParameters"] == {
        "recipe": "cuda",
        "platform": {"system": "linux", "machine": "x86_64"},
        "upstream": {"repository": "https://github.com/ggml-org/llama.cpp", "commit": "a" * 40},
        "patches": ["0018-one.patch", specimen.ODD],
    }
    assert definition["internalParameters"]["variables"]["GGML_CUDA_FA"] == "ON"
    assert definition["internalParameters"]["reproducibility"] == {"method": "prefix-map", "checked": True}
    assert not set(definition["externalParameters"]) & set(definition["internalParameters"])  # SLSA's wish
    upstream, queue, first, *_ = definition["resolvedDependencies"]
    assert upstream == {
        "uri": f"git+https://github.com/ggml-org/llama.cpp@{'a' * 40}",
        "digest": {"gitCommit": "a" * 40},
        "annotations": {"skippy_upstream": {"tag": "b10361", "tree": "b" * 40}},
    }
    assert queue == {
        "name": "SHA256SUMS",
        "digest": {"sha256": "d" * 64},
        "annotations": {"skippy_queue": {"contentDigest": specimen.CONTENT["queue_content_digest"]}},
    }
    patch = {"number": 18, "subject": "skippy: one", "commit": "7" * 40, "tree": "8" * 40}
    assert first == {
        "name": "0018-one.patch",
        "digest": {"sha256": "6" * 64},
        "annotations": {"skippy_patch": patch},
    }


def test_every_input_is_a_dependency() -> None:
    dependencies = statement.make(specimen.record())["predicate"]["buildDefinition"]["resolvedDependencies"]

    assert [each.get("name") for each in dependencies] == [
        None, "SHA256SUMS", "0018-one.patch", specimen.ODD, "cuda.yaml", "cpu.yaml",
        "cc", "c++", "ccache", "ninja",
    ]  # fmt: skip
    cxx, launcher, ninja = dependencies[-3:]
    assert cxx["uri"] == "pkg:generic/c%2B%2B@%28Debian%2012.2.0-14%2Bdeb12u1%29%2012.2.0"
    assert launcher["annotations"]["skippy_tool"] == {
        "role": "launcher",
        "version": "4.7.5",
        "remote": "redis",
    }
    assert ninja["uri"] == "pkg:generic/ninja"
    assert "digest" not in ninja


def test_the_run() -> None:
    made = specimen.record()
    details = statement.make(made)["predicate"]["runDetails"]

    assert details["metadata"] == {
        "invocationId": identity.urn(made),
        "startedOn": "2026-01-31T12:00:00Z",
        "finishedOn": "2026-01-31T12:10:00Z",
    }
    patched, evidence = details["byproducts"]
    assert patched["digest"] == {"gitCommit": "4" * 40}
    assert evidence["annotations"]["skippy_record"] == {
        "schema_version": 1,
        "reproducible": {"checked": "2026-01-31T12:20:00Z", "method": "prefix-map"},
        "tests": {"run": 45, "passed": 45, "failed": 0, "skipped": 4},
        "required_tests": {"run": 1, "passed": 1, "failed": 0, "skipped": 0},
    }


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    import hashlib  # noqa: PLC0415 - what the user would do

    made = specimen.record()
    file = kept.save(made, tmp_path)
    evidence = statement.make(made)["predicate"]["runDetails"]["byproducts"][1]

    assert evidence["digest"] == {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *_texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def test_nothing_is_said_that_the_record_does_not_say() -> None:
    made = specimen.record()
    known = {
        *_texts(made.content),
        statement.TYPE,
        statement.PREDICATE_TYPE,
        statement.BUILD_TYPE,
        statement.BUILDER,
    }
    known |= {identity.REPOSITORY, identity.NAME, identity.digest(made), identity.urn(made), "record.json"}
    known |= {"application/json", "contentDigest", "role", "schema_version", "SHA256SUMS"}
    fields = {field.json_name for field in _fields(statement_pb2.Statement.DESCRIPTOR)}
    fields |= {field.json_name for field in _fields(provenance_pb2.Provenance.DESCRIPTOR)}
    said = set(_texts(statement.make(made))) - known - fields

    assert {text for text in said if not text.startswith(("skippy_", "git+https:", "pkg:generic/"))} == {
        "gitCommit", "repository", "digest", "sha256",
    } - known - fields  # fmt: skip


def _fields(descriptor: Any) -> Iterator[Any]:
    """Those of the message and of all messages in it."""
    for field in descriptor.fields:
        yield field
        if field.message_type and not field.message_type.full_name.startswith("google."):
            yield from _fields(field.message_type)


@all_records
def test_the_same_record_gives_the_same_statement(made: record.Record) -> None:
    before = copy.deepcopy(made.content)
    first, second = (json.dumps(statement.make(made)) for _ in range(2))

    assert first == second
    assert made.content == before
    other = record.Record(content=made.content | {"finished": "2026-02-01T00:00:00Z"})
    assert identity.urn(other) != identity.urn(made)


@all_records
def test_read_back(made: record.Record, tmp_path: Path) -> None:
    file = tmp_path / "llama.intoto.json"
    file.write_text(json.dumps(statement.make(made)), encoding="utf-8")

    assert dataclasses.replace(evidencefile.load(file), source=claimed(made).source) == claimed(made)


def test_read_back_from_another_program(tmp_path: Path) -> None:
    """Protobuf orders the keys and has but one type of number; dependencies have no order."""
    document = statement.make(specimen.record())
    message = json_format.ParseDict(document, statement_pb2.Statement())
    rewritten = json_format.MessageToDict(message)
    rewritten["predicate"]["buildDefinition"]["resolvedDependencies"].reverse()
    del rewritten["predicate"]["buildDefinition"]["internalParameters"]

    claim = statement.claim(rewritten)

    wanted = claimed(specimen.record())
    assert dataclasses.replace(claim, toolchain={}) == dataclasses.replace(wanted, toolchain={})
    assert claim.toolchain == wanted.toolchain


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_with("https://in-toto.io/Statement/v0.1", "_type"), "its _type is 'https://in-toto.io/St"),
        (_with("https://spdx.dev/Document", "predicateType"), "its predicateType is"),
        (_with("https://example.org/workflow", "predicate", "buildDefinition", "buildType"), "its buildType"),
        (_without("predicate"), "KeyError at 'predicate'"),
        (_with([], "predicate", "runDetails", "byproducts"), "0 of what there must be one: patched commit"),
        (_with([{"name": "a", "digest": {"sha256": "c" * 64}}] * 2, "subject"), "'a' stands there twice"),
        (_numbered(float("inf")), "Infinity in it is no number of JSON"),
        (_numbered(True), "True in it is no whole number"),
        (_numbered(1.5), "1.5 in it is no whole number"),
        (_numbered("9" * 5000), "in it is no whole number"),
        (_with({"gitCommit": ""}, "predicate", "buildDefinition", "resolvedDependencies", 0, "digest"),
         "'' in it is no full commit id"),
        (_with("f" * 40, "predicate", "buildDefinition", "externalParameters", "upstream", "commit"),
         "name another upstream than its dependencies"),
        (_with({"contentDigest": "f" * 64}, "predicate", "buildDefinition", "resolvedDependencies", 1,
               "annotations", "skippy_queue"),
         "its contentDigest is not that of its patches"),
        (_twice("skippy_upstream"), "2 of what there must be one: upstream"),
        (_twice("skippy_patch"), "lists other patches than its dependencies"),
        (_twice("skippy_tool"), "the tool 'c' stands there twice"),
        (_with("short", "subject", 0, "digest", "sha256"), "no SHA-256"),
        (_with(7, "subject", 0, "digest", "sha256"), "TypeError at 7, which is no text"),
        (_with([], "subject"), "names no library"),
        (_with(["0018-one.patch"], "predicate", "buildDefinition", "externalParameters", "patches"),
         "lists other patches than its dependencies"),
    ],
)  # fmt: skip
def test_what_is_no_statement_of_ours(
    change: Callable[[dict[str, Any]], None], says: str, tmp_path: Path
) -> None:
    document = statement.make(specimen.record())
    change(document)
    file = tmp_path / "statement.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(EvidenceBroken) as caught:
        evidencefile.load(file)

    assert says in caught.value.what
