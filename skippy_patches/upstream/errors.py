"""What can go wrong between the pin and its carriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.upstream.pin import Pin


class SourceFailed(Exception):
    """One source cannot serve; the next is tried. The text is the reason."""


class NoSource(SkippyError):
    """Every source failed."""

    exit_status = 2

    def __init__(self, pin: Pin, failures: Sequence[tuple[str, str]]) -> None:
        listed = "\n".join(f"- {name}: {_indented(reason)}" for name, reason in failures)
        super().__init__(
            f"No source could deliver the pin {pin.tag or ''} ({pin.commit}).",
            why=listed,
            mend=(
                "Mend one of them, or add a mirror to skippy-patches.yaml; for example a bundle made where "
                "the commit is at hand: git bundle create llama.bundle TAG"
            ),
        )


def _indented(reason: str) -> str:
    return "\n    ".join(reason.strip().splitlines())
