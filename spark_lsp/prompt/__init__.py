"""Stage 4: context to token ids."""
