"""Which number each patch of an ordered queue gets: pure."""
