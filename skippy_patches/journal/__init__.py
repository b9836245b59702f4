"""Changes of the queue's files that happen wholly or not at all, and can be taken back."""
