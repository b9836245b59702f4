"""What `cache:` of skippy-patches.yaml says: the compiler launcher, and what a team shares through it.

A secret stands nowhere: the file names the environment variable that holds it. No message here repeats a
word that could be a secret in the wrong place.
"""

from __future__ import annotations

from skippy_patches.lighttuple import NamedTuple
from skippy_patches.setting import Setting, either
from skippy_patches.yamlfile import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skippy_patches.yamlfile import Section

AUTO = "auto"
NONE = "none"
CCACHE = "ccache"
SCCACHE = "sccache"
LAUNCHERS = (AUTO, NONE, CCACHE, SCCACHE)
# Scheme of a remote -> what speaks it. ccache has TLS only where a helper program was installed for it.
SPEAKERS = {
    "redis": (CCACHE, SCCACHE),
    "rediss": (SCCACHE,),
    "http": (CCACHE, SCCACHE),
    "https": (SCCACHE,),
}
PORTS = {"redis": 6379, "rediss": 6379, "http": 80, "https": 443}
_REMOTE_EXAMPLE = "redis://cache.example.org:6379"
_SCHEDULER_EXAMPLE = "https://scheduler.example.org"
# No query, no fragment, and none of the characters with which ccache begins attributes.
_FORM = (
    r"(?P<scheme>[a-z]+)://(?:(?P<user>[A-Za-z0-9._~-]+)@)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>/[A-Za-z0-9._~/-]*)?"
)


class Address(NamedTuple):
    """A server. host: IPv6 in brackets. path: empty, or with a slash at its beginning and none at its end."""

    scheme: str
    user: str
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Host and port, for people."""
        return f"{self.host}:{self.port}"


class CompilerCache(NamedTuple):
    """The section, or what it is when there is none.

    launcher: one of LAUNCHERS. remote: where objects are shared; None: nowhere. secret_variable: the name of
    the environment variable that holds its password or token. read_only: take from it, give it nothing.
    scheduler: of sccache-dist; None: every file is compiled here. scheduler_secret_variable: as above.
    """

    launcher: str
    remote: Address | None
    secret_variable: str
    read_only: bool
    scheduler: Address | None
    scheduler_secret_variable: str


NOT_CONFIGURED = CompilerCache(AUTO, None, "", False, None, "")


def load(section: Section, env: Mapping[str, str]) -> CompilerCache:
    """Read the section; SKIPPY_PATCHES_CACHE_* beat it. Raises ConfigError and UsageError."""
    launcher = section.choice("launcher", LAUNCHERS, AUTO)
    setting = either(env, "CACHE_REMOTE", section, "remote", "")
    remote = _address(setting, tuple(SPEAKERS), _REMOTE_EXAMPLE)
    secret = _variable(either(env, "CACHE_SECRET_VARIABLE", section, "secret_variable", ""))
    read_only = _is_true(either(env, "CACHE_READ_ONLY", section, "read_only", "false"))
    below = section.mapping("distribute")
    place = either(env, "CACHE_SCHEDULER", below, "scheduler", "")
    scheduler = _address(place, ("http", "https"), _SCHEDULER_EXAMPLE)
    token = _variable(either(env, "CACHE_SCHEDULER_SECRET_VARIABLE", below, "secret_variable", ""))
    below.close()
    section.close()
    if "distribute" in section and not place.text:
        raise below.missing("scheduler", f"For example: scheduler: {_SCHEDULER_EXAMPLE}")
    if remote is not None:
        _check_speaker(launcher, remote, setting)
    if scheduler is not None and launcher in {CCACHE, NONE}:
        raise place.error(
            f"is given, and the launcher is {launcher}",
            why="Only sccache distributes compiles.",
            mend="Write: launcher: sccache",
        )
    return CompilerCache(launcher, remote, secret, read_only, scheduler, token)


def _check_speaker(launcher: str, remote: Address, setting: Setting) -> None:
    if launcher == NONE:
        raise setting.error(
            "is given, and the launcher is none", why="Nothing would use it.", mend="Take one of them out."
        )
    if launcher != AUTO and launcher not in SPEAKERS[remote.scheme]:
        raise setting.error(
            f"is one of {remote.scheme}, which {launcher} does not speak",
            mend=f"Write: launcher: {SPEAKERS[remote.scheme][0]}",
        )


def _address(setting: Setting, schemes: Sequence[str], example: str) -> Address | None:
    """What the setting says; None for the word none, and for nothing at all."""
    import re  # noqa: PLC0415 - the hook has no use for it unless there is an address

    if setting.text in {"", NONE}:
        return None
    scheme, separator, rest = setting.text.partition("://")
    if not separator:
        raise setting.error("is no address", mend=f"For example: {example}")
    if scheme not in schemes:
        known = ", ".join(f"{name}://" for name in schemes)
        raise setting.error(f"does not begin with one of {known}", mend=suggest(scheme, schemes))
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if at and ":" in user:
        raise setting.error(
            "holds a password",
            why="It would be committed, and seen by everybody.",
            mend="Take it out, and name the variable that holds it: secret_variable: TEAM_CACHE_SECRET",
        )
    match = re.fullmatch(_FORM, setting.text)
    if match is None:
        raise setting.error("is not SCHEME://[USER@]HOST[:PORT][/PATH]", mend=f"For example: {example}")
    port = int(match["port"] or PORTS[scheme])
    if not 0 < port < 1 << 16:
        raise setting.error(f"has the port {port}, and there are 1 to 65535")
    path = (match["path"] or "").rstrip("/")
    if scheme.startswith("redis") and path and not path[1:].isdecimal():
        raise setting.error("names a database that is no number", mend=f"For example: {example}/1")
    return Address(scheme, match["user"] or "", match["host"], port, path)


def _variable(setting: Setting) -> str:
    """A name in capitals, so that a secret in its place is hardly taken for one, and never shown."""
    text = setting.text
    if text and not (text.isascii() and text.replace("_", "").isalnum() and text == text.upper()):
        what = "is not the name of an environment variable in capitals, digits and _"
        why = "The secret itself must not stand here: the file is committed."
        raise setting.error(what, why=why, mend="For example: TEAM_CACHE_SECRET")
    if text[:1].isdecimal():
        raise setting.error("begins with a digit, as no variable does", mend="For example: TEAM_CACHE_SECRET")
    return text


def _is_true(setting: Setting) -> bool:
    if setting.text not in {"true", "false"}:
        raise setting.error(f"must be true or false, not '{setting.text}'")
    return setting.text == "true"
