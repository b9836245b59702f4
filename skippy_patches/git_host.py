"""Light, read-only git for the project's own repository: its index, as the hook is about to commit it.

Not for the checkout; that is git.py, which is heavier and hermetic. Inside a hook git exports GIT_DIR,
GIT_INDEX_FILE and more, and every child would follow them into whatever repository they name (CASES 2).
So every GIT_* variable is dropped and git finds the repository again from the project's folder; only a
GIT_INDEX_FILE that lies directly in the git dir found there is kept: that is where git puts the index of
`git commit FILE`, `git commit -p` and of a linked worktree. A repository whose git dir can be found
through GIT_DIR alone (a bare repository with a work tree elsewhere) is not supported.
"""

from __future__ import annotations

import os

from skippy_patches.errors import SkippyError
from skippy_patches.lighttuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import BinaryIO

_KEPT_VARIABLES = frozenset(
    {
        "GIT_EXEC_PATH",  # where git's own programs are, when git was moved
        "GIT_CONFIG_GLOBAL",  # safe.directory may only be there
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CEILING_DIRECTORIES",  # they only stop git from climbing
    }
)
_EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_PIPE_SIZE = 65536  # of Linux; macOS has at least a quarter of it
_QUESTIONS = 100
_INTENT_TO_ADD = 0x20000000  # CE_INTENT_TO_ADD in the flags of `git ls-files --debug`


class IndexEntry(NamedTuple):
    """One line of `git ls-files --stage`. mode: octal text. stage: 0, or 1 to 3 in a conflict."""

    mode: str
    object_id: str
    stage: int
    path: str


class HostGitError(SkippyError):
    """The index of the project's repository cannot be read."""

    exit_status = 2

    def __init__(self, arguments: Sequence[str], folder: Path, reason: str) -> None:
        super().__init__(
            f"git {' '.join(arguments)} failed in {folder}.",
            why=reason.strip(),
            mend="--staged reads the index of the project's own git repository; without it, the folder.",
        )


class HostGit:
    """The repository that `folder` lies in. Use it as a context manager: it keeps one process open.

    Processes are started by os.posix_spawnp: importing subprocess costs as much CPU as four of them.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str] | None = None) -> None:
        given = os.environ if variables is None else variables
        self._folder = folder
        self._environment = _scrubbed(given)
        index = given.get("GIT_INDEX_FILE")
        if index and self._is_own(index):
            self._environment["GIT_INDEX_FILE"] = os.path.realpath(index)
        self._batch: _Batch | None = None

    def __enter__(self) -> HostGit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._batch is not None:
            self._batch.close()
            self._batch = None

    def entries(self, folders: Sequence[str]) -> Iterator[IndexEntry]:
        """Index entries at or below `folders` (relative to the project; paths are too), as git sorts them.

        Paths that are only announced (`git add --intent-to-add`) are left out: they are not committed.
        Raises HostGitError.
        """
        listed = [_entry(record) for record in self._records("ls-files", "-z", "--stage", "--", *folders)]
        empty = [entry.path for entry in listed if entry.object_id == _EMPTY_BLOB]
        announced = {path for path in empty if self._is_announced(path)}
        return (entry for entry in listed if entry.path not in announced)

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """The contents of blobs (ids, or `:PATH`, from the index); None in place of what is none."""
        if self._batch is None:
            self._batch = _Batch(self)
        return self._batch.read(names)

    def index_blob(self, path: str) -> bytes | None:
        """The content of `path` (relative to the project) in the index; None when absent or in conflict."""
        return self.blobs([f":0:./{path}"])[0]

    def spawn(self, arguments: Sequence[str], *, stdin: int | None, stdout: int) -> int:
        """Start git with these file descriptors and silent stderr; its process id."""
        silence = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
        source = (
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
            if stdin is None
            else (os.POSIX_SPAWN_DUP2, stdin, 0)
        )
        actions = [source, (os.POSIX_SPAWN_DUP2, stdout, 1), silence]
        command = ["git", "-C", str(self._folder), *arguments]
        try:
            return os.posix_spawnp("git", command, self._environment, file_actions=actions)
        except OSError as error:
            raise HostGitError(arguments, self._folder, f"git cannot be started: {error.strerror}") from error

    def _is_own(self, index: str) -> bool:
        git_dir = os.fsdecode(self._run("rev-parse", "--absolute-git-dir")).rstrip("\n")
        folder, _ = os.path.split(os.path.realpath(index))
        return folder == os.path.realpath(git_dir)

    def _is_announced(self, path: str) -> bool:
        answer = self._run("ls-files", "--debug", "--", path)
        flags = answer.rpartition(b"flags: ")[2].strip()
        return bool(int(flags or b"0", 16) & _INTENT_TO_ADD)

    def _records(self, *arguments: str) -> list[str]:
        return os.fsdecode(self._run(*arguments)).split("\0")[:-1]

    def _run(self, *arguments: str) -> bytes:
        ours, its = os.pipe()
        with open(ours, "rb") as output:  # noqa: PTH123 - a descriptor
            process = self.spawn(arguments, stdin=None, stdout=its)
            os.close(its)
            answer = output.read()
        if os.waitpid(process, 0)[1]:
            raise HostGitError(arguments, self._folder, self._reason(arguments))
        return answer

    def _reason(self, arguments: Sequence[str]) -> str:
        """Run a failed command once more to hear why."""
        import subprocess  # noqa: PLC0415 - see the class

        command = ["git", "-C", str(self._folder), *arguments]
        said = subprocess.run(command, env=self._environment, capture_output=True, check=False).stderr
        return os.fsdecode(said)


class _Batch:
    """One `git cat-file --batch`, kept open from one list of names to the next."""

    def __init__(self, git: HostGit) -> None:
        its_input, questions = os.pipe()
        answers, its_output = os.pipe()
        self._questions: BinaryIO = open(questions, "wb", buffering=0)  # noqa: PTH123, SIM115 - see close
        self._answers: BinaryIO = open(answers, "rb", buffering=_PIPE_SIZE)  # noqa: PTH123, SIM115
        self._process = git.spawn(("cat-file", "--batch"), stdin=its_input, stdout=its_output)
        os.close(its_input)
        os.close(its_output)

    def read(self, names: Sequence[str]) -> list[bytes | None]:
        """Ask as much as a pipe holds, then listen: neither side can wait for the other then."""
        found: list[bytes | None] = []
        for at in range(0, len(names), _QUESTIONS):
            found += self._read(names[at : at + _QUESTIONS])
        return found

    def _read(self, names: Sequence[str]) -> list[bytes | None]:
        text = "".join(f"{name}\n" for name in names)
        if text.count("\n") > len(names) or len(text) > _PIPE_SIZE // 4:
            raise ValueError("a name with a line end in it, or of unheard length")
        try:
            self._questions.write(os.fsencode(text))
        except BrokenPipeError:  # git is gone: no repository here
            return [None] * len(names)
        return [self._answer() for _ in names]

    def _answer(self) -> bytes | None:
        words = self._answers.readline().split(b" ")
        if len(words) != 3 or not words[2].strip().isdigit():
            return None  # "NAME missing" or "NAME ambiguous"
        content = self._answers.read(int(words[2]) + 1)[:-1]
        return content if words[1] == b"blob" else None

    def close(self) -> None:
        self._questions.close()
        self._answers.close()
        os.waitpid(self._process, 0)


def _scrubbed(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: text
        for name, text in variables.items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    # Replacement refs would show other bytes than those that are committed.
    fixed = {"GIT_LITERAL_PATHSPECS": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0"}
    return kept | fixed | {"LC_ALL": "C"}


def _entry(record: str) -> IndexEntry:
    facts, _, path = record.partition("\t")
    mode, object_id, stage = facts.split(" ")
    return IndexEntry(mode, object_id, int(stage), path)
