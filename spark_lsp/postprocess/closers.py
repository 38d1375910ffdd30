"""Closing brackets and quotes that the text after the cursor has already."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place
from spark_lsp.syntax.brackets import CLOSER_OF, OPENER_OF, braces_make_blocks, brackets_in
from spark_lsp.syntax.lexical import ScopeKind, tokens

_IN_LINE = frozenset("\"'`")
_QUOTE_WITHIN = 2000
"""Characters after the cursor in which the end of a string over several lines is looked for."""


def balance_quotes(text: str, place: Place) -> str:
    """Return `text` without the quote that ends the cursor's string, and all behind it, if the quote is there already.

    A text that ends the string and begins another one is kept: the quote that is there ends that one.
    """
    quote = place.openness.quote
    closer = quote.removeprefix("r#") + "#" if quote == 'r#"' else quote
    if not quote or quote[-1] not in _IN_LINE:
        return text
    after = place.line_after if len(quote) == 1 else "\n".join((place.line_after, *place.lines_below))[:_QUOTE_WITHIN]
    if closer not in after:
        return text
    found = [token for token in tokens(quote + text, place.language) if token.kind is ScopeKind.STRING]
    same = [token for token in found if (quote + text).startswith(quote, token.start)]
    if not same or not same[-1].closed:
        return text.rstrip(quote[-1]) if place.growing and len(quote) > 1 else text
    end = same[-1].end - len(quote) - len(closer)
    return text[:end] if text.startswith(closer, end) else text


def balance_closers(text: str, place: Place) -> str:
    """Return the longest beginning of `text` after which the brackets fit the text after the cursor.

    A closer whose bracket the text after the cursor closes is one too many, unless the suggestion opens another such
    bracket on the same line for it: with ``f(|)``, ``a)`` becomes ``a``, and ``a) + g(b`` stays. A closer that the text
    after the cursor lacks is kept, and where it is the brace of the cursor's block, the line that ends with it is the
    last one.
    """
    stack: list[tuple[str, int | None, bool]] = [(one.opener, one.closer, False) for one in place.openness.brackets]
    taken: list[str] = []
    good, fits, ended, opened_after = len(text), True, False, 0
    rest = place.line_after.lstrip()
    markup = braces_make_blocks(place.language)
    events = [*brackets_in(text, place.language, place.openness.quote), (len(text), "")]
    previous = 0
    for position, bracket in events:
        if ended and not opened_after and "\n" in text[previous:position]:
            newline = text.index("\n", previous)
            return text[: newline if fits else good]
        previous = position
        if not bracket:
            break
        if bracket in CLOSER_OF:
            stack.append((bracket, None, True))
            opened_after += ended
        else:
            index = _match(stack, OPENER_OF[bracket])
            if index is None:
                if rest.startswith(bracket) and not stack:
                    return text[: position if fits else good]
                continue
            opener, closer, ours = stack[index]
            del stack[index:]
            if ours:
                opened_after = max(0, opened_after - 1)
            elif closer is None:
                ended = ended or (opener == "{" and markup)
            else:
                if closer >= len(place.line_after) or "\n" in text[:position]:
                    return text[: position if fits else good]
                taken.append(opener)
        now = _fits(stack, taken)
        if fits and not now:
            good = position
        fits = now
    return text if fits else text[:good]


def _match(stack: list[tuple[str, int | None, bool]], opener: str) -> int | None:
    """The innermost bracket that a closer of this kind closes; one before the cursor only if none of ours is open."""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index][0] == opener:
            return index
        if not stack[index][2] and stack[index][1] is not None:
            return None
    return None


def _fits(stack: list[tuple[str, int | None, bool]], taken: list[str]) -> bool:
    if not taken:
        return True
    ours = [opener for opener, _, is_ours in reversed(stack) if is_ours]
    return ours == taken
