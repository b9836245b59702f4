"""Tables that read well on a terminal and cut well in a pipe."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from skippy_patches.queue.findings import printable


class PlainTable(Table):
    """A borderless table whose cells are text, never markup."""

    def add_row(self, *cells: object, **options: object) -> None:
        """Add cells; control characters in them, line ends too, are made visible."""
        del options
        super().add_row(*(cell if isinstance(cell, Text) else Text(printable(str(cell))) for cell in cells))


def new_table(*headings: str) -> PlainTable:
    """An empty table."""
    table = PlainTable(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
