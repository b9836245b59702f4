"""The errors a user can meet: one class a condition, each with the exit status of the command.

An error says what happened, why it usually does and what to do about it. Its constructor takes the
facts and builds the sentences, so that no caller words them again. Conditions that only one stage can
meet are defined beside that stage, as subclasses of the families here.

=====  =============================================
2      usage or configuration
3      internal error
4      a patch does not apply
5      dirty or wrong tree, refused
6      build failed
7      tests failed, or none ran
=====  =============================================
"""

from __future__ import annotations

TYPE_CHECKING = False  # not typing's: the hook and the no-op apply start without importing typing
if TYPE_CHECKING:
    from typing import ClassVar


class SkippyError(Exception):
    """Base of every error that is meant for the user.

    what: one sentence, the fact. why: the usual cause. mend: what to do, one step a line.
    """

    exit_status: ClassVar[int] = 3

    def __init__(self, what: str, *, why: str = "", mend: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.mend = mend

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.why, self.mend) if part)


class UsageError(SkippyError):
    """The command line or the environment asks for something that cannot be done."""

    exit_status = 2


class SystemRefused(UsageError):
    """The operating system refused something: permissions, a full disk, a file where a folder belongs."""

    def __init__(self, error: OSError) -> None:
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        said = error.strerror or str(error) or type(error).__name__
        super().__init__(
            f"{' -> '.join(names)}: {said}." if names else f"The operating system refused: {said}.",
            why=""
            if names
            else "It names no file. Often the disk is full, or a limit of the system is reached.",
            mend="Mend that and run the command again: what was done so far is kept.\n"
            "To see which step it was: skippy-patches -v ...",
        )


class ConfigError(SkippyError):
    """A file of the user's is not as it should be; points at file and line. fact: what, without them."""

    exit_status = 2

    def __init__(
        self, what: str, *, file: object, line: int | None = None, why: str = "", mend: str = ""
    ) -> None:
        where = f"{file}:{line}" if line else f"{file}"
        super().__init__(f"{where}: {what}", why=why, mend=mend)
        self.fact = what
        self.file = file
        self.line = line


class PatchError(SkippyError):
    """A patch of the queue cannot be applied."""

    exit_status = 4


class WrongTree(SkippyError):
    """The checkout holds something that skippy-patches will not overwrite, or is not its own."""

    exit_status = 5


class BuildError(SkippyError):
    """Configuring, compiling or linking failed."""

    exit_status = 6


class TestsError(SkippyError):
    """Tests failed, or none ran."""

    __test__ = False  # not a test class, whatever pytest thinks of the name
    exit_status = 7
