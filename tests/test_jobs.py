"""A running job goes on while the user types what it writes."""

from __future__ import annotations

import pytest

from spark_lsp.completion import Completion, CompletionRequest, Reason
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.jobs import Job, rest_of, typed_along
from spark_lsp.syntax.languages import PLAIN


def place(marked: str, *, document: str = "doc", invoked: bool = False) -> CompletionRequest:
    text = marked.replace("█", "")
    return CompletionRequest(document, TextSnapshot.of(text), marked.index("█"), PLAIN, invoked=invoked)


def job(marked: str, seen: list[str] | None = None, *, invoked: bool = False) -> Job:
    return Job(place(marked, invoked=invoked), seen.append if seen is not None else lambda text: None)


@pytest.mark.parametrize(
    ("older", "newer", "typed"),
    [
        ("a█b", "a█b", ""),
        ("a█b", "axy█b", "xy"),
        ("a█b", "ax\r\n█b", "x\n"),
        ("a█b", "ax█yb", None),
        ("a█b", "axy█", None),
        ("a█b", "cxy█b", None),
        ("ax█b", "a█b", None),
        ("a█b", "a█bx", None),
        ("aa█", "aaa█", "a"),
    ],
)
def test_what_was_typed_between_two_requests(older: str, newer: str, typed: str | None) -> None:
    assert typed_along(place(older), place(newer)) == typed
    assert typed_along(place(older), place(newer, document="other")) is None


@pytest.mark.parametrize(
    ("text", "newer", "agrees"),
    [
        ("foo", "f█", True),
        ("foo", "foo█", True),
        ("foo", "█", True),
        ("", "█", True),
        ("", "f█", False),
        ("foo", "fooo█", False),
        ("foo", "g█", False),
    ],
)
def test_a_job_agrees_with_what_it_has_written_and_with_nothing_else(text: str, newer: str, agrees: bool) -> None:
    running = job("█")
    running.grow(text)
    assert running.agrees_with(place(newer)) is agrees
    running.cancelled = True
    assert not running.agrees_with(place(newer))


def test_what_is_shown_to_who_asks_is_not_shown_to_who_did_not() -> None:
    assert job("█").agrees_with(place("█", invoked=True))
    assert not job("█", invoked=True).agrees_with(place("█"))


def test_a_follower_sees_the_rest_grow_and_is_answered_with_it() -> None:
    old_seen: list[str] = []
    new_seen: list[str] = []
    old, new = job("█", old_seen), job("f█", new_seen)
    old.grow("fo")
    old.resolve(Completion("", Reason.SUPERSEDED))
    old.followed_by(new)
    old.grow("foo")
    assert old.finish(Completion("fooo", Reason.SHOWN, if_invoked="fooo\nbar")) is None
    assert (old_seen, new_seen) == (["fo"], ["o", "oo"])
    assert old.result.result().reason is Reason.SUPERSEDED
    assert old.outcome.result().text == "fooo"
    assert new.result.result() == Completion("ooo", Reason.SHOWN, if_invoked="ooo\nbar")
    assert new.outcome.result() == new.result.result()


@pytest.mark.parametrize("text", ["", "f", "go"])
def test_a_follower_that_gets_no_answer_needs_a_job_of_its_own(text: str) -> None:
    old, new = job("█"), job("f█")
    old.grow("foo")
    old.followed_by(new)
    assert old.finish(Completion(text, Reason.SHOWN)) is new
    assert not new.result.done()
    assert new.following is None


def test_a_newer_follower_takes_the_place_of_the_one_before() -> None:
    old, first, second = job("█"), job("f█"), job("fo█")
    old.grow("foo")
    old.followed_by(first)
    old.resolve(Completion("", Reason.SUPERSEDED))
    old.followed_by(second)
    assert first.result.result().reason is Reason.SUPERSEDED
    assert old.finish(Completion("foo", Reason.SHOWN)) is None
    assert second.result.result().text == "o"


@pytest.mark.parametrize(
    ("text", "if_invoked", "typed", "invoked", "rest"),
    [
        ("abc", "abcd", "a", False, ("bc", "bcd")),
        ("abc", "abcd", "abc", False, None),
        ("abc", "abcd", "abc", True, ("d", "d")),
        ("abc", "abcd", "b", True, None),
        ("", "ab", "", False, ("", "ab")),
    ],
)
def test_what_is_left_of_a_completion(
    text: str, if_invoked: str, typed: str, invoked: bool, rest: tuple[str, str] | None
) -> None:
    left = rest_of(Completion(text, Reason.SHOWN, if_invoked=if_invoked), typed, invoked=invoked)
    assert ((left.text, left.if_invoked) if left is not None else None) == rest
