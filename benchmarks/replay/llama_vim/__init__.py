"""A client of llama-server's `/infill` that behaves as the editor plugin llama.vim does.

Written from the facts in its source of January 2026 (commit a1c8e6e), not copied. Its defaults are kept: 256 lines
above and 64 below the cursor, up to 16 chunks of other places, 250 remembered answers, 128 characters of typing into
one, 250 ms of decoding for the first answer and 1000 ms for the speculative one after it. Lengths of text are in
characters here, in bytes there, which is the same for the ASCII that is typed.
"""
