"""skippy-patches.yaml -> Project: where everything is, and what it is pinned to.

Precedence: flags (given by the command line as `Overrides`), SKIPPY_PATCHES_* variables, the file,
defaults. The values are NamedTuples, not dataclasses: the pre-commit hook reads its configuration here,
and importing `dataclasses` alone costs as much CPU as starting Python does.
"""

from __future__ import annotations

import os
from pathlib import Path

from skippy_patches import yamlfile
from skippy_patches.errors import ConfigError, UsageError
from skippy_patches.lighttuple import NamedTuple
from skippy_patches.objectid import ObjectId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "skippy-patches.yaml"
STATE_FOLDER = ".skippy"
VARIABLE_PREFIX = "SKIPPY_PATCHES_"
SUBJECT_PREFIX_CHOICES = ("strip", "keep")
GAP_CHOICES = ("warn", "allow", "forbid")


class Identity(NamedTuple):
    """Name and mail address of the committer of every applied patch."""

    name: str
    email: str


class Mirror(NamedTuple):
    """A carrier of the pin, tried after the repository.

    kind: npm (`location` is NAME@VERSION and `path` the bundle inside the package), bundle (a file or an
    http(s) address) or directory (a git repository). sha256: of the bundle, where one is a file.
    """

    kind: str
    location: str
    path: str
    sha256: str


class Upstream(NamedTuple):
    """The pin as it is configured; `commit` alone identifies it, `tag` is for people."""

    repository: str
    tag: str
    commit: ObjectId
    commit_object: Path | None
    mirrors: tuple[Mirror, ...]


class Project(NamedTuple):
    """All that skippy-patches.yaml says. Every path is absolute.

    queue: the lanes, in the order in which they are applied. state: generated files of skippy-patches.
    subject_prefix: whether "[tag]" in a subject is stripped, as git am does, or kept. gaps: the policy
    for holes in the numbers.
    """

    root: Path
    file: Path
    upstream: Upstream
    committer: Identity
    queue: tuple[Path, ...]
    recipes: Path
    checkout: Path
    subject_prefix: str
    gaps: str

    @property
    def state(self) -> Path:
        """The folder of generated files, ignored by git."""
        return self.root / STATE_FOLDER


class Overrides(NamedTuple):
    """What the command line says about the project; None leaves a value to variables and file."""

    checkout: str | None = None


def find(start: Path) -> Path:
    """The nearest skippy-patches.yaml at or above `start`, not looking beyond the git root.

    Raises UsageError when there is none.
    """
    folder = start.absolute()
    while True:
        file = folder / FILE_NAME
        if file.is_file():
            return file
        if (folder / ".git").exists() or folder.parent == folder:
            raise UsageError(
                f"No {FILE_NAME} in {start.absolute()} or in any folder above it.",
                why=f"The search went up to {folder} and stopped there.",
                mend="Change to the project's folder, or name it: skippy-patches -C DIR ...",
            )
        folder = folder.parent


def load(
    file: Path,
    *,
    content: bytes | None = None,
    variables: Mapping[str, str] | None = None,
    overrides: Overrides = Overrides(),  # noqa: B008 - an immutable value
) -> Project:
    """Read `file` (or `content`, its bytes in the index). Raises ConfigError with file and line."""
    env = os.environ if variables is None else variables
    section = yamlfile.load(file, content)
    root = file.parent
    upstream = section.section("upstream")
    if upstream is None:
        raise section.missing("upstream", "Name the pin: repository, tag and commit of llama.cpp.")
    project = Project(
        root=root,
        file=file,
        upstream=_upstream(upstream, root, env),
        committer=_committer(section.section("committer"), env),
        queue=_queue(section, root),
        recipes=root / section.text("recipes", "recipes"),
        checkout=_checkout(section, root, env, overrides),
        subject_prefix=section.choice("subject_prefix", SUBJECT_PREFIX_CHOICES, SUBJECT_PREFIX_CHOICES[0]),
        gaps=section.choice("gaps", GAP_CHOICES, GAP_CHOICES[0]),
    )
    section.close()
    return project


def _upstream(section: yamlfile.Section, root: Path, env: Mapping[str, str]) -> Upstream:
    text = section.text("commit")
    try:
        commit = ObjectId(text.lower())
    except ValueError:
        raise section.error(
            "commit",
            f"must be a full 40-digit commit SHA, not '{text}'",
            why="A short SHA, a tag or a branch can mean another commit tomorrow, or on another machine.",
            mend="Find it with: git ls-remote REPOSITORY 'refs/tags/TAG^{}' refs/tags/TAG",
        ) from None
    commit_object = section.text("commit_object", "")
    upstream = Upstream(
        repository=_either(env, "REPOSITORY", section.text("repository", "")),
        tag=section.text("tag", ""),
        commit=commit,
        commit_object=root / commit_object if commit_object else None,
        mirrors=tuple(_mirror(entry, root) for entry in section.sections("mirrors")),
    )
    section.close()
    if not upstream.repository and not upstream.mirrors:
        raise section.error(
            "repository", "is missing, and there are no mirrors: the pin can come from nowhere"
        )
    return upstream


def _mirror(section: yamlfile.Section, root: Path) -> Mirror:
    kinds = [kind for kind in ("npm", "bundle", "directory") if kind in section]
    if len(kinds) != 1:
        raise ConfigError(
            "a mirror needs exactly one of npm, bundle and directory",
            file=section.file,
            line=section.line,
            mend="For example: - bundle: /path/to/llama.bundle",
        )
    kind = kinds[0]
    location = section.text(kind)
    sha256 = section.text("sha256", "").lower()
    if sha256 and (len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef")):
        raise section.error("sha256", "must be 64 hexadecimal digits", mend="Compute it with: sha256sum FILE")
    path = section.text("path", "")
    if kind == "npm" and not path:
        raise section.error("path", "is missing: name the bundle inside the npm package")
    section.close()
    if kind != "npm" and "://" not in location:
        location = str(root / Path(location).expanduser())
    return Mirror(kind=kind, location=location, path=path, sha256=sha256)


def _committer(section: yamlfile.Section | None, env: Mapping[str, str]) -> Identity:
    name, email = "Skippy Patches", "skippy-patches@localhost"
    if section is not None:
        name, email = section.text("name", name), section.text("email", email)
        section.close()
    return Identity(
        name=_either(env, "COMMITTER_NAME", name),
        email=_either(env, "COMMITTER_EMAIL", email),
    )


def _queue(section: yamlfile.Section, root: Path) -> tuple[Path, ...]:
    lanes = section.texts("queue", ("patches",))
    if not lanes:
        raise section.error("queue", "names no folder")
    for lane in lanes:
        if lanes.count(lane) > 1:
            raise section.error("queue", f"names '{lane}' twice")
    return tuple(root / lane for lane in lanes)


def _checkout(section: yamlfile.Section, root: Path, env: Mapping[str, str], overrides: Overrides) -> Path:
    configured = section.text("checkout", f"{STATE_FOLDER}/llama.cpp")
    text = overrides.checkout or _either(env, "CHECKOUT", configured)
    checkout = root / text
    if checkout == root or checkout in root.parents:
        raise section.error("checkout", f"is '{text}', a folder that holds the project itself")
    return checkout


def _either(env: Mapping[str, str], name: str, configured: str) -> str:
    """The variable SKIPPY_PATCHES_<name> when it is set and not empty, else the file's value."""
    return env.get(VARIABLE_PREFIX + name) or configured
