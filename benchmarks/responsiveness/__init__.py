"""How the server answers while it is busy: start, keystrokes, cancel, exit."""
