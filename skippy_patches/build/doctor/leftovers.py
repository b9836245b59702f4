"""What something else left where the checkout and the build shall be, and paths that cmake does not carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.apply import checkout as checkouts
from skippy_patches.apply.errors import NotOurs
from skippy_patches.build import arguments
from skippy_patches.build.doctor import finding
from skippy_patches.build.errors import ForeignBuildFolder
from skippy_patches.errors import SkippyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skippy_patches.build.doctor.case import Case
    from skippy_patches.build.doctor.finding import Finding


def build_folder(case: Case) -> Iterator[Finding]:
    """Files without the key that skippy-patches leaves beside them."""
    layout = case.layout()
    if layout is None or layout.key.exists() or not layout.tree.is_dir():
        return
    if any(layout.tree.iterdir()):
        yield finding.of(ForeignBuildFolder(layout.tree))


def checkout(case: Case) -> Iterator[Finding]:
    """A folder that apply would refuse: another tool's clone, or one whose .git is gone."""
    if case.project is None:
        return
    try:
        checkouts.open_existing(case.project.checkout.resolve())
    except NotOurs as error:
        yield finding.of(error)
    except SkippyError:
        return  # without git, say: another check's, or apply's


def paths(case: Case) -> Iterator[Finding]:
    """Of checkout and build folder: a comma ends an argument of cmake's, a dollar sign is expanded."""
    layout = case.layout()
    if case.project is None or layout is None:
        return
    try:
        arguments.refuse_unusable(case.project.checkout.resolve(), layout.tree.resolve())
    except SkippyError as error:
        yield finding.of(error)
