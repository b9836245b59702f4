"""What skippy-patches.yaml says about numbers: bands kept for a purpose, and numbers that stay."""

from __future__ import annotations

import itertools

from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skippy_patches.yamlfile import Section


class Band(NamedTuple):
    """A range of numbers kept for one purpose: `first` to `last`, both included."""

    name: str
    first: int
    last: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.first <= number <= self.last


class Pinned(NamedTuple):
    """A patch whose number stays: by number, and by file name where that is given (else empty).

    name: with the lane in front where two lanes have a file of that name.
    """

    number: int
    name: str

    def names(self, path: str) -> bool:
        """Whether the patch at `path`, relative to the project, is meant, provided that its number is."""
        return self.name in ("", path, path.rpartition("/")[2])


def bands(section: Section) -> tuple[Band, ...]:
    """The bands that a mapping names, `NAME: FIRST-LAST`, lowest first. Raises ConfigError."""
    found = sorted(
        (_band(section, name, text) for name, text in section.scalars()), key=lambda band: band.first
    )
    for before, after in itertools.pairwise(found):
        if after.first <= before.last:
            what = f"overlaps with '{before.name}' ({before.first}-{before.last})"
            raise section.error(after.name, what, mend="A number lies in one band at most.")
    return tuple(found)


def _band(section: Section, name: str, text: str) -> Band:
    ends = [end.strip() for end in text.split("-")]
    if len(ends) == 2 and all(end.isascii() and end.isdecimal() and len(end) <= 4 for end in ends):
        first, last = int(ends[0]), int(ends[1])
        if 1 <= first <= last:
            return Band(name, first, last)
    what = f"must be two numbers of at most four digits, the lower one first, not '{text}'"
    raise section.error(name, what, mend=f"For example: bands: {{{name}: 100-199}}")


def pinned(section: Section, text: str) -> Pinned:
    """An entry of `pinned`: a number, the file name of a patch, or LANE/NAME. Raises ConfigError."""
    name = text.rpartition("/")[2]
    digits = name[:4]
    if name.endswith(".patch") and len(name) > len("0000-.patch") and digits.isdecimal() and name[4] == "-":
        return Pinned(int(digits), text.removeprefix("./"))
    if text.isascii() and text.isdecimal():
        return Pinned(section.decimal("pinned", text), "")
    raise section.error(
        "pinned",
        f"must hold numbers or names of patches, not '{text}'",
        mend="For example: pinned: [21, 0034-coalesce.patch]",
    )
