"""Refresh: commits of the checkout back into patch files."""
