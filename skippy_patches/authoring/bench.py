"""A repository without anybody's settings that shares the checkout's objects.

The checkout's own .git/config and the attributes of its files would count in `git format-patch`,
`range-diff` and `merge-tree`: hunk headings, merge drivers, mail headers. Here there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skippy_patches.git import Repository

if TYPE_CHECKING:
    from skippy_patches.apply.checkout import Checkout

# `diff` decides hunk headings, whose patterns differ from git to git; `merge` names drivers.
_ATTRIBUTES = "* !diff !merge -text -eol -ident -filter -working-tree-encoding\n"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


def open_bench(checkout: Checkout) -> Repository:
    """A bench in the checkout's scratch space: its objects are the checkout's, its refs are its own."""
    git_dir = checkout.scratch / "bench.git"
    lender = checkout.repository.git_dir.resolve()
    if not git_dir.exists():
        for folder in ("refs", "info"):
            (git_dir / folder).mkdir(parents=True)
        (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
        (git_dir / "config").write_text(_CONFIG, encoding="ascii")
        (git_dir / "objects").symlink_to(lender / "objects")
        if (lender / "shallow").exists():
            (git_dir / "shallow").symlink_to(lender / "shallow")
        (git_dir / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    return Repository(git_dir=git_dir, inherited=checkout.repository.inherited)
