"""From the applied queue to libraries and test results."""
