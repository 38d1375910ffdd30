"""Felt speed: real edits typed at a human rhythm into the real server, against what people would use instead."""
