"""Looks at the machine before anything is fetched or compiled, and says all that is wrong with it at once."""
