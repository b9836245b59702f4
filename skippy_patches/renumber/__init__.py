"""Renumber: numbers that are unique again, with the proof that nothing else changes."""
