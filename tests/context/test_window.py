"""Where the window's marks stand, and that they stay there while somebody types."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.window import (
    START_STEP_LINES,
    TAIL_MAX_CHARACTERS,
    TAIL_MAX_LINES,
    TAIL_MIN_LINES,
    CompletionContext,
    WindowLimits,
    choose_window,
    outgrown,
)
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.languages import PLAIN, language_for
from spark_lsp.syntax.parser import parse

LIMITS = WindowLimits(prefix_tokens=512, suffix_tokens=128)
PYTHON = language_for("python", "x.py")


def window(marked: str, previous: CompletionContext | None = None, limits: WindowLimits = LIMITS) -> CompletionContext:
    text = marked.replace("█", "")
    return choose_window(previous, TextSnapshot.of(text), parse(text, PYTHON), marked.index("█"), limits)


def numbered(count: int, first: int = 0) -> str:
    return "".join(f"line_{number} = {number}\n" for number in range(first, first + count))


def test_the_parts_join_to_the_text_around_the_cursor() -> None:
    context = window(numbered(20) + "x = █\n" + numbered(3))
    assert context.above + context.tail == numbered(20) + "x = "
    assert context.below == "\n" + numbered(3)


def test_the_anchor_stands_some_lines_above_the_cursor_at_the_start_of_a_line() -> None:
    context = window(numbered(100) + "x = █")
    assert context.tail == "".join(numbered(TAIL_MIN_LINES, 100 - TAIL_MIN_LINES)) + "x = "


def test_the_anchor_goes_up_to_the_start_of_the_enclosing_function() -> None:
    body = "".join(f"    a{number} = {number}\n" for number in range(20))
    context = window(numbered(30) + "def f():\n" + body + "    return █\n")
    assert context.tail.startswith("def f():\n")


def test_typing_moves_no_mark_for_as_many_lines_as_the_tail_may_have() -> None:
    before, after = numbered(100), "\n" + numbered(20)
    context = first = window(before + "█" + after)
    typed = ""
    for number in range(TAIL_MAX_LINES - TAIL_MIN_LINES - 1):
        for key in (f"y{number}", " = ", f"{number}", "\n"):
            typed += key
            context = window(before + typed + "█" + after, context)
            assert (context.above, context.below) == (first.above, first.below)
            assert context.tail == first.tail + typed


def test_a_tail_that_outgrows_its_bound_gets_a_new_anchor() -> None:
    before = numbered(100)
    context = window(before + "█")
    grown = window(before + numbered(TAIL_MAX_LINES, 500) + "█", context)
    assert grown.anchor > context.anchor
    assert grown.tail.count("\n") == TAIL_MIN_LINES


def test_an_edit_above_the_window_shifts_it_and_changes_no_text() -> None:
    context = window(numbered(300) + "x = █" + "\n")
    shifted = window("# new\n" * 3 + numbered(300) + "x = 1█" + "\n", context)
    assert shifted.above == context.above
    assert shifted.start == context.start + len("# new\n" * 3)


def test_an_edit_within_the_text_above_the_anchor_makes_a_new_window() -> None:
    before = numbered(40)
    context = window(before + "x = █")
    edited = window(before.replace("line_5 ", "line_five ") + "x = █", context)
    assert "line_five" in edited.above


def test_when_only_the_text_after_the_cursor_changes_the_part_above_stays() -> None:
    context = window(numbered(50) + "f(█" + "\nend\n")
    changed = window(numbered(50) + "f(█" + "\nother\n", context)
    assert (changed.above, changed.anchor) == (context.above, context.anchor)
    assert changed.below == "\nother\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [("\nend\n", ")\nend\n"), (")\nend\n", "\nend\n"), ("\nend\n", '"])\nend\n'), ("}\nend\n", "\n    }\nend\n")],
    ids=["a closer came", "a closer was typed over", "several came", "enter between braces"],
)
def test_closers_that_the_editor_puts_or_takes_change_nothing(before: str, after: str) -> None:
    context = window(numbered(50) + "f█" + before)
    closed = window(numbered(50) + "f(█" + after, context)
    assert (closed.above, closed.below) == (context.above, context.below)
    assert closed.tail == context.tail + "("
    assert closed.end is None


def test_code_that_came_behind_the_cursor_is_seen() -> None:
    context = window(numbered(50) + "f(█" + "\nend\n")
    assert window(numbered(50) + "f(█" + ", b)\nend\n", context).below == ", b)\nend\n"


def test_a_long_tail_is_told_before_it_has_to_go() -> None:
    context = window(numbered(100) + "█")
    assert not outgrown(context)
    grown = window(numbered(100) + numbered(40, 500) + "█", context)
    assert grown.anchor == context.anchor
    assert outgrown(grown)


def test_a_cursor_above_the_anchor_gets_a_new_one() -> None:
    text = numbered(100)
    context = window(text + "█")
    middle = len(numbered(50))
    moved = window(text[:middle] + "█" + text[middle:], context)
    assert moved.anchor < moved.cursor
    assert moved.tail.count("\n") == TAIL_MIN_LINES


def test_the_window_start_moves_in_steps() -> None:
    starts = {window(numbered(count) + "█").start for count in range(200, 260)}
    assert len(starts) <= 60 // START_STEP_LINES + 2


def test_the_window_keeps_its_bounds() -> None:
    context = window(numbered(1000) + "█" + numbered(1000, 2000))
    assert len(context.above) <= LIMITS.prefix_tokens * 3.2
    assert len(context.below) <= LIMITS.suffix_tokens * 3.2
    assert context.below.endswith("\n")


def test_a_minified_line_of_a_megabyte_is_cut_inside() -> None:
    text = "a=1;" * 250_000
    context = choose_window(None, TextSnapshot.of(text), parse(text, PLAIN), 500_000, LIMITS)
    assert len(context.tail) <= TAIL_MAX_CHARACTERS
    assert context.tail == text[context.anchor : 500_000]


def test_carriage_returns_do_not_reach_the_model() -> None:
    context = window("a = 1\r\nb = 2\r\nc = █\r\nd\r\n")
    assert "\r" not in context.above + context.tail + context.below
    assert context.raw_below == "\r\nd\r\n"


def test_a_model_without_fim_tokens_gets_no_suffix() -> None:
    assert window("a\n█b\nc\n", limits=WindowLimits(512, 0)).below == ""


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["x", "\n", "\r\n", "    ", "def f():\n", "é", "😀", "left", "back"]), max_size=60))
def test_a_kept_window_always_shows_the_current_text(keys: list[str]) -> None:
    text, cursor = "import os\n\n", len("import os\n\n")
    context: CompletionContext | None = None
    for key in keys:
        if key == "left":
            cursor = max(0, cursor - 3)
        elif key == "back":
            text, cursor = text[: max(0, cursor - 1)] + text[cursor:], max(0, cursor - 1)
        else:
            text, cursor = text[:cursor] + key + text[cursor:], cursor + len(key)
        context = choose_window(context, TextSnapshot.of(text), parse(text, PYTHON), cursor, LIMITS)
        assert text[context.start : context.anchor] == context.raw_above
        if context.end is not None:
            assert text[cursor : context.end] == context.raw_below
        assert context.start <= context.anchor <= context.cursor == cursor
