"""skippy-patches.yaml -> Project: where everything is, and what it is pinned to.

Precedence: SKIPPY_PATCHES_* variables, the file, defaults. A relative path counts from the project's
folder, wherever it is written, so that the same words mean the same place in every folder.

The values are NamedTuples, not dataclasses: the pre-commit hook reads its configuration here, and
importing `dataclasses` alone costs as much CPU as starting Python does.
"""

from __future__ import annotations

import os
from pathlib import Path

from skippy_patches import compilercache, numbers, yamlfile
from skippy_patches.errors import ConfigError, UsageError
from skippy_patches.lighttuple import NamedTuple
from skippy_patches.objectid import ObjectId
from skippy_patches.setting import Setting, either

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILE_NAME = "skippy-patches.yaml"
STATE_FOLDER = ".skippy"
SUBJECT_PREFIX_CHOICES = ("strip", "keep")
GAP_CHOICES = ("warn", "allow", "forbid")
# What git cuts from both ends of a name or an address, crud() of its ident.c: the dot only in versions
# before its commit 1c04cb0744 of August 2023, so that one name would give two commits.
_CUT = " .,:;<>\"\\'"
_SHOWN = 60  # of a file that should hold a SHA and does not


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
    """The pin as it is configured; `commit` alone identifies it, `tag` is for people.

    commit_file: the file that `commit` was read from, when it does not stand in skippy-patches.yaml itself.
    """

    repository: str
    tag: str
    commit: ObjectId
    commit_file: Path | None
    commit_object: Path | None
    mirrors: tuple[Mirror, ...]


class Project(NamedTuple):
    """All that skippy-patches.yaml says. Every path is absolute.

    queue: the lanes, in the order in which they are applied. state: generated files of skippy-patches.
    subject_prefix: whether "[tag]" in a subject is stripped, as git am does, or kept. gaps: the policy
    for holes in the numbers. bands: disjoint, by number. pinned: numbers that renumber leaves alone.
    require: names of the trailers and DEP-3 fields that each patch must have. cache: the compiler launcher,
    and what is shared through it.
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
    bands: tuple[numbers.Band, ...]
    pinned: tuple[numbers.Pinned, ...]
    require: tuple[str, ...]
    cache: compilercache.CompilerCache

    @property
    def state(self) -> Path:
        """The folder of generated files, ignored by git."""
        return self.root / STATE_FOLDER


def find(start: Path) -> Path:
    """The nearest skippy-patches.yaml at or above the folder `start`, not looking beyond the git root.

    Raises UsageError when there is none, or no such folder.
    """
    folder = existing_folder(start)
    top = folder
    while not (top / FILE_NAME).is_file():
        if (top / ".git").exists() or top.parent == top:
            raise UsageError(
                f"No {FILE_NAME} in {folder} or in any folder above it.",
                why=f"The search went up to {top} and stopped there.",
                mend="Change to the project's folder, or name it: skippy-patches -C DIR ...",
            )
        top = top.parent
    return top / FILE_NAME


def existing_folder(start: Path) -> Path:
    """`start` without links and `..`, so that its parents are the folders around it. Raises UsageError."""
    if not start.is_dir():
        what = "is not a folder" if start.exists() else "does not exist"
        raise UsageError(f"{start} {what}.", mend="Name the project's folder: skippy-patches -C DIR ...")
    try:
        return start.resolve()
    except FileNotFoundError:  # of the working directory: `.` can be opened even then
        raise UsageError(
            "The current folder was deleted.", mend="Change to a folder that exists: cd"
        ) from None


def load(
    file: Path,
    *,
    content: bytes | None = None,
    variables: Mapping[str, str] | None = None,
    read: Callable[[Path], bytes] = Path.read_bytes,
    shown: str = "",
) -> Project:
    """Read `file` (or `content`, its bytes in the index or a commit; `read` then reads other files there).

    shown: what messages call it, where that is not the file's own name.

    Raises ConfigError with file and line, and UsageError for what a variable says.
    """
    env = os.environ if variables is None else variables
    section = yamlfile.load(file, content, shown)
    root = file.parent
    upstream = section.section("upstream")
    if upstream is None:
        raise section.missing("upstream", "Name the pin: repository, tag and commit of llama.cpp.")
    project = Project(
        root=root,
        file=file,
        upstream=_upstream(upstream, root, env, read),
        committer=_committer(section.mapping("committer"), env),
        queue=_queue(section, root),
        recipes=root / section.text("recipes", "recipes"),
        checkout=_checkout(section, root, env),
        subject_prefix=section.choice("subject_prefix", SUBJECT_PREFIX_CHOICES, SUBJECT_PREFIX_CHOICES[0]),
        gaps=section.choice("gaps", GAP_CHOICES, GAP_CHOICES[0]),
        bands=numbers.bands(section.mapping("bands")),
        pinned=tuple(numbers.pinned(section, text) for text in section.texts("pinned")),
        require=tuple(_field(section, text) for text in section.texts("require")),
        cache=compilercache.load(section.mapping("cache"), env),
    )
    section.close()
    return project


def _upstream(
    section: yamlfile.Section, root: Path, env: Mapping[str, str], read: Callable[[Path], bytes]
) -> Upstream:
    commit, commit_file = _commit(section, root, read)
    commit_object = section.text("commit_object", "")
    repository = either(env, "REPOSITORY", section, "repository", "").text
    upstream = Upstream(
        repository=_place(root, repository) if _is_path(repository) else repository,
        tag=section.text("tag", ""),
        commit=commit,
        commit_file=commit_file,
        commit_object=root / commit_object if commit_object else None,
        mirrors=tuple(_mirror(entry, root) for entry in section.sections("mirrors")),
    )
    section.close()
    if not upstream.repository and not upstream.mirrors:
        raise section.error(
            "repository", "is missing, and there are no mirrors: the pin can come from nowhere"
        )
    return upstream


def _commit(
    section: yamlfile.Section, root: Path, read: Callable[[Path], bytes]
) -> tuple[ObjectId, Path | None]:
    """The pin, and the file that holds it where it is kept in one of its own."""
    if "commit" in section and "commit_file" in section:
        raise section.error(
            "commit_file", "is given, and 'commit' too", mend="Keep one: the pin has one place."
        )
    if "commit_file" not in section:
        text = section.text("commit")
        section.text("commit_file", "")
        return _object_id(section, "commit", text, f"must be a full 40-digit commit SHA, not '{text}'"), None
    file = root / section.text("commit_file")
    section.text("commit", "")
    try:
        text = read(file).decode("utf-8", "backslashreplace").strip()
    except OSError as error:
        what = f"names {file}, which cannot be read: {error.strerror}"
        raise section.error("commit_file", what) from error
    shown = text if len(text) < _SHOWN else f"{text[:_SHOWN]}..."
    what = f"names {file}, which must hold a full 40-digit commit SHA and nothing else, not {shown!r}"
    return _object_id(section, "commit_file", text, what), file


def _object_id(section: yamlfile.Section, key: str, text: str, what: str) -> ObjectId:
    try:
        return ObjectId(text.lower())
    except ValueError:
        raise section.error(
            key,
            what,
            why="A short SHA, a tag or a branch can mean another commit tomorrow, or on another machine.",
            mend="Find it with: git ls-remote REPOSITORY 'refs/tags/TAG^{}' refs/tags/TAG",
        ) from None


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
        location = _place(root, location)
    return Mirror(kind=kind, location=location, path=path, sha256=sha256)


def _is_path(repository: str) -> bool:
    """Whether git takes it for a folder: neither a URL nor scp's host:path (git-fetch(1), GIT URLS)."""
    return bool(repository) and "://" not in repository and ":" not in repository.split("/", 1)[0]


def _place(root: Path, path: str) -> str:
    """`path` from the project's folder; `~` is the home folder, and stays when there is none."""
    return str(root / os.path.expanduser(path))  # noqa: PTH111 - Path's raises when there is none


def _committer(section: yamlfile.Section, env: Mapping[str, str]) -> Identity:
    name = either(env, "COMMITTER_NAME", section, "name", "Skippy Patches")
    email = either(env, "COMMITTER_EMAIL", section, "email", "skippy-patches@localhost")
    section.close()
    if not name.text.strip(_CUT):
        raise name.error("holds no name", why="git makes no commit without one.")
    for setting in (name, email):
        _check_identity(setting)
    return Identity(name=name.text, email=email.text)


def _check_identity(setting: Setting) -> None:
    """Only what git writes into a commit exactly as it is: else the commit holds something else."""
    text = setting.text
    if any(ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000 for char in text):
        raise setting.error(
            "holds control characters or bytes that are not UTF-8",
            why="It enters every commit, where it must be a line of text.",
        )
    if text != text.strip(_CUT) or "<" in text or ">" in text:
        raise setting.error(
            f"is '{text}', of which git would cut something off",
            why="git drops < and >, and blanks and punctuation at either end; which, depends on its version.",
            mend=f"Write it without them: {text.strip(_CUT).replace('<', '').replace('>', '')}",
        )


def _queue(section: yamlfile.Section, root: Path) -> tuple[Path, ...]:
    lanes = section.texts("queue", ("patches",))
    if not lanes:
        raise section.error("queue", "names no folder")
    folders: dict[Path, str] = {}
    for lane in lanes:
        folder = (root / lane).resolve()
        if folder in folders:
            other = folders[folder]
            raise section.error(
                "queue", f"names '{lane}' twice" + (f", first as '{other}'" if other != lane else "")
            )
        folders[folder] = lane
    return tuple(root / lane for lane in lanes)


def _field(section: yamlfile.Section, text: str) -> str:
    """The name of a trailer or header field: letters, digits and `-` (git-interpret-trailers(1))."""
    if text.isascii() and text.replace("-", "").isalnum() and text[0] != "-":
        return text
    raise section.error(
        "require",
        f"must hold names of trailers or DEP-3 fields, not '{text}'",
        mend="For example: require: [Origin, Forwarded, Signed-off-by]",
    )


def _checkout(section: yamlfile.Section, root: Path, env: Mapping[str, str]) -> Path:
    setting = either(env, "CHECKOUT", section, "checkout", f"{STATE_FOLDER}/llama.cpp")
    checkout = root / setting.text
    if Path(os.path.normpath(checkout)) in (root, *root.parents):
        raise setting.error(f"is '{setting.text}', a folder that holds the project itself")
    return checkout
