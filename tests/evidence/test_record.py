from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.result import Applied, AppliedPatch, Tip
from skippy_patches.build import mount, result
from skippy_patches.build.artifacts import Artifact
from skippy_patches.build.layout import Layout
from skippy_patches.build.recipe import Exclusion
from skippy_patches.build.recipefile import RecipeFile
from skippy_patches.build.report import TestReport, TestRow
from skippy_patches.build.reproduced import Reproduced
from skippy_patches.build.result import Built
from skippy_patches.build.toolchain import Tool, Toolchain
from skippy_patches.evidence import identity, kept, record, shape
from skippy_patches.evidence.errors import (
    BadLabel,
    LibrariesChanged,
    NoRecord,
    NotTheBuildsRecord,
    OtherCommitBuilt,
    RecordBroken,
    RecordDiffers,
    SourceChanged,
)
from skippy_patches.evidence.record import Results
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from tests.renumber.branches import Author
    from tests.world import World

UPSTREAM = Tip(commit=ObjectId("1" * 40), tree=ObjectId("2" * 40))
NOTHING = Results(whole=None, required=None)
PATCHED = Tip(commit=ObjectId("a" * 40), tree=ObjectId("b" * 40))


@pytest.fixture
def applied(tmp_path: Path) -> Applied:
    """One patch on the pin."""
    patch = AppliedPatch(
        number=1, file="0001-one.patch", sha256="c" * 64, subject="one", commit=PATCHED.commit,
        tree=PATCHED.tree, files=1, insertions=2, deletions=3,
    )  # fmt: skip
    return Applied(
        upstream=UPSTREAM, upstream_tag="b10361", patched=PATCHED, queue_digest="d" * 64,
        checkout=tmp_path / ".skippy/llama.cpp", reused=0, patches=(patch,),
    )  # fmt: skip


@pytest.fixture
def built(tmp_path: Path, applied: Applied) -> Built:
    """Two libraries of it."""
    source, tree = applied.checkout, tmp_path / ".skippy/build/cpu/tree"
    tree.mkdir(parents=True)
    tools = Toolchain(
        cmake=tool("cmake", "/venv/bin/cmake", "4.4.5"),
        ctest=tool("ctest", "/venv/bin/ctest", "4.4.5"),
        ninja=tool("ninja", "/venv/bin/ninja", "1.13.2"),
        c=tool("cc", "/usr/bin/cc", "(Debian) 12.2.0"),
        cxx=tool("c++", "/usr/bin/c++", "(Debian) 12.2.0"),
        launcher=tool("ccache", "/usr/bin/ccache", "4.7.5"),
    )
    arguments = (
        "-S", str(source), "-B", str(tree), "-DCMAKE_C_COMPILER=/usr/bin/cc",
        "-DCMAKE_CXX_COMPILER_LAUNCHER=/usr/bin/ccache", "-DGGML_NATIVE=OFF",
        f"-DI={tmp_path}/recipes/v/i.cmake",
        f"-DCMAKE_C_FLAGS=-ffile-prefix-map={source}=../src -ffile-prefix-map=../../../llama.cpp=../src",
    )  # fmt: skip
    return Built(
        recipe="cpu", recipe_files=(RecipeFile(name="cpu.yaml", sha256="f" * 64),), patched=PATCHED,
        recipes=tmp_path / "recipes", source=source, tree=tree,
        artifacts=tuple(library(tree, name) for name in ("libllama.so", "libggml.so")),
        toolchain=tools, remote="", cached=None, generator="Ninja", arguments=arguments,
        variables=(("GGML_NATIVE", "OFF"),), steps=5, compiled=3,
        started="2026-01-01T00:00:00Z", finished="2026-01-01T00:01:00Z",
    )  # fmt: skip


@pytest.fixture
def tests(built: Built) -> TestReport:
    """A run on these libraries."""
    return TestReport(
        recipe="cpu", commit=PATCHED.commit,
        libraries=tuple((artifact.name, artifact.sha256) for artifact in built.artifacts), pattern=None,
        rows=(
            row("test-a", "passed"), row("test-b", "timeout", "timed out"), row("test-c", "skipped", "none"),
        ),
        excluded=(Exclusion(name="test-net", reason="needs the network"),), unknown=(),
        started="2026-01-01T00:02:00Z", finished="2026-01-01T00:03:00Z",
    )  # fmt: skip


@pytest.fixture
def made(applied: Applied, built: Built, tests: TestReport) -> record.Record:
    """The record of all three."""
    return record.make(applied, built, Results(whole=tests, required=None))


def tool(name: str, path: str, version: str) -> Tool:
    return Tool(name=name, path=Path(path), version=version, sha256="e" * 64)


def library(tree: Path, name: str) -> Artifact:
    content = f"bytes of {name}".encode()
    (tree / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return Artifact(name=name, path=tree / name, sha256=digest, size=len(content))


def row(name: str, status: str, reason: str = "") -> TestRow:
    return TestRow(name=name, status=status, seconds=1.0, reason=reason, output="")


def test_the_content(made: record.Record, tmp_path: Path) -> None:
    content = made.content

    assert content["upstream"] == {"commit": "1" * 40, "tree": "2" * 40, "tag": "b10361"}
    assert content["patched"] == {"commit": "a" * 40, "tree": "b" * 40}
    assert content["patches"][0]["number"] == 1
    assert [artifact["name"] for artifact in content["artifacts"]] == ["libllama.so", "libggml.so"]
    assert content["toolchain"]["cxx"] == {"name": "c++", "version": "(Debian) 12.2.0", "sha256": "e" * 64}
    assert content["cmake"]["variables"] == {"GGML_NATIVE": "OFF"}
    assert content["recipe_files"] == [{"name": "cpu.yaml", "sha256": "f" * 64}]
    assert content["required_tests"] is None
    assert content["tests"] == {
        "run": 2,
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "failures": [{"name": "test-b", "status": "timeout", "reason": "timed out"}],
        "skips": [{"name": "test-c", "reason": "none"}],
        "excluded": [{"name": "test-net", "reason": "needs the network"}],
    }
    assert (content["started"], content["finished"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:03:00Z")


def test_no_path_of_the_machine_is_in_it(made: record.Record, tmp_path: Path) -> None:
    text = json.dumps(made.content)

    assert str(tmp_path) not in text
    assert "/usr/bin" not in text
    assert made.content["cmake"]["arguments"] == [
        "-S", "<source>", "-B", "<build>", "-DCMAKE_C_COMPILER=<c>",
        "-DCMAKE_CXX_COMPILER_LAUNCHER=<launcher>", "-DGGML_NATIVE=OFF", "-DI=<recipes>/v/i.cmake",
        "-DCMAKE_C_FLAGS=-ffile-prefix-map=<source>=../src -ffile-prefix-map=<source from build>=../src",
    ]  # fmt: skip


def test_under_the_canonical_mount_it_reads_the_same(applied: Applied, built: Built) -> None:
    plain = record.make(applied, built, NOTHING).content
    place = {str(built.source): str(mount.SOURCE), str(built.tree): str(mount.FOLDER / "tree")}
    arguments = tuple(
        functools.reduce(lambda text, pair: text.replace(*pair), place.items(), word)
        for word in built.arguments
    )
    mounted = dataclasses.replace(built, arguments=arguments, method=mount.MOUNT)

    made = record.make(applied, mounted, NOTHING).content

    assert made["cmake"] == plain["cmake"]
    assert (plain["reproducibility"], made["reproducibility"]) == (
        {"method": "prefix-map"},
        {"method": mount.MOUNT},
    )


def test_a_checkout_that_changed_while_it_was_built(author: tuple[World, Author]) -> None:
    world, _ = author
    applied = world.apply().applied
    record.check_source(applied, "cpu")
    (world.checkout / "src/a.c").write_text("changed\n", encoding="utf-8")
    with pytest.raises(SourceChanged, match=r"src/a\.c") as caught:
        record.check_source(applied, "cpu")
    assert caught.value.exit_status == 5
    world.inside("reset", "--hard", "-q", "HEAD~1")
    with pytest.raises(SourceChanged, match="is checked out"):
        record.check_source(applied, "cpu")


def test_written_and_read_back(made: record.Record, built: Built) -> None:
    file = record.write(made, Layout(folder=built.tree.parent))

    assert file.name == "record.json"
    assert json.loads(file.read_text()) == made.as_json()
    assert made.as_json()["schema_version"] == 1
    assert record.load(file) == made
    assert [path.name for path in file.parent.iterdir()].count("record.json") == 1


def test_both_digests_of_the_queue(made: record.Record) -> None:
    """As docs/records.md tells to compute them: `sha256sum | cut -c 1-64 | sha256sum` has no names in it."""
    assert made.content["queue_digest"] == "d" * 64
    lines = "".join(f"{patch['sha256']}\n" for patch in made.content["patches"])
    assert made.content["queue_content_digest"] == hashlib.sha256(lines.encode()).hexdigest()


def test_a_name_that_is_not_utf_8_is_kept(made: record.Record, tmp_path: Path) -> None:
    """Linux allows it, and so does git; json.dumps writes what encode() refuses."""
    patches = [{**made.content["patches"][0], "file": os.fsdecode(b"0001-\xff.patch")}]
    odd = record.Record(content=made.content | {"patches": patches})

    file = kept.save(odd, tmp_path)

    assert rb'"0001-\udcff.patch"' in file.read_bytes()
    assert record.load(file) == odd
    assert hashlib.sha256(file.read_bytes()).hexdigest() == identity.digest(odd)


def test_half_a_character_is_no_record(made: record.Record, tmp_path: Path) -> None:
    file = kept.save(made, tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace('"recipe": "', '"recipe": "\\ud800'))
    with pytest.raises(RecordBroken, match=r"it holds '\\ud800', which is no character"):
        record.load(file)


def test_the_last_build_is_told_from_its_folder_alone(made: record.Record, built: Built) -> None:
    """No checkout, no queue: neither is there."""
    layout = Layout(folder=built.tree.parent)
    result.save(built, layout)
    record.write(made, layout)

    assert record.of_last_build(layout) == made

    built.artifacts[0].path.write_bytes(b"!")
    with pytest.raises(LibrariesChanged):
        record.of_last_build(layout)


@pytest.mark.parametrize("part", ["artifacts", "toolchain", "cmake", "recipe_files", "patched"])
def test_a_record_that_is_not_of_the_build_beside_it(
    made: record.Record, built: Built, applied: Applied, part: str
) -> None:
    layout = Layout(folder=built.tree.parent)
    result.save(built, layout)
    changed = {
        "artifacts": [made.content["artifacts"][0] | {"sha256": "0" * 64}],
        "toolchain": made.content["toolchain"] | {"launcher": None},
        "cmake": made.content["cmake"] | {"variables": {"GGML_NATIVE": "ON"}},
        "recipe_files": [],
        "patched": made.content["upstream"],
    }
    record.write(record.Record(content=made.content | {part: changed[part]}), layout)

    with pytest.raises(NotTheBuildsRecord, match=f"{part} differ") as caught:
        record.of_last_build(layout)
    assert caught.value.exit_status == 6


def test_without_tests(applied: Applied, built: Built) -> None:
    made = record.make(applied, built, NOTHING)

    assert made.content["tests"] is None
    assert made.content["finished"] == built.finished


def test_required_tests_have_counts_of_their_own(applied: Applied, built: Built, tests: TestReport) -> None:
    """Also when only they were run; one that skipped is counted as skipped, although it fails the run."""
    rows = (
        dataclasses.replace(row("test-skippy-a", "passed"), is_required=True),
        dataclasses.replace(row("test-skippy-b", "failed", "wrong"), is_required=True),
        dataclasses.replace(row("test-skippy-c", "failed", "skipped"), is_required=True, has_skipped=True),
        row("test-needed", "passed"),
    )
    some = dataclasses.replace(tests, pattern="skippy", rows=rows, finished="2026-01-01T00:04:00Z")

    made = record.make(applied, built, Results(whole=None, required=some))

    assert made.content["tests"] is None
    assert made.content["required_tests"] == {
        "run": 2,
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "tests": [
            {"name": "test-skippy-a", "status": "passed", "reason": ""},
            {"name": "test-skippy-b", "status": "failed", "reason": "wrong"},
            {"name": "test-skippy-c", "status": "failed", "reason": "skipped"},
        ],
    }
    assert made.content["finished"] == "2026-01-01T00:04:00Z"


def test_a_record_of_an_older_version_is_read_and_not_replaced(made: record.Record, tmp_path: Path) -> None:
    later = ("recipe_files", "required_tests", "queue_content_digest")
    older = {key: value for key, value in made.content.items() if key not in later}
    file = kept.save(record.Record(content=older), tmp_path)

    assert record.load(file).content == older
    assert kept.save(made, tmp_path) == file
    assert record.load(file).content == older


@pytest.mark.parametrize("change", ["commit", "libraries"])
def test_results_of_other_bytes_are_left_out(
    applied: Applied, built: Built, tests: TestReport, change: str
) -> None:
    other = {"commit": ObjectId("9" * 40), "libraries": (("libllama.so", "0" * 64),)}[change]
    stale = dataclasses.replace(tests, **{change: other})  # type: ignore[arg-type]
    listener = Listener()

    made = record.make(applied, built, Results(whole=stale, required=stale), reporter=listener)

    assert made.content["tests"] is None
    assert "holds no test results" in listener.steps[0]


def test_a_second_build_of_these_libraries_is_recorded(applied: Applied, built: Built) -> None:
    hashes = tuple((each.name, each.sha256) for each in built.artifacts)
    again = Reproduced(checked="2026-01-01T00:09:00Z", method="mount", libraries=hashes)
    made = record.make(applied, built, dataclasses.replace(NOTHING, reproduced=again))
    assert made.content["reproducible"] == {"checked": "2026-01-01T00:09:00Z", "method": "mount"}
    assert not shape.problem(made.content)
    other = dataclasses.replace(again, libraries=hashes[:1])
    made = record.make(applied, built, dataclasses.replace(NOTHING, reproduced=other))
    assert made.content["reproducible"] is None


def test_a_build_after_the_tests_ends_after_it_began(
    applied: Applied, built: Built, tests: TestReport
) -> None:
    """Nothing was compiled, so the libraries are those that were tested."""
    again = dataclasses.replace(built, started="2027-01-01T00:00:00Z", finished="2027-01-01T00:00:01Z")
    made = record.make(applied, again, Results(whole=tests, required=None))
    assert made.content["tests"] is not None
    assert made.content["finished"] == "2027-01-01T00:00:01Z"


class Listener:
    def __init__(self) -> None:
        self.steps: list[str] = []

    def step(self, text: str) -> None:
        self.steps.append(text)

    def detail(self, text: str) -> None:
        pass

    def advance(self, label: str, done: int, total: int | None) -> None:
        pass


def test_a_build_of_another_commit(applied: Applied, built: Built) -> None:
    moved = dataclasses.replace(applied, patched=Tip(commit=ObjectId("9" * 40), tree=PATCHED.tree))

    with pytest.raises(OtherCommitBuilt, match="is of aaaaaaaaaaaa, and the queue now gives 999999999999"):
        record.make(moved, built, NOTHING)


def test_bytes_that_changed_since_the_build(applied: Applied, built: Built) -> None:
    with built.artifacts[1].path.open("ab") as stream:
        stream.write(b"!")

    with pytest.raises(LibrariesChanged, match=r"libggml\.so") as caught:
        record.make(applied, built, NOTHING)
    assert caught.value.exit_status == 6

    built.artifacts[1].path.unlink()
    with pytest.raises(LibrariesChanged):
        record.make(applied, built, NOTHING)


def test_saved_under_pin_commit_recipe_and_platform(made: record.Record, tmp_path: Path) -> None:
    file = kept.save(made, tmp_path / "records")

    place = made.content["platform"]
    assert file.name == f"b10361-aaaaaaaaaaaa-cpu-{place['system']}-{place['machine']}.json"
    assert record.load(file) == made


def test_the_same_record_at_another_time_is_left_alone(made: record.Record, tmp_path: Path) -> None:
    file = kept.save(made, tmp_path)
    before = file.read_bytes()
    later = record.Record(content=made.content | {"finished": "2027-01-01T00:00:00Z"})

    assert kept.save(later, tmp_path) == file
    assert file.read_bytes() == before


def test_another_record_is_not_overwritten(made: record.Record, tmp_path: Path) -> None:
    file = kept.save(made, tmp_path)
    before = file.read_bytes()
    other = record.Record(content=made.content | {"queue_digest": "0" * 64})

    with pytest.raises(RecordDiffers) as caught:
        kept.save(other, tmp_path)

    assert "patches: queue_digest changed: dddddddddddd -> 000000000000" in caught.value.why
    assert caught.value.exit_status == 1
    assert file.read_bytes() == before


def test_another_compiler_is_told_and_a_label_keeps_both(made: record.Record, tmp_path: Path) -> None:
    """Two builds of one commit, recipe and platform: never silently one file."""
    kept.save(made, tmp_path)
    clang = {"name": "clang++", "version": "16.0.6", "sha256": "9" * 64}
    tools = made.content["toolchain"] | {"cxx": clang}
    other = record.Record(content=made.content | {"toolchain": tools})

    with pytest.raises(RecordDiffers) as caught:
        kept.save(other, tmp_path)
    file = kept.save(other, tmp_path, "clang16")

    assert (
        "toolchain: cxx changed: c++ (Debian) 12.2.0, sha256 eeeeeeeeeeee -> clang++ 16" in caught.value.why
    )
    assert "--label" in caught.value.mend
    assert file.name == f"{made.slug}-clang16.json"
    assert record.load(file) == other


@pytest.mark.parametrize("label", ["../up", "a/b", "-x", " ", "a" * 41])
def test_a_label_is_a_word(made: record.Record, tmp_path: Path, label: str) -> None:
    with pytest.raises(BadLabel):
        kept.save(made, tmp_path, label)
    assert not list(tmp_path.glob("**/*.json"))


def test_a_tag_cannot_lead_out_of_the_folder(made: record.Record, tmp_path: Path) -> None:
    odd = record.Record(content=made.content | {"upstream": made.content["upstream"] | {"tag": "../up/v1"}})

    assert kept.save(odd, tmp_path).parent == tmp_path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"artifacts": []}, "`artifacts` must name libraries"),
        (
            {"artifacts": [{"name": "libllama.so", "sha256": "short", "size": 1}]},
            "`artifacts[0].sha256` is not a SHA-256",
        ),
        ({"patched": {"commit": "abc", "tree": "def"}}, "`patched.commit` is not a full commit"),
        ({"patches": [{"number": "one"}]}, "`patches[0]` lacks file, sha256"),
        ({"platform": {"system": "linux"}}, "`platform` lacks machine, libc"),
        ({"toolchain": {"cxx": "gcc"}}, "`toolchain.cxx` is not an object"),
        ({"tests": {"run": True}}, "`tests` lacks passed"),
        ({"recipe": 7}, "`recipe` is not text"),
        ({"schema_version": 2}, "its schema_version is 2, not 1"),
    ],
)
def test_a_record_that_was_tampered_with(
    made: record.Record, tmp_path: Path, change: dict[str, object], says: str
) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"schema_version": 1} | made.content | change))

    with pytest.raises(RecordBroken) as caught:
        record.load(file)

    assert says in caught.value.what


def test_a_record_with_a_part_missing(made: record.Record, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    content = {"schema_version": 1} | made.content
    del content["toolchain"]
    file.write_text(json.dumps(content))

    with pytest.raises(RecordBroken, match="it lacks toolchain"):
        record.load(file)


@pytest.mark.parametrize("text", ["", "[1]", "{", "\xff"])
def test_a_file_that_is_no_record(tmp_path: Path, text: str) -> None:
    file = tmp_path / "record.json"
    file.write_bytes(text.encode("latin-1"))

    with pytest.raises(RecordBroken, match="is not a record"):
        record.load(file)


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(NoRecord) as caught:
        record.load(tmp_path / "record.json")

    assert caught.value.exit_status == 6
