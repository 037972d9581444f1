"""Look a channel over, and say in plain words what to change where."""
