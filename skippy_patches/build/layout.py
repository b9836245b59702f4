"""Where a recipe's build keeps what: one folder of the project's state for each recipe."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from skippy_patches import lock
from skippy_patches.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skippy_patches.progress import Reporter


@dataclasses.dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of `.skippy/build/<recipe>/`."""

    folder: Path

    @classmethod
    def of(cls, state: Path, recipe: str) -> Layout:
        """`state` is the project's folder of generated files."""
        return cls(folder=state / "build" / recipe)

    @property
    def tree(self) -> Path:
        """CMake's build folder."""
        return self.folder / "tree"

    @property
    def key(self) -> Path:
        """What `tree` was configured with; its presence says that the folder is ours."""
        return self.folder / "key.json"

    @property
    def log(self) -> Path:
        """Everything that cmake and ninja said in the last build."""
        return self.folder / "build.log"

    @property
    def built(self) -> Path:
        """The last successful build (Built)."""
        return self.folder / "built.json"

    @property
    def junit(self) -> Path:
        """Ctest's own result file."""
        return self.folder / "junit.xml"

    @property
    def test_log(self) -> Path:
        """Everything that ctest said in the last run."""
        return self.folder / "test.log"

    @property
    def tests(self) -> Path:
        """The result of the last whole run (TestReport)."""
        return self.folder / "tests.json"

    @property
    def required(self) -> Path:
        """The result of the last run that had all tests which the recipe requires (TestReport)."""
        return self.folder / "required.json"

    @property
    def reproduced(self) -> Path:
        """That a second build elsewhere gave the same libraries (Reproduced)."""
        return self.folder / "reproduced.json"

    @property
    def record(self) -> Path:
        """The evidence (Record)."""
        return self.folder / "record.json"

    @contextlib.contextmanager
    def locked(self, reporter: Reporter = Silent()) -> Iterator[None]:  # noqa: B008 - has no state
        """Keep every other build and test of this recipe waiting; the kernel frees it with the process."""
        with lock.hold(self.folder / "lock", reporter):
            yield
