"""The texts that the benchmark completes: original code in Python, JavaScript, TypeScript and Go."""

from benchmarks.latency.prompts.free import FREE
from benchmarks.latency.prompts.repetitive import REPETITIVE
from benchmarks.latency.prompts.rewritten import REWRITTEN, Rewrite

__all__ = ["FREE", "REPETITIVE", "REWRITTEN", "Rewrite"]
