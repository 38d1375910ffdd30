"""What happened in one session, event by event, with times in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.replay.typist import Kind


@dataclass(frozen=True, slots=True)
class Stroked:
    """Somebody did something: a key, a deletion, a jump, an acceptance."""

    at: float
    kind: Kind
    offset: int
    """Where the new text begins, in the document."""
    text: str
    """The new text, empty for a deletion or a jump."""
    removed: int
    """Characters after `offset` that the new text replaces."""
    quiet: bool
    """Whether nothing should be suggested now."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text appeared or changed on the screen."""

    at: float
    offset: int
    """Where it begins, in the document."""
    text: str
    right: int
    """Its leading characters that are what the author writes next; blanks at its end are right if the rest is."""


Event = Stroked | Shown


@dataclass(frozen=True, slots=True)
class Counts:
    """What a program counted and used since its start."""

    requests: int = 0
    """Questions of the editor that were answered with a text."""
    without_model: int = 0
    """Those of them that no model call was made for."""
    prompt_tokens: int = 0
    """Computed, not taken from a KV cache."""
    decoded_tokens: int = 0
    cpu_seconds: float = 0.0

    def since(self, before: Counts) -> Counts:
        """Return what was added since `before`."""
        return Counts(
            self.requests - before.requests,
            self.without_model - before.without_model,
            self.prompt_tokens - before.prompt_tokens,
            self.decoded_tokens - before.decoded_tokens,
            self.cpu_seconds - before.cpu_seconds,
        )


@dataclass(slots=True)
class Trace:
    """The events of one session in their order, and what it took."""

    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0
    """From the opening of the file until the last edit is made."""
    counts: Counts = field(default_factory=Counts)
    strokes_alone: int = 0
    """Strokes that the same edits take without any suggestion."""
