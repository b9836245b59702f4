"""Strict YAML: values as they are written, mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches import yamlfile
from skippy_patches.errors import ConfigError

FILE = Path("x.yaml")


def _load(text: str) -> yamlfile.Section:
    return yamlfile.load(FILE, text.encode())


def test_values_as_they_are_written() -> None:
    section = _load("a: 0021\nb: ON\nc: 1e5\nd: ~\ne: [x, '0']\nf: one\ng: yes\nh: 12\n")
    assert section.text("a") == "0021"
    assert section.text("b") == "ON"
    assert section.text("c") == "1e5"
    assert section.text("d", "default") == "default"
    assert section.texts("e") == ("x", "0")
    assert section.texts("f") == ("one",)
    assert section.text("g") == "yes"
    assert section.integer("h", 0) == 12
    section.close()


@pytest.mark.parametrize(
    ("text", "said", "mend"),
    [
        ("n: 0021", "the octal number 17", "Write 21."),
        ("n: 089", "not even octal", "Write 89."),
        ("n: x", "must be a whole number", ""),
        ("n: [1]", "must be a single value", ""),
    ],
)
def test_numbers_that_are_none(text: str, said: str, mend: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        _load(f"\n{text}\n").integer("n", 0)
    assert str(caught.value).startswith("x.yaml:2: 'n'")
    assert mend in caught.value.mend


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [", "is not YAML: did not find expected node content"),
        (b"a: 1\n\tb: 2\n", "x.yaml:2: is not YAML"),
        (b"- a\n", "x.yaml:1: the file must be a mapping"),
        (b"a: 1\na: 2\n", "x.yaml:2: 'a' is given twice"),
        (b"\xff", "x.yaml: is not UTF-8 text"),
        (b"a: 1\n---\nb: 2\n", "is not YAML"),
    ],
)
def test_files_that_are_none(content: bytes, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        yamlfile.load(FILE, content)
    assert said in str(caught.value)


def test_tags_make_no_objects() -> None:
    assert _load("a: !!python/object/apply:os.system [x]\n").texts("a") == ("x",)


def test_an_empty_file_is_an_empty_mapping() -> None:
    assert _load("# nothing\n").keys() == ()


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        yamlfile.load(tmp_path / "none.yaml")


def test_nested_names_and_lines() -> None:
    inner = _load("a:\n  b:\n    c: 1\n").section("a")
    assert inner is not None
    deeper = inner.section("b")
    assert deeper is not None
    with pytest.raises(ConfigError, match=r"x\.yaml:3: unknown key 'a\.b\.c'"):
        deeper.close()


def test_nul_is_refused_wherever_it_stands() -> None:
    section = _load('a: "x\\0y"\nb: [x, "\\0"]\nc: {d: "\\0"}\n')
    with pytest.raises(ConfigError, match=r"x\.yaml:1: 'a' holds a NUL character"):
        section.text("a")
    with pytest.raises(ConfigError, match=r"x\.yaml:2: 'b' holds a NUL character"):
        section.texts("b")
    with pytest.raises(ConfigError, match=r"x\.yaml:3: 'c\.d' holds a NUL character"):
        dict(section.mapping("c").scalars())


def test_a_mapping_that_is_not_there_is_empty() -> None:
    missing = _load("a: 1").mapping("b")
    assert missing.text("c", "default") == "default"
    missing.close()
