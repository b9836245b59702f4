"""Bills of materials, held against the published schema of CycloneDX, and read back."""

from __future__ import annotations

import collections
import copy
import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from cyclonedx.exception import MissingOptionalDependencyException
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from skippy_patches.evidence import evidencefile, identity, record, sbom
from skippy_patches.evidence.errors import EvidenceBroken, SbomExtraMissing, SbomInvalid
from tests.evidence import specimen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skippy_patches.evidence.claim import Claim

RECORDS = {"full": specimen.record(), "old": specimen.old_record()}
all_records = pytest.mark.parametrize("made", RECORDS.values(), ids=RECORDS)


@pytest.fixture(scope="module")
def schema() -> JsonStrictValidator:
    """The schema of CycloneDX 1.6, strictly: a key that it does not know is an error."""
    return JsonStrictValidator(SchemaVersion.V1_6)


def claimed(made: record.Record) -> Claim:
    """What the record itself claims."""
    return dataclasses.replace(evidencefile.of_record(made), kind="sbom", record=None)


@all_records
def test_it_is_what_cyclonedx_published(made: record.Record, schema: JsonStrictValidator) -> None:
    assert schema.validate_str(json.dumps(sbom.make(made))) is None


@all_records
def test_what_is_made_passes_its_own_check(made: record.Record) -> None:
    sbom.check(sbom.make(made))


_LIBRARY = specimen.CONTENT["artifacts"][0]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"finished": "yesterday"}, "at metadata/timestamp: 'yesterday' is not a 'date-time'."),
        ({"artifacts": [_LIBRARY, _LIBRARY]}, "at components: "),
        ({"artifacts": [{**_LIBRARY, "size": -1}]}, "at the top: '-1' in it is no whole number."),
    ],
)
def test_what_an_edited_record_would_make_is_refused(changes: dict[str, Any], says: str) -> None:
    made = specimen.record()
    made.content.update(changes)
    document = sbom.make(made)

    with pytest.raises(SbomInvalid) as caught:
        sbom.check(document)

    assert says in caught.value.what
    assert len(caught.value.what) < 400
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("module", ["cyclonedx.schema", "cyclonedx.validation.json"])
def test_without_the_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(SbomExtraMissing, match=r"pip install 'skippy-patches\[sbom\]'"):
        sbom.check(sbom.make(specimen.record()))


def test_without_half_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library alone does not bring what it checks JSON with, and says so late."""
    said = MissingOptionalDependencyException("It needs more.\nInstall the extra json-validation\n.")
    monkeypatch.setattr(JsonStrictValidator, "validate_str", mock.Mock(side_effect=said))

    with pytest.raises(SbomExtraMissing, match=r"json-validation") as caught:
        sbom.check(sbom.make(specimen.record()))

    assert caught.value.exit_status == 2
    assert caught.value.what.endswith("not installed: It needs more. Install the extra json-validation.")


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    whole: dict[str, Any] = document["metadata"]["component"]
    return whole


BREAKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a key that there is not": lambda bom: bom.update(patches=[]),
    "another format": lambda bom: bom.update(bomFormat="SPDX"),
    "no format": lambda bom: bom.pop("bomFormat"),
    "a serial number of another form": lambda bom: bom.update(serialNumber="1"),
    "a time that is none": lambda bom: bom["metadata"].update(timestamp="yesterday"),
    "a phase that there is not": lambda bom: bom["metadata"].update(lifecycles=[{"phase": "compile"}]),
    "a component without name": lambda bom: bom["components"][0].pop("name"),
    "a component twice": lambda bom: bom["components"].append(bom["components"][0]),
    "a short hash": lambda bom: bom["components"][0]["hashes"][0].update(content="abc"),
    "a hash of another name": lambda bom: bom["components"][0]["hashes"][0].update(alg="sha256"),
    "a number as a property": lambda bom: bom["components"][0]["properties"][0].update(value=1),
    "a patch of no type": lambda bom: _whole(bom)["pedigree"]["patches"][0].pop("type"),
    "a patch of another type": lambda bom: _whole(bom)["pedigree"]["patches"][0].update(type="ours"),
    "a patch with a hash": lambda bom: _whole(bom)["pedigree"]["patches"][0].update(hashes=[]),
    "an address that is none": lambda bom: _whole(bom)["pedigree"]["patches"][0]["diff"].update(url="a b"),
    "a reference of another type": lambda bom: bom["externalReferences"][0].update(type="record"),
    "a formula with files": lambda bom: bom["formulation"][0].update(files=[]),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_published_refuses_a_broken_one(name: str, schema: JsonStrictValidator) -> None:
    """Else the test above would show nothing."""
    document = sbom.make(specimen.record())
    BREAKS[name](document)

    assert schema.validate_str(json.dumps(document)) is not None


def test_the_patched_software_and_its_pedigree() -> None:
    whole = _whole(sbom.make(specimen.record()))
    (ancestor,) = whole["pedigree"]["ancestors"]

    assert (whole["group"], whole["name"], whole["version"]) == (
        "ggml-org",
        "llama.cpp",
        "b10361+444444444444",
    )
    assert whole["purl"] == f"pkg:github/ggml-org/llama.cpp@{'a' * 40}?patched={'4' * 40}"
    assert whole["swhid"] == [f"swh:1:rev:{'4' * 40}", f"swh:1:dir:{'5' * 40}"]
    assert ancestor["purl"] == f"pkg:github/ggml-org/llama.cpp@{'a' * 40}"
    assert ancestor["version"] == "b10361"
    assert whole["pedigree"]["commits"] == [
        {"uid": "7" * 40, "message": "skippy: one"},
        {"uid": "4" * 40, "message": "skippy: <ümlaut>"},
    ]
    assert whole["pedigree"]["patches"] == [
        {"type": "unofficial", "diff": {"url": "0018-one.patch"}},
        {"type": "unofficial", "diff": {"url": "0021-%C3%BCmlaut%20%26%20%23fragment%20100%25.patch"}},
    ]


def test_libraries_and_all_that_went_in() -> None:
    document = sbom.make(specimen.record())
    (formula,) = document["formulation"]

    assert [each["name"] for each in document["components"]] == ["libllama.so", "libggml-base.so"]
    assert document["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "c" * 64}]
    assert [each["bom-ref"] for each in formula["components"]] == [
        "patch:0018-one.patch", f"patch:{specimen.ODD}", "recipe:cuda.yaml", "recipe:cpu.yaml",
        "tool:c", "tool:cxx", "tool:launcher", "tool:ninja",
    ]  # fmt: skip
    said = {each["name"]: each["value"] for each in formula["properties"]}
    assert said["skippy-patches:reproducible:method"] == "prefix-map"
    assert said["skippy-patches:tests:run"] == "45"
    assert said["skippy-patches:required-tests:passed"] == "1"
    assert said["skippy-patches:cmake:argument"] == "-DGGML_CUDA_FA=ON"


def _parts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(item)


@all_records
def test_references_lead_somewhere(made: record.Record) -> None:
    """The schema does not look at that, nor at package URLs."""
    document = sbom.make(made)
    parts = list(_parts(document))
    names = collections.Counter(part["bom-ref"] for part in parts if "bom-ref" in part)
    graph = document["dependencies"][0]

    assert set(names.values()) == {1}
    assert {graph["ref"], *graph["dependsOn"]} <= set(names)
    for part in parts:
        if "purl" in part:
            assert PackageURL.from_string(part["purl"]).to_string() == part["purl"]


def test_package_urls_of_tools() -> None:
    purl = identity.tool_purl("c++", "(Debian 12.2.0-14+deb12u1) 12.2.0")

    assert PackageURL.from_string(purl).version == "(Debian 12.2.0-14+deb12u1) 12.2.0"
    assert PackageURL.from_string(purl).name == "c++"


@all_records
def test_the_same_record_gives_the_same_bytes(made: record.Record) -> None:
    before = copy.deepcopy(made.content)
    first, second = (json.dumps(sbom.make(made)) for _ in range(2))

    assert first == second
    assert made.content == before
    assert sbom.make(made)["metadata"]["timestamp"] == made.content["finished"]
    other = record.Record(content=made.content | {"queue_digest": "0" * 64})
    assert sbom.make(other)["serialNumber"] != sbom.make(made)["serialNumber"]


@all_records
def test_read_back(made: record.Record, tmp_path: Path) -> None:
    file = tmp_path / "llama.cdx.json"
    file.write_text(json.dumps(sbom.make(made)), encoding="utf-8")

    assert dataclasses.replace(evidencefile.load(file), source=claimed(made).source) == claimed(made)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda bom: bom.pop("metadata"), "was not written by skippy-patches"),
        (lambda bom: bom["metadata"].update(tools=[{"name": "skippy-patches"}]), "was not written by"),
        (lambda bom: bom["metadata"].pop("tools"), "was not written by"),
        (lambda bom: bom.pop("formulation"), "KeyError at 'formulation'"),
        (lambda bom: _whole(bom).pop("swhid"), "KeyError at 'swhid'"),
        (lambda bom: _whole(bom).update(swhid=["swh:1:rev:1", "swh:1:dir:2"]), "'1' in it is no full"),
        (lambda bom: _whole(bom)["swhid"].__setitem__(0, "swh:1:rev:"), "'' in it is no full commit id"),
        (lambda bom: _whole(bom)["swhid"].__setitem__(1, "swh:1:dir:2"), "no full id"),
        (lambda bom: _whole(bom)["pedigree"]["patches"].reverse(), "lists other patches than its formula"),
        (lambda bom: bom["formulation"].clear(), "0 of what there must be one: formula"),
        (lambda bom: _whole(bom).update(swhid=["1"]), "0 of what there must be one: swhid of kind rev"),
        (lambda bom: bom["components"][0].update(hashes=[]), "there must be one: SHA-256 of libllama.so"),
        (lambda bom: bom["components"][0]["properties"][0].update(value="1e9"), "'1e9' in it is no whole"),
        (lambda bom: bom["components"].append(bom["components"][0]), "'libllama.so' stands there twice"),
        (lambda bom: bom["formulation"][0]["components"].append(bom["formulation"][0]["components"][-1]),
         "the tool 'ninja' stands there twice"),
        (lambda bom: bom["components"][0]["hashes"][0].update(content="abc"), "no SHA-256"),
        (lambda bom: bom.update(components=[]), "names no library"),
    ],
)  # fmt: skip
def test_what_is_no_bill_of_ours(
    change: Callable[[dict[str, Any]], object], says: str, tmp_path: Path
) -> None:
    document = sbom.make(specimen.record())
    change(document)
    file = tmp_path / "bom.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(EvidenceBroken) as caught:
        evidencefile.load(file)

    assert says in caught.value.what
