"""The lines below the cursor, written a second time."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.indentation import indent_of
from spark_lsp.syntax.languages import Language
from spark_lsp.syntax.lexical import ScopeKind, tokens

_TELLING = 4
"""Letters and digits that make a line one that is not found below by chance."""
_INNER_TELLING = 11
"""The same for a line after which the suggestion goes on: YAML is full of ``type: string``."""
_TYPED_TELLING = 8
"""The same for a line that the user has begun."""
_CLOSERS = frozenset(")]};,")
"""Lines of only these are left to `balance_closers`."""
_COMMON = frozenset({"return", "pass", "break", "continue", "else", "default", "finally", "return;", "break;", "done"})


def drop_lines_below(text: str, place: Place) -> str:
    """Return `text` up to where it begins to repeat the lines below the cursor.

    Indentation, white space and comments at the ends of lines may differ; lines that say little (``end``) have to be
    indented alike. A text that is nothing but the lines below is empty.
    """
    below = place.below
    if not below or (place.line_after.strip() and "\n" not in text):
        return text
    lines = text.split("\n")
    lines[0] = place.line_before + lines[0]
    wanted = [normal(line, place.language) for line in below]
    written = normal_lines(lines, place)
    typed = bool(place.line_before.strip())
    for start in range(len(lines)):
        if not _repeats(lines, written, below, wanted, start, growing=place.growing, typed=typed):
            continue
        return "" if start == 0 else "\n".join(text.split("\n")[:start])
    return text


def normal(line: str, language: Language) -> str:
    """A line without white space outside its strings and without a comment behind its code."""
    kept, position = "", 0
    for token in tokens(line, language):
        kept += "".join(line[position : token.start].split())
        if token.kind is ScopeKind.STRING:
            kept += line[token.start : token.end]
        position = token.end
    return (kept + "".join(line[position:].split())) or "".join(line.split())


def normal_lines(lines: list[str], place: Place) -> list[str]:
    """The lines of a suggestion, normal; of one that is growing, the last may end with half a comment mark."""
    written = [normal(line, place.language) for line in lines]
    mark = place.language.line_comment
    if place.growing and mark:
        written[-1] = normal(lines[-1], place.language).rstrip(mark[0])
    return written


def tells(line: str, least: int = _TELLING) -> bool:
    """Whether a normal line says enough to be recognised."""
    return sum(map(str.isalnum, line)) >= least and line.strip(":{}") not in _COMMON


def _repeats(
    lines: list[str],
    written: list[str],
    below: tuple[str, ...],
    wanted: list[str],
    start: int,
    *,
    growing: bool,
    typed: bool,
) -> bool:
    """Whether the lines from `start` on are, or when growing may become, the lines below."""
    rest = [number for number in range(start, len(written)) if written[number]]
    if not rest or rest[0] != start:
        return False
    first = written[start]
    if start and first == wanted[0] and tells(first, _INNER_TELLING) and indent_of(lines[start]) == indent_of(below[0]):
        return True
    if len(rest) > len(wanted):
        return False
    for position, number in enumerate(rest):
        same = written[number] == wanted[position]
        if not same and growing and number == len(written) - 1:
            same = wanted[position].startswith(written[number])
        alike = tells(wanted[position]) or indent_of(lines[number]) == indent_of(below[position])
        if not same or not (alike or (start == 0 and not typed)):
            return False
    if start == 0 and typed:
        return not growing and len(rest) == 1 and tells(first, _TYPED_TELLING)
    return growing or any(set(written[number]) - _CLOSERS for number in rest)
