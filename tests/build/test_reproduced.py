"""What a second build leaves for the record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from skippy_patches.build import reproduced, stored
from skippy_patches.build.artifacts import Artifact
from skippy_patches.build.errors import StoredFileBroken
from skippy_patches.build.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path


def _artifact(folder: Path, sha256: str) -> Artifact:
    return Artifact(name="libllama.so", path=folder / "libllama.so", sha256=sha256, size=1)


def _done(*artifacts: Artifact, differences: tuple[str, ...] = ()) -> Any:
    first = SimpleNamespace(method="mount", artifacts=artifacts)
    return cast("Any", SimpleNamespace(first=first, differences=differences))


def test_it_is_of_these_libraries_alone(tmp_path: Path) -> None:
    layout = Layout(folder=tmp_path)
    assert reproduced.load(layout) is None
    reproduced.save(_done(_artifact(tmp_path, "a" * 64)), layout)
    found = reproduced.load(layout)
    assert found is not None
    assert (found.method, found.checked[-1]) == ("mount", "Z")
    assert found.is_of([_artifact(tmp_path, "a" * 64)])
    assert not found.is_of([_artifact(tmp_path, "b" * 64)])
    assert not found.is_of([])


def test_a_difference_takes_it_back(tmp_path: Path) -> None:
    layout = Layout(folder=tmp_path)
    for _ in range(2):
        reproduced.save(_done(_artifact(tmp_path, "a" * 64)), layout)
        reproduced.save(_done(differences=("libllama.so",)), layout)
        assert reproduced.load(layout) is None


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    layout = Layout(folder=tmp_path)
    stored.write(layout.reproduced, {"checked": "", "libraries": []})
    with pytest.raises(StoredFileBroken, match=r"reproduced\.json"):
        reproduced.load(layout)
