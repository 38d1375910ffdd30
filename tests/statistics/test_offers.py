"""What counts as shown, accepted, accepted in part and kept."""

from __future__ import annotations

import pytest

from spark_lsp.statistics.counts import MODEL_ALONE, OTHER, Counts, Row
from spark_lsp.statistics.offers import REMEMBERED, OfferBook

DOCUMENT = "file:///a.py"
PYTHON = Row("python", MODEL_ALONE)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Book(OfferBook):
    """With a short way to offer something at the end of a text."""

    def __init__(self) -> None:
        self.clock = Clock()
        super().__init__(self.clock)

    def offer(self, identifier: str, before: str, text: str, document: str = DOCUMENT) -> None:
        self.offered(identifier, document, "python", before, len(before), text)

    def counts(self) -> Counts:
        table = self.take()
        assert set(table) <= {PYTHON}
        return table.get(PYTHON, Counts())


@pytest.fixture
def book() -> Book:
    return Book()


def test_an_answered_suggestion_counts_as_shown_once(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    assert book.total.shown == 1
    assert book.take() == {PYTHON: Counts(shown=1, shown_characters=9)}
    assert book.take() == {}
    assert book.total.shown == 1


@pytest.mark.parametrize(
    ("offers", "shown"),
    [
        ([("x = ", "compute()"), ("x = c", "ompute()"), ("x = comp", "ute()")], 1),
        ([("x = ", "com"), ("x = ", "compute()"), ("x = c", "ompute() + 1")], 1),
        ([("x = ", "compute()"), ("x = ", "concat()"), ("x = ", "count")], 1),
        ([("x = ", "compute()"), ("x = z", "ip()")], 2),
        ([("x = ", "compute()"), ("y = ", "compute()")], 2),
        ([("x = c", "ompute()"), ("x = ", "compute()")], 2),
        ([("x = ", "a"), ("y", "b"), ("x = ", "a")], 3),
    ],
    ids=["typed along", "grown", "to choose from", "another", "elsewhere", "deleted again", "come back"],
)
def test_a_suggestion_that_goes_on_is_one_suggestion(book: Book, offers: list[tuple[str, str]], shown: int) -> None:
    for number, (before, text) in enumerate(offers):
        book.offer(str(number), before, text)
    assert book.total.shown == shown
    assert book.counts().shown == shown


def test_any_of_its_offers_can_be_accepted_and_only_once(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    book.offer("2", "x = c", "ompute()")
    assert book.accepted("1")
    assert not book.accepted("2")
    assert not book.accepted("1")
    assert book.counts() == Counts(shown=1, accepted=1, shown_characters=9, accepted_characters=9)


def test_after_an_accept_the_same_text_is_a_new_suggestion(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    book.accepted("1")
    book.offer("2", "x = ", "compute()")
    assert book.counts().shown == 2


def test_without_an_identifier_the_latest_is_meant_and_an_unknown_one_counts_for_no_language(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    assert book.accepted()
    assert not book.accepted("never heard of")
    assert book.take() == {
        PYTHON: Counts(shown=1, accepted=1, shown_characters=9, accepted_characters=9),
        Row(OTHER, OTHER): Counts(shown=1, accepted=1),
    }


def test_of_a_client_that_tells_what_it_shows_only_that_counts(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    book.shown("1")
    book.shown("1")
    book.offer("2", "y = ", "hidden()")
    book.offer("3", "z = ", "shown()")
    book.shown()
    assert book.counts().shown == 2
    book.offer("4", "u = ", "accepted()")
    book.accepted("4")
    assert book.counts() == Counts(shown=1, accepted=1, shown_characters=10, accepted_characters=10)


def test_parts_are_cumulative_and_one_suggestion_counts_once_as_taken_in_part(book: Book) -> None:
    book.offer("1", "x = ", "compute(1, 2)")
    for characters in (3, 7, 7, 5, 0, -4):
        book.partially_accepted(characters, "1")
    assert book.counts() == Counts(shown=1, partially_accepted=1, shown_characters=13, accepted_characters=7)
    book.accepted("1")
    assert book.counts() == Counts(accepted=1, accepted_characters=6)
    book.partially_accepted(1000, "1")
    assert book.counts() == Counts()


def test_a_part_cannot_be_more_than_the_whole(book: Book) -> None:
    book.offer("1", "x = ", "ab")
    book.partially_accepted(1000)
    assert book.counts().accepted_characters == 2


def test_parts_and_showings_of_nothing_do_not_count(book: Book) -> None:
    book.shown("x")
    book.partially_accepted(3)
    assert book.take() == {}


def test_the_drafter_that_wrote_the_text_is_counted_with_it(book: Book) -> None:
    book.wrote(DOCUMENT, "compute()", "document")
    book.wrote(DOCUMENT, "other()", "")
    book.wrote("file:///b.py", "compute()", "previous")
    book.offer("1", "x = ", "comp")  # answered at the deadline, before it was written to the end
    book.offer("2", "y = ", "other()")
    assert {row.drafter: counts.shown for row, counts in book.take().items()} == {"document": 1, MODEL_ALONE: 1}


def test_the_drafter_may_be_known_only_after_the_answer(book: Book) -> None:
    book.offer("1", "x = ", "comp")
    book.wrote(DOCUMENT, "compute()", "workspace")
    assert set(book.take()) == {Row("python", "workspace")}


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("x = compute()", True),
        ("import os\nx = compute()\n", True),
        ("x = compute()\ny = 1", True),
        ("x = compute( )", True),
        ("x = compute(1)", False),
        ("x = ", False),
        ("", False),
        ("x = zompute()", False),
    ],
    ids=[
        "as it was",
        "moved by an edit above",
        "edited below",
        "formatted",
        "changed",
        "undone",
        "all deleted",
        "overwritten",
    ],
)
@pytest.mark.parametrize("command_first", [False, True], ids=["text, then command", "command, then text"])
def test_a_text_is_kept_if_it_still_stands_when_the_time_is_over(
    book: Book, after: str, kept: bool, command_first: bool
) -> None:
    before, inserted = "x = ", "x = compute()"
    book.offer("1", before, "compute()")
    if command_first:
        book.accepted("1")
        book.edited(DOCUMENT, before, inserted)
    else:
        book.edited(DOCUMENT, before, inserted)
        book.accepted("1")
        book.look(DOCUMENT, inserted)
    book.edited(DOCUMENT, inserted, after)
    book.judge(lambda document: after)
    assert book.total.kept == 0, "not before its time"
    book.clock.now += book.kept_seconds
    book.judge(lambda document: after)
    assert book.total.kept == kept
    assert not book.follows(DOCUMENT)


def test_a_text_in_another_place_is_not_the_one_that_was_accepted(book: Book) -> None:
    book.offer("1", "x = ", ")")
    book.accepted("1")
    book.edited(DOCUMENT, "x = ", "x = \nf()")
    book.clock.now += book.kept_seconds
    book.judge(lambda document: "x = \nf()")
    assert book.total.kept == 0


def test_when_a_document_is_closed_its_texts_are_judged_as_they_stand(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    book.accepted("1")
    book.edited(DOCUMENT, "x = ", "x = compute()")
    assert book.follows(DOCUMENT)
    book.closed(DOCUMENT, "x = compute()")
    assert book.total.kept == 1
    assert not book.follows(DOCUMENT)
    assert book.due_in() is None


def test_what_is_remembered_is_bounded(book: Book) -> None:
    for number in range(2 * REMEMBERED):
        book.offer(str(number), "a" * number, "text")
        book.accepted(str(number))
    assert len(book._offers) == len(book._accepted) == REMEMBERED
    assert book.counts().accepted == 2 * REMEMBERED


def test_counts_that_could_not_be_kept_are_counted_again(book: Book) -> None:
    book.offer("1", "x = ", "compute()")
    table = book.take()
    book.offer("2", "y = ", "compute()")
    book.give_back(table)
    assert book.counts().shown == 2
    assert book.total.shown == 2
