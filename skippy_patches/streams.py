"""Standard streams that whoever started the program has closed, as in `skippy-patches list >&-`."""

from __future__ import annotations

import os
import sys


def open_closed() -> None:
    """Lead them to /dev/null, as git does (sanitize_stdfds): what nobody wants to read is no failure.

    The descriptors themselves: else the next file that is opened is stdout to every program started here.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest that is free, which is this one
            os.dup2(descriptor, number)
            os.set_inheritable(number, True)  # dup2 of a descriptor onto itself changes nothing
            stream = open(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
