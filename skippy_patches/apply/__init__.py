"""The queue on the pin: the same commit on every machine, in a checkout that loses nothing."""
