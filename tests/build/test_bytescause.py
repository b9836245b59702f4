from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches.build import bytescause
from skippy_patches.build.bytescause import Folder
from skippy_patches.build.bytesdiff import Section

FOLDERS = (Folder(name="the checkout", first=Path("/a/src"), second=Path("/b/other/src")),)
OBJECTS = ("llama.dir/llama.cpp.o",)


def kinds(*sections: Section, objects: tuple[str, ...] = OBJECTS) -> list[str]:
    return [cause.kind for cause in bytescause.find(sections, objects, FOLDERS)]


def differing(first: str, second: str, name: str = ".rodata") -> Section:
    return Section(name=name, offset=0, first=(first,), second=(second,))


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("/a/src/llama.cpp", "/b/other/src/llama.cpp", bytescause.PATH),
        ("built Jan  5 2026", "built Feb 15 2026", bytescause.DATE),
        ("at 10:11:12", "at 10:11:40", bytescause.DATE),
        ("2026-01-05T10:11:12Z", "2026-01-06T10:11:12Z", bytescause.DATE),
        ("epoch 1767600000", "epoch 1767600001", bytescause.DATE),
        ("tmp.8f3a12bc", "tmp.77120d4e", bytescause.UNSTABLE),
        ("alice", "bob of another host", bytescause.UNKNOWN),
    ],
)
def test_a_text_tells_the_cause(first: str, second: str, kind: str) -> None:
    assert kinds(differing(first, second)) == [kind]


def test_a_run_path_has_a_cure_of_its_own() -> None:
    (cause,) = bytescause.find(
        [differing("/a/src/lib", "/b/other/src/lib", name=".dynstr")], OBJECTS, FOLDERS
    )
    assert cause.kind == bytescause.RUN_PATH
    assert "CMAKE_BUILD_RPATH_USE_ORIGIN" in cause.cure


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("/tmp", "/tmpfs/8f3a12bc"),
        ("/a/src", "/a/src-8f3a12bc"),
        ("/", "/somewhere/8f3a12bc"),  # the home of a user whom nobody has told the container of
    ],
)
def test_a_folder_is_its_whole_name_and_the_root_is_no_sign(folder: str, text: str) -> None:
    folders = [Folder(name="a folder", first=Path(folder), second=Path("/b/second"))]
    (cause,) = bytescause.find([differing(text, text.replace("8f3a", "7712"))], OBJECTS, folders)
    assert cause.kind == bytescause.UNSTABLE


def test_debug_information_is_said() -> None:
    (cause,) = bytescause.find([differing("/a/src", "/b/other/src", name=".debug_str")], OBJECTS, FOLDERS)
    assert cause.what == "the path of the checkout in debug information"
    assert "-ffile-prefix-map" in cause.cure


def test_a_build_id_alone_and_one_that_follows_the_content() -> None:
    identity = Section(name=".note.gnu.build-id", offset=0)
    assert kinds(identity) == [bytescause.BUILD_ID]
    assert kinds(differing("at 10:11:12", "at 10:11:40"), identity) == [bytescause.DATE]


def test_the_same_objects_in_another_order() -> None:
    code = Section(name=".text", offset=0, is_code=True)
    assert kinds(code, objects=()) == [bytescause.ORDER]
    assert kinds(code) == [bytescause.UNKNOWN]


def test_two_causes_are_both_told() -> None:
    section = Section(
        name=".rodata", offset=0, first=("/a/src/x", "10:11:12"), second=("/b/other/src/x", "10:11:13")
    )
    assert kinds(section) == [bytescause.PATH, bytescause.DATE]
