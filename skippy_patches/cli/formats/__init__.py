"""Findings in the forms that other programs take; text, for people, is `check`'s own."""
