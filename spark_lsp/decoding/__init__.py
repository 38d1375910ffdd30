"""Stage 5: draft, verify, stop. Only `llama` knows llama.cpp."""
