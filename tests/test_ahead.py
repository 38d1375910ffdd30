"""Which place is computed next."""

from __future__ import annotations

import pytest

from spark_lsp.ahead import MOST_AHEAD, MOST_CHARACTERS, Ahead, accepted, leads_to
from spark_lsp.completion import CompletionRequest
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.syntax.languages import PLAIN


def place(marked: str, document: str = "doc") -> CompletionRequest:
    return CompletionRequest(document, TextSnapshot.of(marked.replace("█", "")), marked.index("█"), PLAIN)


def marked(request: CompletionRequest | None) -> str:
    if request is None:
        return ""
    text = request.snapshot.text
    return f"{text[: request.cursor]}█{text[request.cursor :]}"


def test_it_is_where_the_suggestion_ends_once_it_was_accepted() -> None:
    ahead = Ahead()
    assert ahead.next is None
    ahead.shown(place("a = █\nb"), "f(\n    x)")
    assert marked(ahead.next) == "a = f(\n    x)█\nb"


def test_line_ends_are_those_of_the_document() -> None:
    assert marked(accepted(place("a\r\n█\r\n"), "b\nc")) == "a\r\nb\r\nc█\r\n"


def test_it_goes_on_so_far_and_no_further() -> None:
    ahead, computed = Ahead(), 0
    ahead.shown(place("█"), "a")
    while ahead.next is not None:
        computed += 1
        ahead.computed(ahead.next, "a")
    assert computed == MOST_AHEAD


def test_nothing_follows_where_nothing_is_suggested() -> None:
    ahead = Ahead()
    ahead.shown(place("█"), "a")
    following = ahead.next
    assert following is not None
    ahead.computed(following, "")
    assert marked(ahead.next) == ""
    ahead.shown(place("█"), "a")
    assert marked(ahead.next) == "", "that is known now"


def test_what_was_computed_is_not_computed_again() -> None:
    ahead = Ahead()
    ahead.shown(place("█"), "ab")
    while ahead.next is not None:
        ahead.computed(ahead.next, "ab")
    ahead.shown(place("a█"), "b")
    assert ahead.next is None, "the same suggestion, a letter of it typed"
    ahead.shown(place("ab█"), "ab")
    assert marked(ahead.next) == "ab" * (MOST_AHEAD + 1) + "█", "accepted: one more"


@pytest.mark.parametrize(
    ("edited", "kept"),
    [
        ("f█\nend", True),
        ("foo█\nend", True),
        ("g█\nend", False),
        ("fooo█\nend", False),
        ("f█\nends", False),
        ("█", False),
    ],
)
def test_an_edit_that_leads_elsewhere_ends_it(edited: str, kept: bool) -> None:
    ahead = Ahead()
    ahead.shown(place("█\nend"), "foo")
    ahead.edited(place(edited))
    assert (ahead.next is not None) is kept


@pytest.mark.parametrize("edited", [place("f█", "other"), None], ids=["another document", "nobody knows where"])
def test_an_edit_elsewhere_ends_it(edited: CompletionRequest | None) -> None:
    ahead = Ahead()
    ahead.shown(place("█"), "foo")
    ahead.edited(edited)
    assert ahead.next is None


def test_what_cannot_be_computed_is_given_up() -> None:
    ahead = Ahead()
    ahead.shown(place("█"), "foo")
    ahead.give_up()
    assert ahead.next is None


def test_a_huge_document_is_left_alone() -> None:
    ahead = Ahead()
    ahead.shown(place("x" * (MOST_CHARACTERS + 1) + "█"), "a")
    assert ahead.next is None


def test_leading_somewhere_includes_being_there() -> None:
    assert leads_to(place("a█b"), place("a█b"))
    assert not leads_to(place("a█b", "other"), place("a█b"))
