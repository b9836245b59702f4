"""Authoring: what changes the files of a queue, and how a commit becomes a patch file."""
