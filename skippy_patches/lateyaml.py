"""PyYAML, imported without compiling the patterns that only its Python loader uses.

At import PyYAML compiles some ten regular expressions; one, of all printable characters, takes more CPU
than starting Python does, and libyaml's loader uses none of them. While PyYAML is imported here, re.compile
only notes the pattern; the first use compiles it, so that nothing behaves differently, only later.
Import `yaml` from here, nowhere else.
"""

from __future__ import annotations

import re
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["yaml"]
_compile = re.compile


class _LatePattern:
    """Stands for a compiled pattern until somebody asks for one of its attributes."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self._arguments = (pattern, flags)

    @cached_property
    def _pattern(self) -> re.Pattern[Any]:
        return _compile(*self._arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)


re.compile = _LatePattern  # type: ignore[assignment]
try:
    import yaml
finally:
    re.compile = _compile
