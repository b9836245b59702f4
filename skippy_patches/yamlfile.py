"""YAML files read strictly: every value knows its line, every mistake names it and suggests the mend.

PyYAML composes the nodes; values are then taken from the nodes' own text. So `ON` stays ON, a commit id
made of digits only stays text, and `0021`, which YAML 1.1 reads as the octal number 17, is an error
instead of a surprise.
"""

from __future__ import annotations

from skippy_patches.errors import ConfigError
from skippy_patches.lateyaml import yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL_TAG = "tag:yaml.org,2002:null"


def load(path: Path, content: bytes | None = None, shown: str = "") -> Section:
    """Read `path` (or `content`, its bytes) as one mapping. shown: its name in messages, if another.

    Raises ConfigError with file and line for unreadable files, syntax errors and repeated keys.
    """
    file = shown or path
    try:
        text = (path.read_bytes() if content is None else content).decode("utf-8")
        node = _Loader(text).get_single_node()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=file) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", file=file, mend="Save it as UTF-8.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line = mark.line + 1 if mark else None
        raise ConfigError(f"is not YAML: {problem}", file=file, line=line) from error
    return Section(file, _empty() if node is None else node, "")


def suggest(word: str, known: Iterable[str]) -> str:
    """'Did you mean ...?' or the list of known words."""
    import difflib  # noqa: PLC0415 - only an error needs it

    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(names)}."


class Section:
    """A mapping of the file. Take every key there may be, then `close` it: what is left is unknown."""

    def __init__(self, file: object, node: yaml.Node, name: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            where = f"'{name}'" if name else "the file"
            raise ConfigError(f"{where} must be a mapping of keys to values", file=file, line=_line(node))
        self.file = file
        self.line = _line(node)
        self._name = name
        self._nodes: dict[str, yaml.Node] = {}
        self._lines: dict[str, int] = {}
        self._taken: set[str] = set()
        for key, value in node.value:
            text = key.value if isinstance(key, yaml.ScalarNode) else ""
            if text in self._nodes:
                raise ConfigError(f"'{text}' is given twice", file=file, line=_line(key))
            self._nodes[text] = value
            self._lines[text] = _line(key)

    def __contains__(self, key: str) -> bool:
        node = self._nodes.get(key)
        return node is not None and node.tag != _NULL_TAG

    def keys(self) -> tuple[str, ...]:
        """The keys in the file's order."""
        return tuple(self._nodes)

    def line_of(self, key: str) -> int:
        """The line of `key`, or of the section when the key is not there."""
        return self._lines.get(key, self.line)

    def error(self, key: str, what: str, *, why: str = "", mend: str = "") -> ConfigError:
        """An error that points at `key`."""
        text = f"'{self._path(key)}' {what}"
        return ConfigError(text, file=self.file, line=self.line_of(key), why=why, mend=mend)

    def missing(self, key: str, mend: str = "") -> ConfigError:
        """An error that says that `key` is required; it finds the misspelt one."""
        import difflib  # noqa: PLC0415 - only an error needs it

        for near in difflib.get_close_matches(key, self._nodes, n=1):
            mend = f"Line {self._lines[near]} has '{near}'. Did you mean '{key}'?"
        return self.error(key, "is missing", mend=mend)

    def text(self, key: str, default: str | None = None) -> str:
        """The scalar as it is written. Without a default the key is required."""
        node = self._take(key)
        if node is None:
            if default is None:
                raise self.missing(key)
            return default
        return self._scalar(key, node)

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of scalars; a single scalar is a list of one."""
        node = self._take(key)
        if node is None:
            return default
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._scalar(key, item) for item in node.value)
        return (self._scalar(key, node),)

    def integer(self, key: str, default: int) -> int:
        """A decimal number."""
        node = self._take(key)
        if node is None:
            return default
        return self.decimal(key, self._scalar(key, node))

    def decimal(self, key: str, text: str) -> int:
        """The number that `text`, a scalar at `key`, is the decimal spelling of."""
        digits = text.removeprefix("-")
        if digits.isdecimal() and digits.isascii():
            if len(digits) > 1 and digits.startswith("0"):
                raise self._octal(key, text)
            return int(text)
        raise self.error(key, f"must be a whole number, not '{text}'")

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """One of `choices`."""
        text = self.text(key, default)
        if text not in choices:
            what = f"must be {' or '.join(choices)}, not '{text}'"
            raise self.error(key, what, mend=suggest(text, choices))
        return text

    def section(self, key: str) -> Section | None:
        """A mapping below `key`, or None."""
        node = self._take(key)
        return None if node is None else Section(self.file, node, self._path(key))

    def mapping(self, key: str) -> Section:
        """A mapping below `key`, empty when there is none."""
        return self.section(key) or Section(self.file, _empty(), self._path(key))

    def sections(self, key: str) -> tuple[Section, ...]:
        """A list of mappings below `key`; empty when the key is not there."""
        node = self._take(key)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(key, "must be a list")
        return tuple(Section(self.file, item, self._path(key)) for item in node.value)

    def scalars(self) -> Iterator[tuple[str, str]]:
        """Every key with its text, in order, for mappings whose keys are free (CMake variables)."""
        for key in self._nodes:
            yield key, self.text(key, "")

    def close(self) -> None:
        """Raise ConfigError for the first key that nobody asked for."""
        for key in self._nodes:
            if key not in self._taken:
                raise ConfigError(
                    f"unknown key '{self._path(key)}'",
                    file=self.file,
                    line=self._lines[key],
                    mend=suggest(key, self._taken),
                )

    def _take(self, key: str) -> yaml.Node | None:
        self._taken.add(key)
        return self._nodes[key] if key in self else None

    def _scalar(self, key: str, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(key, "must be a single value")
        if "\0" in node.value:
            raise self.error(
                key, "holds a NUL character", why="Neither a path, nor a name, nor a variable can hold one."
            )
        return str(node.value)

    def _octal(self, key: str, text: str) -> ConfigError:
        return self.error(
            key,
            f"is written {text}, which YAML 1.1 reads as the octal number {_octal_value(text)}",
            why="A leading zero makes a number octal.",
            mend=f"Write {int(text)}.",
        )

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key


def _empty() -> yaml.Node:
    return yaml.MappingNode("tag:yaml.org,2002:map", [])


def _octal_value(text: str) -> str:
    try:
        return str(int(text, 8))
    except ValueError:
        return "(not even octal)"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1 if node.start_mark else 1
