"""Hermetic git: the one place that starts git for the llama.cpp checkout.

Whatever a person's configuration, environment or calling hook says, the same command gives the same
bytes. The environment is an allowlist; HOME and XDG_CONFIG_HOME point to the null device, which nobody
can fill; every setting that can change a result is given explicitly. docs/hermetic-git.md has the reasons
one by one. The project's own repository is a person's: project_git.py, and git_host.py for the hook.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import subprocess
from pathlib import Path
from typing import IO, TYPE_CHECKING

from skippy_patches.errors import SkippyError, UsageError, WrongTree
from skippy_patches.objectid import ObjectId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import git as gitpython

# `git rev-parse --local-env-vars` of 2.39 and 2.50, and what else redirects git to another repository.
LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_ATTR_SOURCE",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DEFAULT_HASH",
        "GIT_DEFAULT_REF_FORMAT",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

# Kept from the caller's environment, each for its reason.
_KEPT = (
    "PATH",  # where git and its helpers are
    "TMPDIR",  # where the machine wants temporary files
    "LD_LIBRARY_PATH",  # a git outside the system's prefix may need it to start
    "DYLD_LIBRARY_PATH",  # the same on macOS
    "GIT_EXEC_PATH",  # such a git's own helpers
    "SYSTEMROOT",  # Windows' git does not start without it
)

_FIXED = {
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ADVICE": "0",
    "GIT_PAGER": "cat",
}

# These win over the checkout's own .git/config, which a person may have changed.
_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    "am.keepcr": "true",
    "am.messageId": "false",
    "am.threeWay": "false",
    "apply.ignoreWhitespace": "no",
    "apply.whitespace": "nowarn",
    "commit.gpgSign": "false",
    "core.abbrev": "12",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.checkStat": "default",
    "core.eol": "lf",
    "core.excludesFile": os.devnull,
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.logAllRefUpdates": "true",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "true",
    "core.safecrlf": "false",
    "core.sparseCheckout": "false",
    "core.splitIndex": "false",
    "core.symlinks": "true",
    "core.trustctime": "true",
    "core.untrackedCache": "false",
    "diff.algorithm": "myers",
    "diff.ignoreSubmodules": "none",
    "diff.noprefix": "false",
    "diff.renames": "true",
    "gc.auto": "0",
    "i18n.commitEncoding": "UTF-8",
    "mailinfo.scissors": "false",
    "maintenance.auto": "false",
    "rerere.enabled": "false",
    "status.showUntrackedFiles": "all",
    "submodule.recurse": "false",
}


class GitMissing(UsageError):
    """There is no git on PATH."""

    def __init__(self) -> None:
        super().__init__(
            "git was not found on PATH.",
            mend="Install it (Debian: apt-get install git; macOS: xcode-select --install).",
        )


class GitFailed(SkippyError):
    """A git command that should have worked did not."""

    def __init__(self, command: Sequence[str], status: int, stdout: bytes, stderr: str) -> None:
        out = stdout.decode("utf-8", "replace").strip()[-2000:]
        shown = "\n".join(part for part in (stderr.strip()[-4000:], out) if part)
        super().__init__(f"`git {' '.join(command)}` ended with status {status}.", why=shown)
        self.status = status
        self.stderr = stderr


class GitRefused(GitFailed, UsageError):
    """The operating system refused something to git: as SystemRefused, for a command of its own."""

    def __init__(self, command: Sequence[str], status: int, stdout: bytes, stderr: str) -> None:
        super().__init__(command, status, stdout, stderr)
        self.mend = "Mend that and run the command again: what was done so far is kept."


# What strerror(3) says of a machine's faults; git is run in the C locale, where it says just that.
_MACHINE = (
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Permission denied",
    "Input/output error",
    "Too many open files",
    "Cannot allocate memory",
)


def _failure(command: Sequence[str], status: int, stdout: bytes, stderr: str) -> GitFailed:
    kind = GitRefused if any(f": {fault}" in stderr for fault in _MACHINE) else GitFailed
    return kind(command, status, stdout, stderr)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """What a git command left: its status and both streams."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Standard output, decoded; bytes that are not UTF-8 survive as surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape")

    @property
    def line(self) -> str:
        """Standard output as a single line."""
        return self.text.rstrip("\n")

    @property
    def fields(self) -> tuple[str, ...]:
        """Standard output of a `-z` command, split at its NULs."""
        return tuple(self.text.rstrip("\0").split("\0")) if self.stdout else ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields as this process's file system calls spell them, whatever its locale is."""
        return tuple(os.fsdecode(name) for name in self.stdout.rstrip(b"\0").split(b"\0") if name)


def hermetic_environment() -> dict[str, str]:
    """The environment of a git child that may not notice whose machine it runs on."""
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return env | _FIXED | _settings_as_environment(_SETTINGS)


def user_environment() -> dict[str, str]:
    """The caller's environment with everything removed that aims git at another repository.

    For fetching, where a person's proxies, credentials and url.*.insteadOf must count, and for the project's
    own repository, which is theirs.
    """
    env = {name: value for name, value in os.environ.items() if not is_local(name)}
    given = _given_settings()
    settings = given | {"core.hooksPath": os.devnull, "gc.auto": "0", "maintenance.auto": "false"}
    return env | {"GIT_TERMINAL_PROMPT": "0"} | _settings_as_environment(settings)


def _given_settings() -> dict[str, str]:
    """What GIT_CONFIG_COUNT gives: CI passes credentials and url.*.insteadOf that way."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    numbers = range(int(count)) if count.isdecimal() else range(0)
    pairs = [
        (os.environ.get(f"GIT_CONFIG_KEY_{n}"), os.environ.get(f"GIT_CONFIG_VALUE_{n}")) for n in numbers
    ]
    return {key: value for key, value in pairs if key and value is not None}


def is_local(name: str) -> bool:
    """Whether the variable `name` aims git at another repository, or changes what it does there."""
    return name in LOCAL_VARIABLES or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))


def _settings_as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """As `-c` would give them, but inherited by the commands that git itself starts (git-config(1))."""
    env = {"GIT_CONFIG_COUNT": str(len(settings))}
    for index, (key, value) in enumerate(settings.items()):
        env[f"GIT_CONFIG_KEY_{index}"] = key
        env[f"GIT_CONFIG_VALUE_{index}"] = value
    return env


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository of skippy-patches' own, addressed by its git dir so that git never searches for one.

    work_tree: None for a bare repository. inherited: file descriptors handed to every child, so that a
    lock lives until the last of them has ended.
    """

    git_dir: Path
    work_tree: Path | None = None
    inherited: tuple[int, ...] = ()

    @classmethod
    def create(cls, folder: Path, *, bare: bool) -> Repository:
        """Make a new repository in `folder`, which must be empty or missing."""
        folder.mkdir(parents=True, exist_ok=True)
        git_dir = folder if bare else folder / ".git"
        repository = cls(git_dir=git_dir, work_tree=None if bare else folder)
        env = hermetic_environment()
        arguments = ["init", "--quiet", "--template=", *(["--bare"] if bare else []), str(folder)]
        _run(arguments, cwd=folder, env=env)
        return repository

    def verify_place(self) -> None:
        """Raise WrongTree unless git agrees that this git dir and work tree belong together."""
        answer = self.run("rev-parse", "--absolute-git-dir", *(["--show-toplevel"] if self.work_tree else []))
        expected = [path.resolve() for path in (self.git_dir, self.work_tree) if path]
        found = [Path(line).resolve() for line in answer.text.splitlines()]
        if found != expected:
            raise WrongTree(
                f"git answers for {', '.join(map(str, found))}, not for {', '.join(map(str, expected))}.",
                why="Working there would change a repository that is not the checkout.",
                mend=f"Move {self.work_tree or self.git_dir} away and run the command again.",
            )

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str | bytes] | None = None,
        check: bool = True,
        cwd: Path | None = None,
    ) -> Result:
        """Run `git ARGUMENTS` hermetically. With `check`, raise GitFailed unless its status is 0."""
        place: dict[str, str | bytes] = {"GIT_DIR": str(self.git_dir)}
        if self.work_tree:
            place["GIT_WORK_TREE"] = str(self.work_tree)
            place["GIT_CEILING_DIRECTORIES"] = str(self.work_tree.resolve().parent)
        return _run(
            arguments,
            cwd=cwd or self.work_tree or self.git_dir,
            env=hermetic_environment() | place | dict(env or {}),
            stdin=stdin,
            check=check,
            pass_fds=self.inherited,
        )

    def fetch(self, *arguments: str, on_progress: Callable[[str, int], None]) -> Result:
        """Run `git fetch` with the person's own configuration; `on_progress` gets a phase and percent."""
        command = ["fetch", "--progress", "--no-tags", "--no-auto-maintenance", "--no-write-commit-graph"]
        command += ["--no-recurse-submodules", "--no-prune", *arguments]
        return _run_with_progress(
            command,
            cwd=self.work_tree or self.git_dir,
            env=user_environment() | {"GIT_DIR": str(self.git_dir)},
            pass_fds=self.inherited,
            on_progress=on_progress,
        )

    def resolve(self, revision: str) -> ObjectId | None:
        """The id that `revision` names, or None when there is no such object here."""
        result = self.run("rev-parse", "--quiet", "--verify", "--end-of-options", revision, check=False)
        return ObjectId(result.line) if result.status == 0 else None

    @contextlib.contextmanager
    def objects(self) -> Iterator[gitpython.Repo]:
        """The repository as GitPython reads it: commits, trees and blobs.

        GitPython's children, and the one it starts when it is imported, inherit this process's environment
        whatever is passed to them. So what aims git elsewhere is taken out of it for as long.
        """
        hidden = {name: os.environ.pop(name) for name in list(os.environ) if is_local(name)}
        try:
            import git as gitpython  # noqa: PLC0415 - 100 ms that only readers of objects pay

            with gitpython.Repo(self.git_dir) as repository:
                repository.git.update_environment(**hermetic_environment())
                yield repository
        finally:
            os.environ.update(hidden)


def run_anywhere(*arguments: str, stdin: bytes = b"", check: bool = True) -> Result:
    """Run a git command that needs no repository, hermetically and away from any."""
    env = hermetic_environment() | {"GIT_CEILING_DIRECTORIES": os.sep}
    return _run(arguments, cwd=Path(os.sep), env=env, stdin=stdin, check=check)


def run_as_user(
    *arguments: str,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str | bytes] | None = None,
    check: bool = True,
) -> Result:
    """Run git in the repository around `cwd`, with the person's own configuration; see user_environment."""
    return _run(arguments, cwd=cwd, env=user_environment() | dict(env or {}), stdin=stdin, check=check)


def _run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str | bytes],
    stdin: bytes = b"",
    check: bool = True,
    pass_fds: tuple[int, ...] = (),
) -> Result:
    try:
        process = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            check=False,
            pass_fds=pass_fds,
        )
    except FileNotFoundError as error:
        raise GitMissing from error
    stderr = process.stderr.decode("utf-8", "replace")
    if check and process.returncode:
        raise _failure(arguments, process.returncode, process.stdout, stderr)
    return Result(status=process.returncode, stdout=process.stdout, stderr=stderr)


_PROGRESS = re.compile(r"([A-Z][A-Za-z ]+):\s+(\d+)%")


def _run_with_progress(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    pass_fds: tuple[int, ...],
    on_progress: Callable[[str, int], None],
) -> Result:
    try:
        process = subprocess.Popen(
            ["git", *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
        )
    except FileNotFoundError as error:
        raise GitMissing from error
    with process:
        assert process.stderr is not None  # noqa: S101 - PIPE was asked for
        said = []
        for line in _lines_and_returns(process.stderr):
            match = _PROGRESS.search(line)
            if match:
                on_progress(match[1], int(match[2]))
            else:
                said.append(line)
    stderr = "\n".join(said)
    if process.returncode:
        raise _failure(arguments, process.returncode, b"", stderr)
    return Result(status=0, stdout=b"", stderr=stderr)


def _lines_and_returns(stream: IO[bytes]) -> Iterator[str]:
    """Lines ended by newline or carriage return, as they come."""
    pending = b""
    while chunk := os.read(stream.fileno(), 4096):
        *whole, pending = re.split(rb"[\r\n]", pending + chunk)
        for line in whole:
            if line:
                yield line.decode("utf-8", "replace")
    if pending:
        yield pending.decode("utf-8", "replace")
