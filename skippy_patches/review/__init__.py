"""Review: what a merge would do to the queue, seen before it merges."""
