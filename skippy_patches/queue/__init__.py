"""The queue: patch files, their order and numbers, and what can be wrong with them."""
