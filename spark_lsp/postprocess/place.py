"""The place that a suggestion goes to, as the rules see it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.brackets import Openness, openness_at
from spark_lsp.syntax.indentation import indent_of
from spark_lsp.syntax.languages import PLAIN, Language
from spark_lsp.syntax.lexical import ScopeKind
from spark_lsp.syntax.openers import opens_block
from spark_lsp.syntax.parser import SyntaxTree
from spark_lsp.syntax.scopes import scope_kind
from spark_lsp.syntax.trial import Trial

LINES_AROUND = 12
"""Lines above and below the cursor that the rules compare with."""
_UNIT_LINES = 150
"""Lines on each side of the cursor that tell how the document is indented."""
_UNITS = (2, 3, 4, 8)
"""Spaces of one step of indentation; other differences between lines are alignment."""
_TABS = frozenset({"go", "makefile"})
"""Languages that are indented with tabs where the document does not say."""


@dataclass(frozen=True, slots=True)
class Place:
    """Text around the cursor, with LF line ends, and what is known about it. Rules are pure functions of it."""

    line_before: str
    """The cursor's line up to the cursor."""
    line_after: str
    """The cursor's line from the cursor on, without its line end."""
    lines_below: tuple[str, ...] = ()
    """Some lines below the cursor's line."""
    lines_above: tuple[str, ...] = ()
    """Some lines above the cursor's line; the last is the nearest."""
    language: Language = PLAIN
    openness: Openness = field(default_factory=Openness)
    """The brackets, the string or the comment that are open at the cursor."""
    unit: str = ""
    """One step of indentation as the document has it, a tab or spaces; empty if it has none."""
    tree: SyntaxTree | None = None
    """The syntax tree of the document without the suggestion; None if there was no time for one."""
    cursor: int = 0
    """Offset in code points, in the text of `tree`."""
    trial: Trial | None = field(default=None, compare=False, repr=False)
    """Tries texts in that tree; None if there is none."""
    growing: bool = False
    """Whether more text may follow. Then an end that may turn out to be a repetition is withheld, so that what is
    shown of a text stays as the text grows."""

    @staticmethod
    def at(snapshot: TextSnapshot, cursor: int, language: Language = PLAIN, tree: SyntaxTree | None = None) -> Place:
        """Return the place at an offset of a document."""
        line = snapshot.line_of(cursor)
        start, end = snapshot.line_span(line)
        below = range(line + 1, min(line + 1 + LINES_AROUND, snapshot.line_count))
        above = range(max(0, line - LINES_AROUND), line)
        openness = openness_at(snapshot.text, cursor, language)
        if openness.quote and tree is not None and scope_kind(tree, cursor) is ScopeKind.CODE:
            openness = Openness()  # in an interpolated string: the lexer cannot tell
        return Place(
            line_before=snapshot.text[start:cursor],
            line_after=snapshot.text[cursor : max(cursor, end)],
            lines_below=tuple(snapshot.line_text(number) for number in below),
            lines_above=tuple(snapshot.line_text(number) for number in above),
            language=language,
            openness=openness,
            unit=_unit(snapshot, line, language),
            tree=tree if tree is not None and tree.root is not None else None,
            cursor=cursor,
            trial=Trial(tree, cursor) if tree is not None and tree.root is not None else None,
        )

    def while_growing(self) -> Place:
        """Return the same place for a text that is not at its end yet."""
        return replace(self, growing=True)

    @property
    def line_above(self) -> str:
        """The nearest line above that is not blank; empty if there is none near."""
        return next((line for line in reversed(self.lines_above) if line.strip()), "")

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below that are not blank."""
        return tuple(line for line in self.lines_below if line.strip())

    def opens(self, line: str) -> bool:
        """Whether a line of this language opens a block."""
        return opens_block(line, self.language)


def _unit(snapshot: TextSnapshot, line: int, language: Language) -> str:
    tabs = spaces = 0
    steps: Counter[int] = Counter()
    last = 0
    for number in range(max(0, line - _UNIT_LINES), min(snapshot.line_count, line + _UNIT_LINES)):
        text = snapshot.line_text(number)
        if not text.strip():
            continue
        if text[0] == "\t":
            tabs += 1
        elif text[0] == " ":
            spaces += 1
            column = indent_of(text)
            steps[column - last] += column - last in _UNITS
            last = column
        else:
            last = 0
    if tabs > spaces:
        return "\t"
    known = [unit for unit in _UNITS if steps[unit]]
    if known:  # eight are two steps of four if there are any of less
        return " " * max([unit for unit in known if unit < 8] or known, key=lambda unit: steps[unit])
    return "\t" if language.name in _TABS and not spaces else ""
