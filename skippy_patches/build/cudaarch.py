"""For which GPUs nvcc compiles: always named ones, each known to the toolkit.

What --cuda-arch names, else the GPUs of this machine, else the recipe's list. An entry is as CMake has it
(CUDA_ARCHITECTURES): a compute capability times ten, perhaps with `a` or `f`, and `-real` (machine code
alone) or `-virtual` (PTX alone, compiled by the driver when a program starts).
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from skippy_patches.build.cudaerrors import BadArchitecture, NoArchitecture, NotAnArchitecture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.build.cuda import CudaToolkit

VARIABLE = "CMAKE_CUDA_ARCHITECTURES"
OPTION = "--cuda-arch"
NATIVE = "native"
_ENTRY = re.compile(r"(\d{2,3})[af]?(?:-real|-virtual)?")
_SEPARATORS = re.compile(r"[,;\s]+")
_SPELLINGS = re.compile(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)(-real|-virtual)?")  # sm_86, compute_86, 8.6
_NEAREST = 2
_EXAMPLE = "Write a number: --cuda-arch 86,90"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architectures:
    """entries: as CMake has them. source: who named them, in words."""

    entries: tuple[str, ...]
    source: str

    @property
    def value(self) -> str:
        """The CMake variable's value."""
        return ";".join(self.entries)


def choose(asked: str, recipe: str, listed: str, toolkit: CudaToolkit) -> Architectures:
    """The architectures of a build. asked: the option's text, or "". listed: the list of recipe `recipe`.

    Raises BadArchitecture and NoArchitecture (2).
    """
    if _words(asked) and _words(asked) != (NATIVE,):
        chosen = Architectures(entries=_words(asked), source=OPTION)
    elif toolkit.gpus:
        chosen = Architectures(entries=tuple(map(str, toolkit.gpus)), source="the GPU of this machine")
    elif _words(listed) and not asked:
        chosen = Architectures(entries=_words(listed), source=f"recipe {recipe}")
    else:
        raise NoArchitecture(f"{OPTION} {NATIVE}" if asked else f"The recipe '{recipe}'", toolkit)
    _check(chosen, toolkit)
    return chosen


def check_form(asked: str) -> None:
    """Raise NotAnArchitecture (2) for what the option's text holds that no toolkit can know."""
    words = _words(asked)
    for word in words if words or not asked else (asked,):
        if words != (NATIVE,) and not _ENTRY.fullmatch(word):
            match = _SPELLINGS.fullmatch(word.lower())
            near = f"Did you mean '{_spelt(match)}'?" if match else _EXAMPLE
            raise NotAnArchitecture(word, near)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _SEPARATORS.split(text) if word))


def _check(chosen: Architectures, toolkit: CudaToolkit) -> None:
    known = toolkit.architectures
    rest = [entry for entry in chosen.entries if _is_known(entry, known)]
    for entry in chosen.entries:
        if not _is_known(entry, known):
            near = _near(entry, known)
            source = chosen.source[0].upper() + chosen.source[1:]
            raise BadArchitecture(entry, source, toolkit, near=near, rest=rest)


def _is_known(entry: str, known: Sequence[int]) -> bool:
    match = _ENTRY.fullmatch(entry)
    # A toolkit that does not tell its list (before CUDA 11) is believed to know the entry: nvcc will say.
    return match is not None and (not known or int(match[1]) in known)


def _near(entry: str, known: Sequence[int]) -> str:
    """What may have been meant: another spelling, else the nearest numbers."""
    match = _SPELLINGS.fullmatch(entry.lower())
    if match is None:
        return _EXAMPLE
    number = int(match[1] + match[2])
    if number in known:
        return f"Did you mean '{_spelt(match)}'?"
    nearest = sorted(sorted(known, key=lambda each: (abs(each - number), each))[:_NEAREST])
    return f"Did you mean {' or '.join(repr(str(each)) for each in nearest)}?"


def _spelt(match: re.Match[str]) -> str:
    """As CMake has it."""
    return f"{int(match[1] + match[2])}{match[3]}{match[4] or ''}"
