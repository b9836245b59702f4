from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skippy_patches.build import report, result, stored
from skippy_patches.build.errors import NotBuilt, StoredFileBroken
from skippy_patches.build.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "inner" / "x.json"
    stored.write(file, {"a": "ä"})

    def crash(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        stored.write(file, {"a": "b"})

    assert stored.read(file, "") == {"schema_version": 1, "a": "ä"}
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "Expecting"), ("[]", "not an object"), ('{"schema_version": 9}', "schema_version is 9")],
)
def test_files_of_another_origin(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)

    with pytest.raises(StoredFileBroken, match=says) as caught:
        stored.read(file, "Do it again.")

    assert caught.value.mend == "Do it again."


def test_nothing_built_and_nothing_tested(tmp_path: Path) -> None:
    layout = Layout.of(tmp_path, "cpu")

    assert report.load(layout.tests) is None
    with pytest.raises(NotBuilt, match="recipe 'cpu' has not been built") as caught:
        result.load(layout)
    assert caught.value.mend == "Build it: skippy-patches build --recipe cpu"


def test_parts_that_are_missing(tmp_path: Path) -> None:
    layout = Layout.of(tmp_path, "cpu")
    for file in (layout.built, layout.tests):
        stored.write(file, {"recipe": "cpu"})

    with pytest.raises(StoredFileBroken, match="KeyError"):
        result.load(layout)
    with pytest.raises(StoredFileBroken, match="KeyError"):
        report.load(layout.tests)
