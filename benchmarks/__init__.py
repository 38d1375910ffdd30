"""Benchmarks: everything that is claimed about speed or quality can be measured again from here."""
