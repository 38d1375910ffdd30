"""The plugin's rules one by one; then the plugin on the virtual clock with a scripted server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.replay.clock import run_virtually
from benchmarks.replay.completer import Ghost, Opened
from benchmarks.replay.llama_vim.answers import CAPACITY, Answers, key_of, keys_of
from benchmarks.replay.llama_vim.completer import parse_counters
from benchmarks.replay.llama_vim.hint import hint
from benchmarks.replay.llama_vim.plugin import FIRST_MS, SPECULATIVE_MS, Plugin
from benchmarks.replay.llama_vim.ring import CHUNK_LINES, CHUNKS, Ring, similarity
from benchmarks.replay.llama_vim.window import Window, window, window_after

LINES = ["def a():", "    x = 1", "    return x", "", "def b():"]


# The window


def test_the_line_before_the_cursor_is_apart_from_the_lines_above() -> None:
    assert window(LINES, 1, 6) == Window("def a():\n", "    x ", "= 1\n    return x\n\ndef b():\n", 4, "= 1")


def test_a_blank_line_is_seen_as_an_empty_one() -> None:
    assert window([*LINES[:3], "    "], 3, 4) == Window("def a():\n    x = 1\n    return x\n", "", "\n\n", 0, "")


def test_256_lines_above_and_64_below_are_seen() -> None:
    lines = [f"line {number}" for number in range(1000)]
    seen = window(lines, 500, 0)
    assert seen.prefix.splitlines() == lines[244:500]
    assert seen.suffix.splitlines()[1:] == lines[501:565]


@pytest.mark.parametrize(
    ("content", "prefix", "middle"),
    [
        (["= 1"], "def a():\n", "    y= 1"),
        (["= 1", "    z = 2"], "def a():\n    y= 1\n", "    z = 2"),
        (["= 1", "    z = 2", "    w = 3"], "def a():\n    y= 1\n    z = 2\n", "    w = 3"),
    ],
)
def test_the_speculative_window_is_the_one_behind_the_accepted_text(
    content: list[str], prefix: str, middle: str
) -> None:
    found = window_after(["def a():", "    y", "end"], 1, content, 4)
    assert (found.prefix, found.middle, found.suffix, found.indent) == (prefix, middle, "\nend\n", 4)


# The memory


def test_typing_into_an_answer_finds_what_is_left_of_it() -> None:
    answers = Answers()
    answers.put(keys_of(window(["retu"], 0, 4)), "rn value")
    assert answers.find(window(["retu"], 0, 4)) == "rn value"
    assert answers.find(window(["return"], 0, 6)) == " value"
    assert answers.find(window(["retux"], 0, 5)) is None


def test_typing_over_a_line_end_still_finds_it() -> None:
    answers = Answers()
    answers.put(keys_of(window(["top", "a("], 1, 2)), ")\nb()")
    assert answers.find(window(["top", "a()", "b"], 2, 1)) == "()"


def test_the_longest_rest_wins_and_128_characters_are_looked_back() -> None:
    answers = Answers()
    answers.put([("ab", "\n")], "cd")
    answers.put([("a", "\n")], "bcdefg")
    assert answers.find(Window("", "abc", "\n", 0, "")) == "defg"
    answers.put([("", "\n")], "z" * 300)
    assert answers.find(Window("", "z" * 128, "\n", 0, "")) == "z" * 172
    assert answers.find(Window("", "z" * 129, "\n", 0, "")) is None


def test_an_answer_survives_up_to_three_lines_of_scrolling() -> None:
    lines = [f"line {number}" for number in range(400)]
    answers = Answers()
    answers.put(keys_of(window(lines, 300, 0)), "hello")
    for scrolled in (0, 1, 2, 3):
        seen = Window("\n".join(lines[44 + scrolled : 300]) + "\n", "", window(lines, 300, 0).suffix, 0, "")
        assert answers.find(seen) == "hello"
    assert answers.find(Window("\n".join(lines[48:300]) + "\n", "", window(lines, 300, 0).suffix, 0, "")) is None


def test_250_answers_are_kept_and_the_least_recently_used_goes_first() -> None:
    answers = Answers()
    for number in range(CAPACITY):
        answers.put([(str(number), "")], "x")
    answers.get(("0", ""))
    answers.put([("new", "")], "x")
    assert len(answers) == CAPACITY
    assert answers.get(("0", "")) == "x"
    assert answers.get(("1", "")) is None


def test_text_after_the_cursor_is_part_of_the_key() -> None:
    assert key_of(window(["a", "b"], 0, 1)) != key_of(window(["a", "c"], 0, 1))


# The ring


def ring() -> Ring:
    return Ring(random.Random(0))


def text(word: str, count: int = 5) -> list[str]:
    return [f"{word}{number} = {word}()" for number in range(count)]


def test_half_a_chunk_of_a_long_text_is_picked_and_a_short_one_whole() -> None:
    one = ring()
    one.pick(text("long", 300), evict=False)
    one.pick(text("short"), evict=False)
    one.pick(["two", "lines"], evict=False)
    assert [len(chunk) for chunk in one.queued] == [CHUNK_LINES // 2 + 1, 5]


def test_sixteen_chunks_are_sent_along_the_oldest_replaced_first() -> None:
    one = ring()
    for number in range(CHUNKS + 2):
        one.pick([f"{letter}{number}" for letter in "abcde"], evict=False)
        assert one.promote()
    assert not one.promote()
    assert len(one.extra("a.py")) == CHUNKS
    assert one.extra("a.py")[0] == {"text": "a2\nb2\nc2\nd2\ne2\n", "filename": "a.py"}


def test_a_similar_chunk_makes_way_for_a_new_one_or_keeps_it_out() -> None:
    for evict, kept in ((True, 2), (False, 2)):
        one = ring()
        one.pick(text("first"), evict=evict)
        one.pick(text("word", 40), evict=evict)
        before = list(one.queued)
        one.pick([*text("word", 40), "one more"], evict=evict)
        assert len(one.queued) == kept
        assert (one.queued == before) is not evict


def test_a_chunk_that_resembles_the_text_at_the_cursor_is_dropped() -> None:
    one = ring()
    for word in ("first", "second", "third"):
        one.pick(text(word), evict=False)
        one.promote()
    one.drop_similar(text("second"))
    assert [chunk[0] for chunk in one.chunks] == ["first0 = first()", "third0 = third()"]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [(["a b"], ["a b"], 1.0), (["a b"], ["c d"], 0.0), (["a b c d"], ["a b"], 2 / 3), ([""], [""], 1.0)],
)
def test_similarity_is_the_share_of_words_in_common(first: list[str], second: list[str], wanted: float) -> None:
    assert similarity(first, second) == pytest.approx(wanted)


# What is shown


@pytest.mark.parametrize(
    ("answer", "shown", "why"),
    [
        (" 2\n\n", Ghost(" 2"), "line ends at the end are dropped"),
        ("", Ghost(""), "nothing"),
        ("  \n", Ghost(""), "blanks only"),
        (" 2\n    y = 3", Ghost(" 2\n    y = 3"), "several lines"),
        ("\n    return x", Ghost(""), "the next line again"),
    ],
)
def test_what_repeats_the_text_or_says_nothing_is_not_shown(answer: str, shown: Ghost, why: str) -> None:
    assert hint(answer, ["def a():", "    x =", "    return x"], 1, 7).ghost == shown, why


@pytest.mark.parametrize(
    ("answer", "lines", "shown"),
    [
        ("turn x", ["    re", "    return x"], Ghost("")),
        ("turn x", ["    re", "", "    return x"], Ghost("")),
        ("turn x\n    re", ["    re", "    return x", "    return y"], Ghost("")),
        ("turn y", ["    re", "    return x"], Ghost("turn y")),
    ],
)
def test_a_text_that_is_there_on_the_next_line_is_not_shown(answer: str, lines: list[str], shown: Ghost) -> None:
    assert hint(answer, lines, 0, 6).ghost == shown


def test_a_text_that_only_closes_what_is_closed_is_not_shown() -> None:
    assert hint(")", ["call()"], 0, 5).ghost == Ghost("")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [("    x", Ghost("x", 0)), ("        x", Ghost("    x", 0)), ("x", Ghost("x", 4)), ("  x", Ghost("x", 2))],
)
def test_on_a_blank_line_the_answer_brings_its_indentation(answer: str, shown: Ghost) -> None:
    assert hint(answer, ["if a:", "    "], 1, 4).ghost == shown


# The plugin

Script = Callable[[dict[str, Any]], str]


class Server:
    """Answers after `seconds`; keeps the requests and when they came."""

    def __init__(self, script: Script, seconds: float) -> None:
        self.requests: list[tuple[float, dict[str, Any]]] = []
        self._script, self._seconds = script, seconds

    async def post(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((asyncio.get_running_loop().time(), request))
        await asyncio.sleep(self._seconds)
        return {"content": self._script(request)}


class Desk:
    """A plugin in a file, what it showed when, and its server."""

    def __init__(self, file: str, script: Script, seconds: float = 0.3) -> None:
        self.server = Server(script, seconds)
        self.shown: list[tuple[float, str]] = []
        self.loop = asyncio.get_running_loop()
        self.plugin = Plugin(Opened("a.py", "python", file, len(file)), self._show, self.server.post)
        self.cursor = len(file)

    def _show(self, ghost: Ghost) -> None:
        self.shown.append((round(self.loop.time(), 3), ghost.text))

    def key(self, text: str) -> None:
        self.plugin.edit(self.cursor, self.cursor, text)
        self.cursor += len(text)


def test_the_first_answer_is_short_and_the_next_one_is_asked_for_as_if_it_were_accepted() -> None:
    async def work() -> Desk:
        desk = Desk("x", lambda request: "1" if request["prompt"] == "xy" else "2")
        desk.key("y")
        await asyncio.sleep(2)
        await desk.plugin.close()
        return desk

    desk = run_virtually(work())
    assert desk.shown == [(0.3, "1")]
    asked = [(round(at, 3), request["prompt"], request["t_max_predict_ms"]) for at, request in desk.server.requests]
    assert asked == [(0.0, "xy", FIRST_MS), (0.3, "xy1", SPECULATIVE_MS)]


def test_an_accepted_text_is_followed_by_the_speculative_one_at_once() -> None:
    async def work() -> Desk:
        desk = Desk("x", lambda request: "1" if request["prompt"] == "xy" else "2")
        desk.key("y")
        await asyncio.sleep(1)
        desk.plugin.accept(Ghost("1"), 1)
        await asyncio.sleep(1)
        await desk.plugin.close()
        return desk

    desk = run_virtually(work())
    assert desk.shown[:2] == [(0.3, "1"), (1.0, "2")]
    assert (desk.plugin.shown, desk.plugin.shown_from_memory) == (2, 1)


def test_typing_into_a_shown_text_shows_the_rest_at_once_and_asks_all_the_same() -> None:
    async def work() -> Desk:
        desk = Desk("x", lambda request: "123" if request["prompt"] == "xy" else "")
        desk.key("y")
        await asyncio.sleep(1)
        desk.key("1")
        await asyncio.sleep(1)
        await desk.plugin.close()
        return desk

    desk = run_virtually(work())
    assert desk.shown == [(0.3, "123"), (1.0, "23")]
    assert [request["prompt"] for _, request in desk.server.requests] == ["xy", "xy123", "xy1"]


def test_while_a_request_runs_the_next_one_waits_in_steps_of_100_ms() -> None:
    async def work() -> Desk:
        desk = Desk("x", lambda request: "", seconds=0.35)
        desk.key("a")
        await asyncio.sleep(0.1)
        desk.key("b")
        await asyncio.sleep(0.05)
        desk.key("c")
        await asyncio.sleep(2)
        await desk.plugin.close()
        return desk

    desk = run_virtually(work())
    asked = [(round(at, 2), request["prompt"]) for at, request in desk.server.requests]
    assert asked[0] == (0.0, "xa")
    assert asked[1] == (0.45, "xabc"), "never for the state in between"


def test_with_text_behind_the_cursor_nothing_is_asked_for() -> None:
    async def work() -> int:
        desk = Desk("", lambda request: "x")
        desk.plugin.edit(0, 0, "call(argument)")
        desk.plugin.move(5)
        await asyncio.sleep(1)
        await desk.plugin.close()
        return sum(request["prompt"] == "call(" for _, request in desk.server.requests)

    assert run_virtually(work()) == 0


def test_chunks_are_warmed_once_the_cursor_rests_for_three_seconds() -> None:
    async def work() -> list[float]:
        desk = Desk("\n".join(text("word", 10)), lambda request: "")
        await asyncio.sleep(10)
        await desk.plugin.close()
        return [at for at, request in desk.server.requests if request["n_predict"] == 0]

    assert run_virtually(work()) == [pytest.approx(3.0)]


def test_the_server_says_how_many_tokens_it_computed() -> None:
    page = "# HELP x y\nllamacpp:prompt_tokens_total 120\nllamacpp:tokens_predicted_total 1.5e3\nother 3\n"
    assert parse_counters(page) == {"llamacpp:prompt_tokens_total": 120, "llamacpp:tokens_predicted_total": 1500}
