"""The window around the cursor, placed so that typing only ever appends.

::

    window start            anchor          cursor         window end
        |------- above -------|---- tail -----|---- below ----|

The prompt is ``[PRE] above [SUF] below [MID] tail``: while the user types, only the tail grows, at its end. So the
three other marks are frozen and move rarely and far:

* the anchor stands at the start of the enclosing block, at least `TAIL_MIN_LINES` above the cursor, and moves when the
  cursor leaves the tail or the tail outgrows `TAIL_MAX_LINES` or `TAIL_MAX_CHARACTERS`;
* the window start moves in steps of `START_STEP_LINES`;
* the window end stays as long as the text after the cursor is what it was, give or take the closers that editors put
  there and take away while somebody types.

`choose_window` is pure: it gets the previous window and says what is still true of it. A window remembers texts, not
positions, so edits above the window do not disturb it either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_lsp.context.extras import NO_EXTRAS, Extras
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.blocks import enclosing_block, indentation_block
from spark_lsp.syntax.parser import SyntaxTree

TAIL_MIN_LINES = 10
"""Lines between anchor and cursor; 5 measured 61.3 % exact match, 15 measured 62.5 %, 0 measured 55.0 %."""
TAIL_BLOCK_LINES = 30
"""The anchor goes up to the start of the enclosing block if that is at most so many lines above the cursor."""
TAIL_MAX_LINES = 64
"""The tail may grow to so many lines before the anchor moves."""
TAIL_MAX_CHARACTERS = 4000
"""The same bound in characters (about 1,200 tokens), for long lines."""
TAIL_SOFT_LINES = 44
TAIL_SOFT_CHARACTERS = 2800
"""Beyond these a new anchor is prepared in idle time, so that nobody waits for it at the hard bounds."""
START_STEP_LINES = 32
"""The window start only stands on multiples of this, so that it moves rarely."""
_SHIFT_SLACK = 256
"""Characters typed since, which hide how far an edit above the window moved it."""
_SHIFT_LIMIT = 65_536
"""An edit that moved the window further than so many characters counts as a new text."""
CLOSERS_MAX = 40
"""Closers and white space after the cursor that do not make the window stale: post-processing looks at the true ones.
To compute the text after the cursor again for each bracket would cost seconds on a small CPU."""
_CLOSERS = frozenset(")]}>\"'`;, \t\r\n")
CHARACTERS_PER_TOKEN = 3.2
"""Source code in a byte-pair vocabulary of 150,000 pieces: 3.0 to 3.6 measured over the standard library of Python."""


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """Upper bounds of the window, in tokens."""

    prefix_tokens: int
    suffix_tokens: int


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """The three texts of a prompt, with LF line ends, and the marks they were taken at (code point offsets)."""

    above: str
    tail: str
    below: str
    start: int
    anchor: int
    cursor: int
    end: int | None
    """None if `below` is not exactly what follows the cursor: closers came or went since it was taken."""
    raw_above: str
    """`above` as it stands in the document."""
    raw_below: str
    """`below` as it stands in the document."""
    document_length: int
    extras: Extras = NO_EXTRAS
    """What the prompt begins with. It is as frozen as the anchor, and goes when that moves."""


def choose_window(
    previous: CompletionContext | None, snapshot: TextSnapshot, tree: SyntaxTree, cursor: int, limits: WindowLimits
) -> CompletionContext:
    """Return the window for `cursor`, keeping every mark of `previous` that still holds."""
    if previous is not None:
        start = _where_above_stands(previous, snapshot)
        if start is not None:
            anchor = start + len(previous.raw_above)
            if _tail_fits(snapshot, anchor, cursor):
                end = cursor + len(previous.raw_below)
                extras = previous.extras
                if snapshot.text[cursor:end] == previous.raw_below:
                    return _cut(snapshot, start, anchor, cursor, end, extras)
                if _differs_by_closers(snapshot.text[cursor : end + CLOSERS_MAX], previous.raw_below):
                    kept = _cut(snapshot, start, anchor, cursor, cursor, extras)
                    return replace(kept, below=previous.below, raw_below=previous.raw_below, end=None)
                return _cut(snapshot, start, anchor, cursor, _window_end(snapshot, cursor, limits), extras)
    anchor = _place_anchor(snapshot, tree, cursor)
    start = _window_start(snapshot, anchor, limits)
    return _cut(snapshot, start, anchor, cursor, _window_end(snapshot, cursor, limits))


def _where_above_stands(previous: CompletionContext, snapshot: TextSnapshot) -> int | None:
    """Return the offset at which the text above the anchor still stands, or None if it changed.

    Edits after the anchor leave it in place; edits before the window shift it by about the change of the length.
    """
    text, above = snapshot.text, previous.raw_above
    reach = min(abs(len(text) - previous.document_length) + _SHIFT_SLACK, _SHIFT_LIMIT)
    start = previous.start
    if not text.startswith(above, start):
        start = text.find(above, max(0, start - reach), start + len(above) + reach) if above else -1
    if start == 0 or (start > 0 and text[start - 1] in "\r\n"):
        return start
    return None


def _differs_by_closers(after: str, below: str) -> bool:
    """Whether the text after the cursor is `below` with closers put before it or taken from its start."""
    for count in range(1, CLOSERS_MAX + 1):
        if count <= len(after) and after[count - 1] in _CLOSERS:
            if after.startswith(below, count):
                return True
        else:
            break
    for count in range(1, min(CLOSERS_MAX, len(below)) + 1):
        if below[count - 1] not in _CLOSERS:
            return False
        if after.startswith(below[count:]):
            return True
    return False


def outgrown(context: CompletionContext) -> bool:
    """Whether the tail is so long that a new anchor should be prepared before the old one has to go."""
    return len(context.tail) > TAIL_SOFT_CHARACTERS or context.tail.count("\n") > TAIL_SOFT_LINES


def _tail_fits(snapshot: TextSnapshot, anchor: int, cursor: int) -> bool:
    if not 0 <= cursor - anchor <= TAIL_MAX_CHARACTERS:
        return False
    lines = snapshot.line_of(cursor) - snapshot.line_of(anchor)
    return lines <= TAIL_MAX_LINES and (lines >= TAIL_MIN_LINES // 2 or anchor == 0)


def _place_anchor(snapshot: TextSnapshot, tree: SyntaxTree, cursor: int) -> int:
    line = snapshot.line_of(cursor)
    block = enclosing_block(tree, cursor) or indentation_block(snapshot.text, cursor)
    block_line = snapshot.line_of(block.start)
    wanted = line - TAIL_MIN_LINES
    if line - block_line <= TAIL_BLOCK_LINES:
        wanted = min(wanted, block_line)
    anchor_line = max(0, wanted)
    anchor = int(snapshot.line_starts[anchor_line])
    while cursor - anchor > TAIL_MAX_CHARACTERS // 2 and anchor_line < line:
        anchor_line += 1
        anchor = int(snapshot.line_starts[anchor_line])
    # One line may be longer than the whole bound (minified files): then the anchor stands inside it.
    return max(anchor, cursor - TAIL_MAX_CHARACTERS // 2)


def _window_start(snapshot: TextSnapshot, anchor: int, limits: WindowLimits) -> int:
    budget = int(limits.prefix_tokens * CHARACTERS_PER_TOKEN)
    line = snapshot.line_of(max(0, anchor - budget))
    if line == 0 and anchor <= budget:
        return 0
    step = -(-(line + 1) // START_STEP_LINES) * START_STEP_LINES
    if step >= snapshot.line_of(anchor):  # long lines: a whole step would leave nothing
        step = min(line + 1, snapshot.line_of(anchor))
    return min(int(snapshot.line_starts[step]), anchor)


def _window_end(snapshot: TextSnapshot, cursor: int, limits: WindowLimits) -> int:
    budget = int(limits.suffix_tokens * CHARACTERS_PER_TOKEN)
    end = min(len(snapshot.text), cursor + budget)
    if end == len(snapshot.text):
        return end
    line_start = int(snapshot.line_starts[snapshot.line_of(end)])
    return line_start if line_start > cursor else end


def _cut(
    snapshot: TextSnapshot, start: int, anchor: int, cursor: int, end: int, extras: Extras = NO_EXTRAS
) -> CompletionContext:
    text = snapshot.text
    raw_above, raw_below = text[start:anchor], text[cursor:end]
    return CompletionContext(
        above=with_line_feeds(raw_above),
        tail=with_line_feeds(text[anchor:cursor]),
        below=with_line_feeds(raw_below),
        start=start,
        anchor=anchor,
        cursor=cursor,
        end=end,
        raw_above=raw_above,
        raw_below=raw_below,
        document_length=len(text),
        extras=extras,
    )


def with_line_feeds(text: str) -> str:
    """Return `text` with every line end as LF: models were trained on those, and FIM beside a CR breaks."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
