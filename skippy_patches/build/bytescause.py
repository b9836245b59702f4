"""Why two builds of a library differ, as far as sections, texts and objects tell, and what to do about it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skippy_patches.build.bytesdiff import Section

PATH = "path"
RUN_PATH = "run path"
DATE = "date"
BUILD_ID = "build id"
UNSTABLE = "unstable text"
ORDER = "order"
MISSING = "missing"
UNKNOWN = "unknown"

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATES = re.compile(
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:{_MONTHS}) [ \d]\d \d\d:\d\d:\d\d \d{{4}}"  # __TIMESTAMP__
    rf"|(?:{_MONTHS}) [ \d]\d \d{{4}}"  # __DATE__
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?"
    r"|\d\d:\d\d:\d\d"  # __TIME__
    r"|(?<!\d)1[6-9]\d{8}(?!\d)"  # seconds since 1970
)
_VARYING = re.compile(r"[0-9A-Fa-f]{4,}|[0-9]+")
_ID_SECTION = ".note.gnu.build-id"
_DYNAMIC_NAMES = ".dynstr"
_DEBUG = ".debug"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder that was another one in the second build. name: in words."""

    name: str
    first: Path
    second: Path

    def is_in(self, text: str) -> bool:
        """Whether `text` has the path of one of them, whole: /tmp is not in /tmpfs. The root is no cause."""
        paths = [path for path in (self.first, self.second) if path != Path(path.anchor)]
        return any(re.search(rf"{re.escape(str(path))}(?![\w.-])", text) for path in paths)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cause:
    """kind: one of the words above. what: the end of the sentence "they differ by". cure: what to do."""

    kind: str
    what: str
    cure: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class LibraryDifference:
    """A library that the two builds do not share.

    first, second: its file, None where it was not made. sections: where the files differ. objects: the object
    files that differ and may be in it, relative to cmake's folder. causes: the likely ones.
    """

    name: str
    first: Path | None
    second: Path | None
    sections: tuple[Section, ...] = ()
    objects: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As docs/json.md has it."""
        return {
            "name": self.name,
            "first": str(self.first) if self.first else None,
            "second": str(self.second) if self.second else None,
            "sections": [dataclasses.asdict(section) for section in self.sections],
            "objects": list(self.objects),
            "causes": [dataclasses.asdict(cause) for cause in self.causes],
        }


def find(sections: Sequence[Section], objects: Sequence[str], folders: Sequence[Folder]) -> tuple[Cause, ...]:
    """The likely causes, the surest first. objects: those that differ and may be in the library.

    Texts that one cause explains are not looked at for the next.
    """
    pool = _Pool(sections)
    found = [
        *_paths(pool, folders),
        *pool.explained(_dates, _DATE),
        *_build_id(sections),
        *pool.explained(_varying, _UNSTABLE),
    ]
    if not found and pool.is_empty:
        found.append(_UNKNOWN if objects else _ORDER)
    if not found or (not pool.is_empty and all(cause.kind == BUILD_ID for cause in found)):
        found.append(_UNKNOWN)
    return tuple(dict.fromkeys(found))


ABSENT = Cause(
    kind=MISSING,
    what="only one of the builds made it",
    cure="CMake decided by something that is not in the recipe: compare the two CMakeCache.txt.",
)
_DATE = Cause(
    kind=DATE,
    what="a date or time of the build",
    cure="Take __DATE__, __TIME__ or CMake's string(TIMESTAMP) out, or use the commit's date. With "
    "-Wdate-time gcc and clang find the first two.",
)
_BUILD_ID = Cause(
    kind=BUILD_ID,
    what="a build id that is not made of the content",
    cure="Link with -Wl,--build-id=sha1 or --build-id=none instead of a uuid or a number.",
)
_UNSTABLE = Cause(
    kind=UNSTABLE,
    what="a random number, a counter or the name of a temporary file",
    cure="Look for -frandom-seed, string(RANDOM), mktemp and their kind in what the queue adds; a seed "
    "made of the file's name is the same everywhere.",
)
_ORDER = Cause(
    kind=ORDER,
    what="the order, or the way, in which the same objects are linked",
    cure="Name the sources one by one or sort the list: find and os.listdir follow the folder's order.",
)
_UNKNOWN = Cause(
    kind=UNKNOWN,
    what="something else",
    cure="Look at both files with diffoscope (PyPI, Debian).",
)


class _Pool:
    """Texts that are not explained yet, those of code only when there are no others."""

    def __init__(self, sections: Sequence[Section]) -> None:
        telling = [each for each in sections if each.has_texts and each.name != _ID_SECTION]
        self.sections = [each for each in telling if not each.is_code] or telling
        self.first = {text for each in self.sections for text in each.first}
        self.second = {text for each in self.sections for text in each.second}

    @property
    def is_empty(self) -> bool:
        return not self.first and not self.second

    def take(self, wanted: Callable[[str], bool]) -> set[str]:
        """Take out the texts that are `wanted`."""
        taken = {text for text in self.first | self.second if wanted(text)}
        self.first -= taken
        self.second -= taken
        return taken

    def explained(self, normal: Callable[[str], str], cause: Cause) -> list[Cause]:
        """The cause, if there are texts that `normal` makes one, in the first and the second file."""
        shared = {normal(text) for text in self.first} & {normal(text) for text in self.second}
        return [cause] if self.take(lambda text: normal(text) in shared) else []


def _dates(text: str) -> str:
    return _DATES.sub("\0", text)


def _varying(text: str) -> str:
    return _VARYING.sub("\0", text)


def _build_id(sections: Sequence[Section]) -> list[Cause]:
    """Only when nothing else differs: an id that is made of the content follows whatever does."""
    return [_BUILD_ID] if [each.name for each in sections] == [_ID_SECTION] else []


def _paths(pool: _Pool, folders: Sequence[Folder]) -> list[Cause]:
    causes: list[Cause] = []
    for section in pool.sections:
        for folder in folders:
            texts = [
                text
                for text in (*section.first, *section.second)
                if text in pool.first | pool.second and folder.is_in(text)
            ]
            if texts:
                causes.append(_path(section, folder, texts))
                pool.take(texts.__contains__)
    return causes


def _path(section: Section, folder: Folder, texts: Sequence[str]) -> Cause:
    if section.name == _DYNAMIC_NAMES:
        return Cause(
            kind=RUN_PATH,
            what=f"a run path with {folder.name}",
            cure="Leave CMAKE_BUILD_RPATH_USE_ORIGIN on, and give run paths that begin with $ORIGIN.",
        )
    if section.name.startswith(_DEBUG):
        where = "debug information"
    elif any(Path(text).is_file() for text in texts):
        where = "__FILE__ or the like"
    else:
        return Cause(
            kind=PATH,
            what=f"the path of {folder.name}, which CMake wrote into a source or a definition",
            cure="Look for CMAKE_SOURCE_DIR, CMAKE_CURRENT_BINARY_DIR and their kind in configure_file() and "
            "compile definitions; a relative path is the same everywhere.",
        )
    return Cause(
        kind=PATH,
        what=f"the path of {folder.name} in {where}",
        cure="Something takes -ffile-prefix-map away from its compiler or beats it: set(CMAKE_CXX_FLAGS) "
        "without the old value, -fmacro-prefix-map, or a file that is compiled by a command of its own.",
    )
