"""The smallest edit between two texts, and which changes are no repairs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.repair.difference import Edit, in_document, smallest_edit, too_much


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("return lenght", "return length", Edit(11, 13, "th")),
        ("if x", "if x:", Edit(4, 4, ":")),
        ("aa", "aaa", Edit(2, 2, "a")),
        ("same", "same", Edit(4, 4, "")),
    ],
)
def test_the_edit_is_the_smallest_differing_span(old: str, new: str, edit: Edit) -> None:
    assert smallest_edit(old, new) == edit


@settings(max_examples=50, deadline=None)
@given(st.text("ab\n"), st.text("ab\n"))
def test_the_edit_makes_one_text_of_the_other(old: str, new: str) -> None:
    assert smallest_edit(old, new).applied(old) == new


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_line_ends_that_the_edit_does_not_touch_stay(eol: str) -> None:
    above, old, new = "first\n", "one\ntwo\nthree", "one\n2\nand\nthree"
    document = (above + old).replace("\n", eol)
    edit = in_document(smallest_edit(old, new), document, len(above.replace("\n", eol)), eol)
    assert edit.applied(document) == (above + new).replace("\n", eol)


def test_mixed_line_ends_stay_as_they_are() -> None:
    document = "a\r\nb\nwrng\r\nd"
    edit = in_document(smallest_edit("b\nwrng\nd", "b\nwrong\nd"), document, 3, "\n")
    assert edit.applied(document) == "a\r\nb\nwrong\r\nd"


RIGHT = "    total = 0\n    for order in orders:\n        total += order.amount\n    return total"


@pytest.mark.parametrize(
    ("new", "may_delete", "refused"),
    [
        (RIGHT.replace("total = 0", "total = 0.0"), False, False),
        (RIGHT.replace("        total +=", "    total +="), False, False),
        (f"    import os\n{RIGHT}", False, False),
        (RIGHT.replace("    total = 0\n", ""), False, True),
        (RIGHT.replace("    total = 0\n", ""), True, False),
        (RIGHT.replace("total += order.amount", "pass"), False, True),
        (RIGHT.replace("        total", "        # total"), False, True),
        ("    return sum(order.amount for order in orders)", True, True),
        (RIGHT + "\n    a()\n    b()\n    c()\n    d()\n    e()", False, True),
    ],
)
def test_what_changes_too_much_is_refused_with_a_sentence(new: str, may_delete: bool, refused: bool) -> None:
    sentence = too_much(RIGHT, new, may_delete=may_delete)
    assert (sentence is not None) is refused
    assert sentence is None or sentence.endswith(".")
