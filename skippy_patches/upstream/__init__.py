"""The pin: the genuine upstream commit, whatever carries it here."""
