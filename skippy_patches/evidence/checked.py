"""What became of one thing that evidence says, when it was computed again."""

from __future__ import annotations

import dataclasses

SAME = "same"
DIFFERS = "differs"
UNKNOWN = "unknown"  # it cannot be computed here


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checked:
    """One row of `verify`.

    part: record, pin, queue, patched, recipe, flags, toolchain, platform, libraries, reproducible, tests or
    required_tests. name: of the thing in it. outcome: one of the words above. recorded, found: as they are
    shown, ids in full; found is empty where nothing was. why: of a difference what it means, of what is
    unknown what keeps it so.
    """

    part: str
    name: str
    outcome: str
    recorded: str
    found: str = ""
    why: str = ""


def compared(part: str, name: str, recorded: str, found: str, why: str = "") -> Checked:
    """Same or differs; `why` is told of a difference alone."""
    is_same = recorded == found
    outcome = SAME if is_same else DIFFERS
    return Checked(
        part=part, name=name, outcome=outcome, recorded=recorded, found=found, why="" if is_same else why
    )


def unknown(part: str, name: str, recorded: str, why: str) -> Checked:
    """It cannot be computed here, because of `why`."""
    return Checked(part=part, name=name, outcome=UNKNOWN, recorded=recorded, why=why)
