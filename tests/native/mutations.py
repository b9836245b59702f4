"""Faults that a test of the queue must find: each is one edit of the applied sources."""

from __future__ import annotations

from tests.native.mutant import Mutation

MUTATIONS = (
    Mutation(
        name="align-one-too-far",
        file="src/llama-kv-page.cpp",
        old="kv_page_add(a, n - 1, res)",
        new="kv_page_add(a, n, res)",
        why="A block that is aligned already moves on: pages of two builds would not fit each other.",
        test="test-skippy-kv-page-abi",
    ),
)
