"""Indentation as the buffer has it."""

from __future__ import annotations

import re

from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.indentation import indent_of

_TAB = "\t"
_STEP_OF_TABS = 4
"""Spaces that a model writes for a tab where its own step cannot be seen."""
_ENDS_STATEMENT = re.compile(r"[;}]\s*$")
_FREE = frozenset({"yaml", "markdown", "rst", "plaintext", "haskell", "elm", "fsharp", "nim"})
"""Languages in which a line may stand deeper than the one above although that opens nothing."""


def fit_indentation(text: str, place: Place) -> str:
    """Return `text` with lines indented by tabs or by spaces, and in steps, as the document is.

    Blanks at the start of a text are dropped where the cursor is already indented for it. Lines inside a string or a
    comment stay as they are.
    """
    if place.openness.quote:
        return text
    lines = text.split("\n")
    lines[0] = _fit_first(lines[0], place)
    opener = _opener(lines, place)
    base = opener[: len(opener) - len(opener.lstrip())]
    mixed = bool(base.strip(place.unit[:1]))
    if len(lines) > 1 and place.unit and not mixed:
        step = _step(lines, base, place)
        lines[1:] = [_fit(line, base, step, place.unit) for line in lines[1:]]
    return "\n".join(lines)


def _fit_first(line: str, place: Place) -> str:
    before = place.line_before
    if before.strip() or not line[:1].isspace() or not line.strip():
        return line
    above, unit = place.line_above, place.unit or "    "
    known = place.language.indent_blocks or _ENDS_STATEMENT.search(above) or place.opens(above)
    inside = place.openness.brackets and (place.language.indent_blocks or place.openness.brackets[-1].opener != "{")
    if not above or not known or inside or place.language.name in _FREE:
        return line
    wanted = indent_of(above) + (indent_of(unit + ".") if place.opens(above) else 0)
    blank = before + line[: len(line) - len(line.lstrip())]
    if indent_of(blank + ".") <= max(wanted, indent_of(before + ".")):
        return line if before or _TAB not in unit else _TAB * (indent_of(blank + ".") // 8) + line.lstrip()
    code = line.lstrip()
    missing = wanted - indent_of(before + ".")
    if missing <= 0:
        return code
    return (_TAB * (missing // 8) if unit == _TAB else " " * missing) + code


def _opener(lines: list[str], place: Place) -> str:
    """The line under which the second line of the suggestion stands: its own first one, or the one above the cursor."""
    first = place.line_before + lines[0]
    return first if first.strip() else place.line_above


def _step(lines: list[str], base: str, place: Place) -> int:
    """How many spaces the model takes for a step, by its first line inside the block; 0 if that says nothing."""
    first = next((line for line in lines[1:] if line.strip()), "")
    blank = first[: len(first) - len(first.lstrip())]
    opener = _opener(lines, place)
    if (
        place.language.name in _FREE or _TAB in blank or not place.opens(opener) or opener.rstrip()[-1] in "(["
    ):  # arguments are aligned freely
        return 0
    if _TAB in base:
        step, odd = divmod(len(blank), base.count(_TAB) + 1)
        return 0 if odd else step
    deeper = len(blank) - len(base)
    return deeper if deeper in (1, 2, 3, 4, 8) else 0


def _fit(line: str, base: str, step: int, unit: str) -> str:
    code = line.lstrip()
    blank = line[: len(line) - len(code)]
    if not code:
        return ""
    if unit == _TAB:
        if " " not in blank:
            return line
        own = blank[len(base) :] if base and blank.startswith(base) else blank
        start = base if base and blank.startswith(base) else ""
        spaces = own.expandtabs(step or _STEP_OF_TABS)
        tabs, rest = divmod(len(spaces), step or _STEP_OF_TABS)
        return start + _TAB * tabs + " " * rest + code
    if _TAB in blank:
        return blank.replace(_TAB, unit) + code
    deeper = len(blank) - len(base)
    if step and step != len(unit) and deeper > 0 and deeper % step == 0:
        return base + unit * (deeper // step) + code
    return line
