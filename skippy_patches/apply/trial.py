"""A trial: queues applied to the pin in a scratch repository. No checkout, no ref of anybody's changes."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply import prefixes
from skippy_patches.apply.engine import IndexEngine, Options
from skippy_patches.apply.ledger import Ledger
from skippy_patches.files import make_generated_folder, remove_abandoned
from skippy_patches.git import Repository
from skippy_patches.upstream.cache import deliver
from skippy_patches.upstream.sources import configured
from skippy_patches.upstream.verify import PIN_REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skippy_patches.apply.checkout import Checkout
    from skippy_patches.apply.ledger import Row
    from skippy_patches.config import Project
    from skippy_patches.errors import PatchError
    from skippy_patches.objectid import ObjectId
    from skippy_patches.progress import Reporter
    from skippy_patches.queue.patch import Patch
    from skippy_patches.upstream.cache import Cache
    from skippy_patches.upstream.pin import Pin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trial:
    """A scratch repository with the pin in it. It lives as long as the context that made it."""

    pin: Pin
    repository: Repository
    engine: IndexEngine
    known: Path | None

    def rows(self, patches: Sequence[Patch], *, anew: bool = False) -> list[Row]:
        """The commit and tree of every prefix. Raises PatchError for the first patch that does not apply.

        anew: apply every patch, also where the checkout knows the commit from before.
        """
        rows, error = self.until_error(patches, anew=anew)
        if error is not None:
            raise error
        return rows

    def until_error(
        self, patches: Sequence[Patch], *, anew: bool = False
    ) -> tuple[list[Row], PatchError | None]:
        """As `rows`: those up to the first patch that does not apply, and its error."""
        nothing = self.repository.git_dir / "no-ledger"
        ledger = Ledger(nothing if anew or self.known is None else self.known)
        rows, _, error = prefixes.until_error(self.engine, self.pin, patches, ledger)
        return rows, error

    def apply(self, parent: ObjectId, patch: Patch) -> Row:
        """The commit of one patch on any commit here. Raises PatchError."""
        return self.engine.apply(parent, patch)


@contextlib.contextmanager
def open_trial(project: Project, pin: Pin, cache: Cache, reporter: Reporter) -> Iterator[Trial]:
    """A trial on the project's pin, from the checkout when it has it, else as `apply` gets it.

    Raises NoSource, when the pin can be had from nowhere.
    """
    with _open_scratch(project, reporter) as engine:
        checkout = _checkout_with(project, pin)
        if checkout is None:
            deliver(pin, configured(project.upstream), cache, engine.repository, reporter)
        else:
            _borrow(checkout.repository, engine.repository)
        known = checkout.ledger if checkout else None
        yield Trial(pin=pin, repository=engine.repository, engine=engine, known=known)


@contextlib.contextmanager
def open_borrowing(project: Project, lender: Repository, reporter: Reporter) -> Iterator[IndexEngine]:
    """An engine in a scratch repository that reads the objects of `lender`: on any commit there."""
    with _open_scratch(project, reporter) as engine:
        _borrow(lender, engine.repository)
        yield engine


@contextlib.contextmanager
def _open_scratch(project: Project, reporter: Reporter) -> Iterator[IndexEngine]:
    """An engine in an empty repository, which is gone afterwards."""
    make_generated_folder(project.state)
    remove_abandoned(project.state.glob("trial-*"))
    with tempfile.TemporaryDirectory(prefix="trial-", dir=project.state) as folder:
        repository = Repository.create(Path(folder) / "trial.git", bare=True)
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        options = Options.of(project)
        yield IndexEngine(repository=repository, options=options, scratch=scratch, reporter=reporter)


def _checkout_with(project: Project, pin: Pin) -> Checkout | None:
    """The project's checkout, when it is there and holds the pin."""
    checkout = checkouts.open_existing(project.checkout.resolve())
    return checkout if checkout and checkout.repository.resolve(PIN_REF) == pin.commit else None


def _borrow(lender: Repository, repository: Repository) -> None:
    """Read the lender's objects (gitrepository-layout(5), objects/info/alternates); write none there."""
    alternates = repository.git_dir / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_bytes(bytes(lender.git_dir / "objects") + b"\n")
    shallow = lender.git_dir / "shallow"
    if shallow.exists():
        (repository.git_dir / "shallow").write_bytes(shallow.read_bytes())
