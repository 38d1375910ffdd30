"""The server: the only place that knows the language server protocol."""
