from __future__ import annotations

import pytest

from benchmarks.replay.policy import AcceptPolicy, policy_of, right_characters


@pytest.mark.parametrize(
    ("text", "rest", "accepted"),
    [
        ("return value", "return value\nx = 1", "return value"),
        ("return value\n", "return value", "return value"),
        ("return value\nreturn other", "return value\nx = 1", "return value"),
        ("return other", "return value", "return"),
        ("returned", "return value", ""),
        ("re", "return", ""),
        ("    return value", "    return value", "    return value"),
        (" + second", " + first", ""),
        ("items[0]", "items[1]", ""),
        ("items.append(x)", "items.append(y)", ""),
        ("anything", "", ""),
        ("\n\n", "\n\nx", ""),
    ],
)
def test_what_is_right_is_accepted_whole_or_the_first_line_or_the_first_word(
    text: str, rest: str, accepted: str
) -> None:
    assert text[: AcceptPolicy().accepted(text, rest)] == accepted


@pytest.mark.parametrize(
    ("names", "accepted"),
    [("whole", ""), ("whole,line", "return value"), ("word", "return"), ("line", "return value")],
)
def test_the_policy_can_be_stricter(names: str, accepted: str) -> None:
    text = "return value\nreturn other"
    assert text[: policy_of(names).accepted(text, "return value\nx = 1")] == accepted


def test_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="made of whole, line and word"):
        policy_of("whole,half")


@pytest.mark.parametrize(
    ("text", "rest", "right"),
    [("abc", "abd", 2), ("abc\n", "abc", 4), ("abc", None, 0), ("", "abc", 0), ("abc", "", 0)],
)
def test_right_characters_are_those_before_the_first_difference(text: str, rest: str | None, right: int) -> None:
    assert right_characters(text, rest) == right
