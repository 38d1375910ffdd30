"""Decoding: prompt rate, the cost of a step by its width, and what drafting brings."""
