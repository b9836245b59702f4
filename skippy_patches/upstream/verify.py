"""A delivered commit is the pin, or carries its tree: decided by hashing alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.upstream.errors import SourceFailed

if TYPE_CHECKING:
    from skippy_patches.git import Repository
    from skippy_patches.objectid import ObjectId
    from skippy_patches.upstream.pin import Pin

PIN_REF = "refs/skippy/pin"


def adopt(repository: Repository, pin: Pin, delivered: ObjectId) -> None:
    """Make the genuine pin commit stand in `repository`, from the carrier's commit `delivered`.

    git hashed every object as it was indexed. What remains is: the tree is the pin's, the commit object
    hashes to the pin, the boundary is drawn, and nothing below the tree is missing. Raises SourceFailed.
    """
    if repository.resolve(f"{pin.commit}^{{commit}}") is None:
        _write_commit(repository, pin, delivered)
    found = repository.resolve(f"{pin.commit}^{{tree}}")
    if pin.tree is not None and found != pin.tree:
        raise SourceFailed(f"the pin's tree is {pin.tree}, the carrier's is {found}")
    _draw_boundary(repository, pin.commit)
    check = repository.run("rev-list", "--objects", "--quiet", pin.commit, "--", check=False)
    if check.status:
        raise SourceFailed(f"objects of the pin are missing: {check.stderr.strip()}")
    repository.run("update-ref", PIN_REF, pin.commit)


def _write_commit(repository: Repository, pin: Pin, delivered: ObjectId) -> None:
    tree = repository.resolve(f"{delivered}^{{tree}}")
    if pin.commit_object is None:
        raise SourceFailed(
            f"it holds commit {delivered}, not the pin, and without upstream.commit_object in the "
            "configuration only the commit itself will do"
        )
    if tree != pin.tree:
        raise SourceFailed(f"it carries tree {tree}, the pin's is {pin.tree}")
    repository.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=pin.commit_object)


def _draw_boundary(repository: Repository, commit: ObjectId) -> None:
    """The pin's parents are not here and not wanted: one commit id a line (gitrepository-layout(5))."""
    shallow = repository.git_dir / "shallow"
    drawn = set(shallow.read_text(encoding="ascii").split()) if shallow.exists() else set()
    if commit not in drawn:
        written = shallow.with_suffix(".new")
        written.write_text("".join(f"{each}\n" for each in sorted({*drawn, commit})), encoding="ascii")
        written.replace(shallow)
