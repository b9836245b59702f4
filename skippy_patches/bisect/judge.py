"""Whether one patch of the queue applies on a commit of upstream, when earlier ones may not.

The earlier patches are applied in their order, and one that does not apply is left out, unless upstream has
its change already: then the tree is as the patch would leave it. Where the patch itself then fails while
others are missing, they may be the reason. That is tried, on a commit where all of them apply: if the patch
applies there without them, it does not need them, and upstream is the reason.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skippy_patches.bisect import related
from skippy_patches.errors import PatchError
from skippy_patches.queue.errors import UnreadablePatch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from skippy_patches.apply.engine import IndexEngine
    from skippy_patches.objectid import ObjectId
    from skippy_patches.queue.patch import Patch

# git-bisect(1)'s own words, and its commands.
GOOD = "good"
BAD = "bad"
SKIP = "skip"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failure:
    """A patch that does not apply, and why."""

    patch: Patch
    error: PatchError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ground:
    """What a patch is tried on: a commit of upstream with the earlier patches that may matter to it.

    left_out: those that do not apply. there: those whose change upstream has already.
    """

    tip: ObjectId
    left_out: tuple[Failure, ...]
    there: tuple[Patch, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verdict:
    """How the patch stands to a commit of upstream. outcome: GOOD, BAD, or SKIP when it cannot be told.

    error: why it does not apply, None when it does. is_there: it does not, since upstream has its change.
    left_out, there: see Ground.
    """

    commit: ObjectId
    outcome: str
    error: PatchError | None
    is_there: bool
    left_out: tuple[Failure, ...]
    there: tuple[Patch, ...]


class Judge:
    """Tries commits, and remembers every answer. Raises UnreadablePatch for a file that nothing can apply."""

    def __init__(self, engine: IndexEngine, patches: Sequence[Patch], control: ObjectId) -> None:
        """patches: the queue up to the one in question. control: a commit on which all of them apply."""
        self.patch = patches[-1]
        self._engine = engine
        self._control = control
        self._earlier = related.needed_before(patches)
        self._places = related.places((*self._earlier, self.patch))
        self._folders = related.folders(self._places)
        self._verdicts: dict[tuple[str, ...], Verdict] = {}
        self._needs: dict[tuple[Patch, ...], bool] = {}

    def judge(self, commit: ObjectId) -> Verdict:
        """The verdict on `commit`; commits that are alike where the patches look share it."""
        seen = self._seen(commit)
        if seen not in self._verdicts:
            self._verdicts[seen] = self._try(commit)
        return dataclasses.replace(self._verdicts[seen], commit=commit)

    def _seen(self, commit: ObjectId) -> tuple[str, ...]:
        """All of a commit that the answer depends on: what stands at the paths of the patches."""
        listed = self._engine.repository.run("ls-tree", "-r", "-t", "-z", commit).fields
        return tuple(entry for line in listed if (entry := self._entry(line)))

    def _entry(self, line: str) -> str:
        r"""A line of ls-tree, `<mode> <type> <id>\t<path>`, as far as it matters; empty when it does not."""
        entry, _, path = line.partition("\t")
        is_folder = entry.startswith("040000 ")
        if path in self._places:
            return f"folder\t{path}" if is_folder else line
        return line if path in self._folders and not is_folder else ""

    def _try(self, commit: ObjectId) -> Verdict:
        ground = self._ground(commit, without=())
        error = self._error(ground.tip)
        is_there = error is not None and self._engine.is_there(ground.tip, self.patch)
        missing = tuple(failure.patch for failure in ground.left_out)
        outcome = GOOD if error is None else BAD if is_there or not self._is_needed(missing) else SKIP
        return Verdict(
            commit=commit,
            outcome=outcome,
            error=error,
            is_there=is_there,
            left_out=ground.left_out,
            there=ground.there,
        )

    def _ground(self, commit: ObjectId, without: Collection[Patch]) -> Ground:
        """The earlier patches on `commit`, but for those in `without`."""
        tip, left_out, there = commit, [], []
        for patch in self._earlier:
            if patch in without:
                continue
            try:
                tip = self._engine.apply(tip, patch).commit
            except PatchError as error:
                if self._engine.is_there(tip, patch):
                    there.append(patch)
                else:
                    left_out.append(Failure(patch=patch, error=error))
        return Ground(tip=tip, left_out=tuple(left_out), there=tuple(there))

    def _error(self, tip: ObjectId) -> PatchError | None:
        """Why the patch does not apply on `tip`."""
        try:
            self._engine.apply(tip, self.patch)
        except UnreadablePatch:
            raise
        except PatchError as error:
            return error
        return None

    def _is_needed(self, patches: tuple[Patch, ...]) -> bool:
        """Whether the patch does not apply without these where all the others can."""
        if patches not in self._needs:
            tip = self._ground(self._control, without=patches).tip
            self._needs[patches] = bool(patches) and self._error(tip) is not None
        return self._needs[patches]
