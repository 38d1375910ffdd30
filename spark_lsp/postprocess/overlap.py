"""The rest of the line, written a second time."""

from __future__ import annotations

from spark_lsp.postprocess.place import Place

_MIN_INNER = 4
"""A shorter rest of the line may well occur inside the suggestion by chance."""
_MIN_PARTIAL = 4
"""Characters of the rest, if not all of it, that count as a repetition at the end of the suggestion."""
_MIN_ENDING = 2
"""Letters that make an ending a repetition although they stand inside a word: the cursor does, too."""
_LONG = 8
"""Letters of a word that is found inside another one, but not by chance."""
_QUOTES = ("'", '"', "`")
_LEFT_TO_BALANCE = frozenset(")]}\"'`,;: \t")
"""A rest of only these is no repetition by itself: `balance_closers` and `drop_separator` look at it."""


def drop_rest_of_line(text: str, place: Place) -> str:
    """Return `text` without what stands right of the cursor already; white space may differ.

    What the suggestion has behind the repeated rest belongs after it, where the cursor is not, so it goes too.
    """
    rest = place.line_after.strip()
    ends_string = rest[:1] in _QUOTES and not place.openness.quote  # the suggestion has to begin that string
    if not rest or (all(character in _LEFT_TO_BALANCE for character in rest) and not ends_string):
        return text
    head, newline, last = text.rpartition("\n")
    cut = _overlap(last, rest, growing=place.growing)
    if cut is None and newline:
        first = text.partition("\n")[0]
        cut = _overlap(first, rest, growing=False)
        return text if cut is None else first[:cut]
    return text if cut is None else head + newline + last[:cut]


def drop_separator(text: str, place: Place) -> str:
    """Return `text` without a final ``,``, ``;``, ``:`` or ``>`` that stands right of the cursor already."""
    rest, kept = place.line_after.lstrip(), text.rstrip()
    if not rest or not kept or kept[-1] != rest[0]:
        return text
    if rest[0] in ",;:":
        return kept[:-1]
    if rest[0] == ">" and len(kept) > 1 and kept[-2] not in "=-":
        plain = kept.replace("=>", "").replace("->", "")
        return kept[:-1] if plain.count(">") > plain.count("<") else text
    return text


def _overlap(line: str, rest: str, *, growing: bool) -> int | None:
    """Where the rest of the line begins in `line`, or None."""
    places = [index for index, character in enumerate(line) if not character.isspace()]
    have = "".join(line[index] for index in places)
    want = "".join(rest.split())
    if len(want) >= _MIN_INNER:
        found = have.find(want)
        while found != -1:
            if _is_no_chance(line, places[found], want):
                return places[found]
            found = have.find(want, found + 1)
    for size in range(min(len(want), len(have)), 0, -1):
        if have.endswith(want[:size]):
            begin = places[len(have) - size]
            if size == len(want) >= _MIN_ENDING:
                return begin
            whole = size == len(want) or (size >= _MIN_PARTIAL and _is_partial(want, size))
            if growing or (whole and _is_no_chance(line, begin, want)):
                return begin
    return None


def _is_partial(want: str, size: int) -> bool:
    part = want[:size]
    inside_word = _is_word(want[size - 1]) and _is_word(want[size])
    return not inside_word and sum(map(str.isalnum, part)) >= 2


def _is_no_chance(line: str, begin: int, want: str) -> bool:
    """Whether what was found is no ending that the word in front of it just happens to have."""
    inside_word = begin and _is_word(want[0]) and _is_word(line[begin - 1])
    return not inside_word or len(want) >= _LONG or not all(map(_is_word, want))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
