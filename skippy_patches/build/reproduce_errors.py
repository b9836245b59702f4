"""What can go wrong between a build and its repetition: one class a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import BuildError, SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from skippy_patches.build.bytescause import LibraryDifference

TEXTS = 3  # that are shown of a section
LONGEST = 160  # characters that are shown of a text


class NoRoom(BuildError):
    """The second build would not fit on the disk."""

    def __init__(self, folder: Path, *, wanted: int, free: int) -> None:
        super().__init__(
            f"There is no room for a second build in {folder}.",
            why=f"It takes about {wanted >> 20} MB, and {free >> 20} MB are free.",
            mend="Free some space on that file system.",
        )


class QueueMoved(BuildError):
    """The queue was changed while it was built."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(
            f"The first build is of {first}, and the queue now gives {second}.",
            why="A second build of something else shows nothing.",
            mend="Run the command again.",
        )


class NotReproducible(SkippyError):
    """A library has other bytes when it is built in another folder."""

    exit_status = 1

    def __init__(
        self, differences: Sequence[LibraryDifference], *, count: int, kept: tuple[Path, Path]
    ) -> None:
        """count: of all libraries. kept: both build folders."""
        which = "library is not" if len(differences) == 1 else "libraries are not"
        cures = dict.fromkeys(cause.cure for each in differences for cause in each.causes)
        super().__init__(
            f"{len(differences)} of {count} {which} the same when built elsewhere.",
            why="\n".join(line for each in differences for line in _told(each)),
            mend="\n".join((*cures, f"Both builds are kept: {kept[0]} and {kept[1]}")),
        )


def _told(difference: LibraryDifference) -> Iterator[str]:
    """Which library, why, where, and out of which object."""
    causes = "; ".join(cause.what for cause in difference.causes)
    yield f"{difference.name}: {causes}"
    telling = [section for section in difference.sections if section.has_texts]
    telling = [section for section in telling if not section.is_code] or telling
    for section in telling:
        yield f"  {section.name or 'the file'}, from byte {section.offset:#x} on"
        for where, texts in (("here", section.first), ("there", section.second)):
            if texts:
                shown = [f"'{_shortened(text)}'" for text in texts[:TEXTS]]
                more = f" and {len(texts) - TEXTS} more" if len(texts) > TEXTS else ""
                yield f"    only {where}: {', '.join(shown)}{more}"
    if rest := [section for section in difference.sections if section not in telling]:
        places = ", ".join(f"{section.name or 'the file'} from byte {section.offset:#x}" for section in rest)
        yield f"  {'also' if telling else 'in'} {places}"
    if difference.objects:
        left = len(difference.objects) - TEXTS
        names = ", ".join(difference.objects[:TEXTS]) + (f" and {left} more" if left > 0 else "")
        yield f"  objects that differ: {names}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
