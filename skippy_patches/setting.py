"""One value of the configuration: a variable's, or else the one in the file, and errors that say which."""

from __future__ import annotations

from skippy_patches.errors import SkippyError, UsageError
from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from skippy_patches import yamlfile

VARIABLE_PREFIX = "SKIPPY_PATCHES_"


class Setting(NamedTuple):
    """A value that a variable may set; else it stands in the file, at `key` of `section`."""

    text: str
    variable: str
    section: yamlfile.Section
    key: str

    def error(self, what: str, *, why: str = "", mend: str = "") -> SkippyError:
        """An error that points at where the value was set."""
        if self.variable:
            return UsageError(f"The variable {self.variable} {what}.", why=why, mend=mend)
        return self.section.error(self.key, what, why=why, mend=mend)


def either(env: Mapping[str, str], name: str, section: yamlfile.Section, key: str, default: str) -> Setting:
    """The variable SKIPPY_PATCHES_<name> when it is set and not empty, else what the file says."""
    configured = section.text(key, default)
    variable = VARIABLE_PREFIX + name
    text = env.get(variable)
    return Setting(text, variable, section, key) if text else Setting(configured, "", section, key)
