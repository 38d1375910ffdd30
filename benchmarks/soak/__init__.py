"""Soak: thousands of completions in one server, and what is left behind: memory, unanswered requests, idle CPU time."""
