"""Evidence that was edited, cut short, mistaken or made up: told as that, exit status 2, no traceback."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from skippy_patches.evidence import evidencefile, jsonfile, record, shape, statement
from skippy_patches.evidence.errors import EvidenceBroken, RecordBroken
from tests.evidence.made import changed

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.evidence.record import Record
    from tests.world import World

ESCAPE = "\x1b]0;owned\x07\x1b[2J"


def test_a_record_is_known_by_its_content(known: Record, tmp_path: Path) -> None:
    file = tmp_path / "no-suffix"
    file.write_text(json.dumps(known.as_json()), encoding="utf-8")
    claim = evidencefile.load(file)
    assert (claim.kind, claim.recipe, claim.source) == ("record", "cpu", file)
    assert [patch.number for patch in claim.patches] == [1, 2, 3]
    assert [library.name for library in claim.libraries] == ["libllama.so", "libggml.so"]
    assert claim.toolchain["launcher"] is None
    assert claim.record == known


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"a": "\xff"}', "not UTF-8 at byte"),
        (b"\x00\x01\x02", "it is not JSON"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands there twice"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"n": NaN}', "NaN in it is no number of JSON"),
        (b'{"n": [-Infinity]}', "-Infinity in it is no number of JSON"),
        (b'{"n": -1e999}', "the number -1e999 in it is too large"),
        (b'{"a": ["\\ud800"]}', "it holds '\\ud800', which is no character"),
        (b'{"\\udc00": 1}', "it holds '\\udc00', which is no character"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8 at byte 0"),
        (b'{"something": "else"}', "neither `artifacts`, nor `_type`"),
        (b'{"payloadType": "application/vnd.in-toto+json", "payload": ""}', "envelope"),
        (b'{"_type": "https://in-toto.io/Statement/v1"}', "KeyError"),
        (
            b'{"_type": "x", "predicateType": "y", "predicate": {"buildDefinition": {"buildType": 1}}}',
            "'x', not",
        ),
    ],
)
def test_what_is_no_evidence(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "evidence.json"
    file.write_bytes(content)
    with pytest.raises(EvidenceBroken) as caught:
        evidencefile.load(file)
    assert says in caught.value.what
    assert caught.value.exit_status == 2


def test_a_name_that_is_not_utf_8_can_be_read() -> None:
    assert jsonfile.parse(rb'{"file": "0001-\udcff.patch"}') == {"file": os.fsdecode(b"0001-\xff.patch")}


def test_numbers_of_patches_in_a_document(known: Record, tmp_path: Path) -> None:
    file = tmp_path / "statement.json"
    for numbers, says in (((1, 2, 9), "0003-apart.patch has number 9"), ((1, 1, 3), "have one number")):
        rows = [{**row, "number": at} for row, at in zip(known.content["patches"], numbers, strict=True)]
        file.write_text(json.dumps(statement.make(changed(known, patches=rows))), encoding="utf-8")
        with pytest.raises(EvidenceBroken, match=says):
            evidencefile.load(file)


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as stream:
        stream.write(b"{")
        stream.truncate(jsonfile.LIMIT * 100)  # sparse
    with pytest.raises(EvidenceBroken, match="more than 64 MB"):
        evidencefile.load(file)
    with pytest.raises(RecordBroken, match="more than 64 MB"):
        record.load(file)


def test_a_key_that_stands_twice_among_very_many() -> None:
    """Comparing each with each would take the better part of an hour."""
    keys = ",".join(f'"{at}":0' for at in range(200_000))
    with pytest.raises(jsonfile.Unreadable, match="the key '199999' stands there twice"):
        jsonfile.parse(f'{{{keys},"199999":0}}'.encode())


def test_places_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nowhere")
    (tmp_path / "loop.json").symlink_to("loop.json")
    for name, says in (
        ("pipe.json", "no regular file"),
        ("folder.json", "it is a folder"),
        ("link.json", "it is a link that leads nowhere"),
        ("loop.json", "it cannot be read: Too many levels"),
    ):
        with pytest.raises(RecordBroken, match=says):
            record.load(tmp_path / name)


def test_a_record_of_a_later_version(known: Record, tmp_path: Path) -> None:
    file = tmp_path / "later.json"
    for version in (2, 99):
        file.write_text(json.dumps(known.as_json() | {"schema_version": version}), encoding="utf-8")
        with pytest.raises(RecordBroken, match=f"its schema_version is {version}, not 1") as caught:
            evidencefile.load(file)
        assert "update yours" in caught.value.mend
    for odd in (None, "1", True, 1.0, [1]):
        file.write_text(json.dumps(known.as_json() | {"schema_version": odd}), encoding="utf-8")
        with pytest.raises(RecordBroken):
            evidencefile.load(file)


def test_a_truncated_record(known: Record, tmp_path: Path) -> None:
    """Cut anywhere, it is never a record."""
    text = json.dumps(known.as_json()).encode()
    file = tmp_path / "cut.json"
    for end in range(0, len(text), 97):
        file.write_bytes(text[:end])
        with pytest.raises(EvidenceBroken):
            evidencefile.load(file)


def test_any_part_of_another_kind_is_told_by_its_place(known: Record) -> None:
    made = known
    odds: tuple[Any, ...] = (7.5, [None], {"x": []}, "\ud800")
    for key, value in made.content.items():
        for odd in odds:
            if key == "recipe" and isinstance(odd, str):
                continue
            if key == "toolchain" and odd == {}:
                continue
            said = shape.problem(changed(made, **{key: odd}).content)
            assert key in said, (key, odd, value)


@pytest.mark.parametrize(
    "odd",
    ["", "yesterday", "2026", "2026-01-31 12:00:00Z", "2026-02-30T12:00:00Z", "2026-01-31T12:00:00+01:00"],
)
def test_a_time_is_one(known: Record, odd: str) -> None:
    for key in ("started", "finished"):
        assert f"`{key}` is no time in UTC" in shape.problem(changed(known, **{key: odd}).content)


def test_contradictions(known: Record) -> None:
    made = known
    assert not list(shape.contradictions(made.content))
    rows = made.content["patches"]
    edited = [{**rows[0], "sha256": "0" * 64}, *rows[1:]]
    counts = {"run": 5, "passed": 1, "failed": 1, "skipped": 0, "failures": [], "skips": [], "excluded": []}
    library = made.content["artifacts"][0]
    bare = library | {"run_path": "", "sha256_without_run_path": library["sha256"]}
    early = counts | {"run": 2, "failures": [{"name": "a", "status": "failed", "reason": ""}]}
    earlier = changed(made, tests=early, started="2027-01-01T00:00:00Z")
    assert not list(shape.contradictions(earlier.content))  # as older versions wrote it
    again = [rows[0], {**rows[1], "tree": rows[0]["tree"]}, rows[2]]
    for parts, says in (
        ({"patches": edited}, "`queue_content_digest` is not that of `patches`"),
        ({"patches": rows[:2]}, "`patched` is not the commit of the last patch"),
        ({"patches": [{**rows[0], "number": 9}, *rows[1:]]}, "0001-first.patch has number 9"),
        ({"tests": counts}, "`tests` has 5 run, and 1 passed and 1 failed"),
        ({"tests": counts}, "`tests` has 1 failed, and lists 0"),
        ({"started": "2027-01-01T00:00:00Z"}, "it ended before it began"),
        ({"artifacts": [library, library]}, "the library libllama.so stands there twice"),
        (
            {"artifacts": [library, {**library, "name": "b", "size": 9}]},
            "b has the sha256 of another library, and another size",
        ),
        (
            {"artifacts": [bare | {"sha256": "0" * 64}]},
            "libllama.so has no run path, and not the same sha256 without it",
        ),
        (
            {"artifacts": [bare | {"run_path": "/opt"}]},
            "libllama.so has a run path, and the same sha256 without it",
        ),
        (
            {"artifacts": [library | {"run_path": "/opt"}]},
            "libllama.so has a run path, or a sha256 without it, and not both",
        ),
        ({"recipe_files": made.content["recipe_files"] * 3}, "the recipe file cpu.yaml stands there 3 times"),
        ({"patches": [rows[0], *rows]}, "the patch 0001-first.patch stands there twice"),
        ({"patches": [rows[0], *rows]}, "the number 1 stands there twice"),
        ({"patches": [rows[0], *rows]}, f"the commit {rows[0]['commit']} stands there twice"),
        ({"patches": [rows[0], *rows]}, f"a patch with sha256 {rows[0]['sha256']} stands there twice"),
        ({"patches": again}, "0002-second.patch changes nothing: the tree before it is the same"),
    ):
        assert says in list(shape.contradictions(changed(made, **parts).content))


def test_names_cannot_drive_a_terminal(built: tuple[World, Record]) -> None:
    world, made = built
    rows = [{**row, "file": f"{row['file'][:5]}{ESCAPE}.patch"} for row in made.content["patches"]]
    libraries = [{**each, "name": each["name"] + ESCAPE} for each in made.content["artifacts"]]
    tool = {"name": ESCAPE, "version": ESCAPE, "sha256": ""}
    evil = changed(
        made, patches=rows, artifacts=libraries, recipe="../" + ESCAPE, toolchain={ESCAPE: tool},
        recipe_files=[{"name": "../../etc/passwd", "sha256": "0" * 64}, {"name": ESCAPE, "sha256": "0" * 64}],
        platform={"system": ESCAPE, "machine": "..", "libc": ESCAPE}, **{ESCAPE: {ESCAPE: ESCAPE}},
    )  # fmt: skip
    file = world.root / "evil.json"
    file.write_text(json.dumps(evil.as_json()), encoding="utf-8")
    for arguments in (
        ("record", "show", "evil.json"),
        ("record", "diff", "evil.json", "recipe:cpu"),
        ("record", "diff", "recipe:cpu", "evil.json", "--format", "json"),
        ("verify", "evil.json"),
        ("verify", "evil.json", "--format", "json"),
    ):
        done = world.run(*arguments)
        assert done.returncode in (0, 1), done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr
