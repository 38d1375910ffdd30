"""Closing brackets and quotes that the text after the cursor has already."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.brackets import CLOSER_OF, OPENER_OF, OpenBracket, braces_make_blocks, brackets_in, unmet
from spark_lsp.syntax.indentation import indent_of
from spark_lsp.syntax.lexical import ScopeKind, tokens

_IN_LINE = frozenset("\"'`")


def balance_quotes(text: str, place: Place) -> str:
    """Return `text` without the quote that ends the cursor's string, and all behind it, if the quote is there already.

    A text that ends the string and begins another one is kept: the quote that is there ends that one.
    """
    quote = place.openness.quote
    closer = quote.removeprefix("r#") + "#" if quote == 'r#"' else quote
    if not quote or quote[-1] not in _IN_LINE:
        return text
    if not place.openness.quote_closed:
        return text
    found = [token for token in tokens(quote + text, place.language) if token.kind is ScopeKind.STRING]
    same = [token for token in found if (quote + text).startswith(quote, token.start)]
    if not same or not same[-1].closed:
        return text.rstrip(quote[-1]) if place.growing and len(quote) > 1 else text
    end = same[-1].end - len(quote) - len(closer)
    return text[:end] if text.startswith(closer, end) else text


def balance_closers(text: str, place: Place) -> str:
    """Return the longest beginning of `text` after which the closers behind the cursor have something to close.

    What a closer on the cursor's line has found to close in the suggestion, it keeps: with ``x = |)``, ``f(a)`` becomes
    ``f(a``.

    So with ``f(|)``, ``a)`` becomes ``a``; but ``a) + g(b`` stays, as it opens another bracket on the same line for the
    closer that is there. A closer that the text behind the cursor lacks is kept, and where it is the brace of the
    cursor's block, its line is the last one.
    """
    openness = place.openness
    stack = list(openness.brackets)
    outer = len(stack)  # so many of the stack were opened before the cursor
    least_here, least = unmet(stack, openness.needed)
    braces = braces_make_blocks(place.language)
    good, fits, ended, begin = 0, True, False, 0
    for position, bracket in [*brackets_in(text, place.language, openness.quote), (len(text), "")]:
        newline = text.find("\n", begin, position)
        if newline != -1 and not fits:
            return text[:good]
        if newline != -1 and ended and len(stack) <= outer:
            return text[:newline]
        begin = position
        if bracket in CLOSER_OF:
            stack.append(OpenBracket(bracket, _column(text, position, place)))
        elif bracket:
            index = _closed_by(stack, outer, OPENER_OF[bracket])
            if index is None:
                if not stack and place.line_after.lstrip().startswith(bracket):
                    return text[:position]
                continue
            opener = stack[index].opener
            del stack[index:]
            own, outer = index >= outer, min(outer, index)
            if not own and opener == "{" and braces and unmet(stack, openness.needed)[1] <= least:
                ended = True
        here, all_ = unmet(stack, openness.needed)
        now = here <= least_here and all_ <= least
        least_here = min(least_here, here)
        if fits and not now:
            good = position
        fits = now
    return text if fits else text[:good]


def _closed_by(stack: list[OpenBracket], outer: int, opener: str) -> int | None:
    """The innermost bracket of a kind; None if one of another kind that the suggestion did not open is in between."""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index].opener == opener:
            return index
        if index < outer:
            return None
    return None


def _column(text: str, position: int, place: Place) -> int:
    newline = text.rfind("\n", 0, position)
    line = text[newline + 1 : position]
    return indent_of((line if newline != -1 else place.line_before + line) + ".")
