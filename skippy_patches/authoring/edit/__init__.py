"""Edit: stop at a patch, change it, and have the patches behind it follow."""
