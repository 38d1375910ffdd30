"""The lines that a model writes in the place of others: where they end, and what of them is taken."""

from __future__ import annotations

from dataclasses import dataclass

from spark_lsp.decoding.stopping import Stop, StopReason

MORE_LINES = 4
"""Lines that an answer may have more than the old text; a repair adds one or two."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Ends an answer; an `Ending` for the decode loop."""

    fence: str
    """What the line behind the answer begins with, or nothing."""
    next_line: str
    """The line below the old text, stripped; where it comes, the answer is over. Empty if there is none."""
    old_lines: int
    """How many the old text has; before so many the line below may come twice."""
    begun: str = ""
    """What the answer begins with before the model writes."""

    def check(self, text: str) -> Stop | None:
        """Return where `text` has to end, or None if it may go on."""
        whole, end = self.begun + text, 0
        for number, line in enumerate(whole.split("\n")):
            finished = end + len(line) < len(whole)
            if self.fence and line.startswith(self.fence):
                return self._stop(StopReason.END, end)
            if finished and number >= self.old_lines and self.next_line and line.strip() == self.next_line:
                return self._stop(StopReason.SUFFIX, end)
            if number >= self.old_lines + MORE_LINES:
                return self._stop(StopReason.LINES, end)
            end += len(line) + 1
        return None

    def _stop(self, reason: StopReason, line_start: int) -> Stop:
        """End behind the line before the one that begins at `line_start`."""
        return Stop(reason, max(line_start - 1 - len(self.begun), 0))


def ending(old: str, fence: str, below: str) -> Answer:
    """Return the rule that ends an answer which replaces `old`, with `below` behind it."""
    following = next((line.strip() for line in below.split("\n") if line.strip()), "")
    return Answer(fence, following, old.count("\n") + 1)


def lines_for(old: str, answer: str) -> str:
    """Return an answer as it is put in the place of `old`: without line ends at its end, and not shifted to the left.

    A model that is asked in words often begins at the margin, where no line of `old` stands.
    """
    lines = answer.rstrip().split("\n")
    while len(lines) > 1 and not lines[0].strip():
        del lines[0]
    least = _least_indentation(old.split("\n"))
    if least and lines[0][:1] not in (" ", "\t"):
        lines = [f"{least}{line}" if line.strip() else line for line in lines]
    trailing = old[len(old.rstrip()) :]
    return "\n".join(lines) + trailing


def _least_indentation(lines: list[str]) -> str:
    """Return the white space that all lines begin with, blank ones left out."""
    indented = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    return min(indented, key=len) if indented else ""
