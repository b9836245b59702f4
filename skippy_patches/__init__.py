"""A numbered patch queue on a pinned llama.cpp: the same commit everywhere, built, tested and recorded."""

__version__ = "0.1.0"
