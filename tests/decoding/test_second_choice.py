"""A name that does not exist is written differently, if the model knows another one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spark_lsp.decoding.engine import Row
from spark_lsp.decoding.generate import Generation, GenerationLimits
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.second_choice import MOST_RETURNS
from spark_lsp.decoding.stopping import Extent, StopReason, StopRule
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.names.check import MemberCheck
from spark_lsp.names.index import NameIndex
from spark_lsp.syntax.languages import language_for
from tests.decoding.test_generate import Adversary, Oracle, run
from tests.scripted_engine import END, ScriptedEngine

BOX = """
class Box:
    def area(self): ...
    def areas(self): ...
    def width(self): ...

box = Box()
"""
LINE = StopRule(Extent.LINE, indentation=0)


def names(before: str, after: str = "\n") -> MemberCheck:
    snapshot = TextSnapshot.of(BOX + before + after)
    check = NameIndex().check("document", language_for("python", ""), snapshot, len(BOX + before))
    assert check is not None
    return check


class SecondThoughts(ScriptedEngine):
    """Knows all its texts by heart, and likes each a little less than the one before."""

    liking = 1.0
    """Difference of the logits of two texts."""

    def _row(self, cells: list[int]) -> Row:
        row = np.zeros(len(self.vocabulary), dtype=np.float32)
        seen = b"".join(self.vocabulary.pieces[token] for token in cells)
        for number, text in enumerate(self.script):
            data, value = text.encode(), 20 - self.liking * number
            common = max((size for size in range(len(data) + 1) if seen.endswith(data[:size])), default=0)
            if common == len(data):
                row[self.vocabulary.special[END]] = max(row[self.vocabulary.special[END]], value)
            elif common:
                pieces = (token for piece, token in self._by_length if data[common:].startswith(piece))
                token = next(pieces)
                row[token] = max(row[token], value)
        return row


def write(script: Sequence[str], typed: str, heal: int = 0, after: str = "\n", **changes: Any) -> Generation:
    engine = changes.pop("engine", None) or SecondThoughts(script, words=("volume", "area", ".v", ".", "()\n"))
    return run(engine, typed, heal, names=names(typed, after), **changes)


@pytest.mark.parametrize(
    ("texts", "typed", "heal", "written"),
    [
        (("x = box.volume()", "x = box.area()"), "x = box.", 0, "area()"),
        (("x = box.volume()", "x = box.area()"), "x = ", 0, "box.area()"),
        (("x = box.volume()", "x = box.width"), "x = bo", 1, "x.width"),
        (("x = box.wide()", "x = box.width()"), "x = box.", 0, "width()"),
        (("x = box.wide()", "x = box.width()"), "x = box.wi", 1, "dth()"),
        (("x = box.wide()", "x = box.width()"), "x = box.wi", 0, "dth()"),
        (("x = box.areal()", "x = box.areas()"), "x = box.", 0, "areas()"),
        (("x = box.are\n", "x = box.area\n"), "x = box.", 0, "area\n"),
        (("x = box.are", "x = box.area"), "x = box.", 0, "area"),
        (("box.volume()", "box.area()"), "bo", 0, "x.area()"),
    ],
    ids=[
        "behind the typed dot",
        "behind a dot that the model writes",
        "the receiver half typed",
        "only its end is wrong",
        "its begin is typed and healed",
        "its begin is typed",
        "a known name goes on",
        "it ends too early",
        "the text ends too early",
        "where it could be assigned to",
    ],
)
def test_the_next_best_name_that_exists_is_written(texts: Sequence[str], typed: str, heal: int, written: str) -> None:
    result = write(texts, typed, heal)
    assert result.text == written
    assert 1 <= result.replaced_names <= 2
    assert result.unknown_names == ()
    assert len(result.tokens) == len(result.ends) == len(result.probabilities)
    assert result.ends[-1] == len(result.text)


def test_a_token_with_the_dot_and_the_begin_of_the_name_gives_way_to_the_dot() -> None:
    result = write(("x = box.volume()", "x = box.area()"), "x = box")
    assert (result.text, result.replaced_names) == (".area()", 2)  # ".v" by ".", and then "volume" by "area"


def test_what_the_model_hardly_thinks_of_is_not_written() -> None:
    engine = SecondThoughts(["x = box.volume()", "x = box.area()"])
    engine.liking = 5.0
    result = write((), "x = ", engine=engine)
    assert (result.text, result.unknown_names, result.replaced_names) == ("box.volume()", (4,), 0)


def test_the_gate_does_not_count_a_name_that_is_out_of_the_question() -> None:
    unchecked = write(["x = cup.volume()", "x = cup.area()"], "x = cup.")
    result = write(["x = box.volume()", "x = box.area()"], "x = box.")
    assert unchecked.probabilities[0] == pytest.approx(0.73, abs=0.01)
    assert result.probabilities[0] == pytest.approx(1.0, abs=0.01)
    third = write(["x = box.volume()", "x = box.vapour()", "x = box.area()"], "x = box.")
    assert third.probabilities[0] == pytest.approx(1.0, abs=0.01)


def test_a_name_that_stays_is_marked_and_the_next_one_is_looked_at() -> None:
    engine = SecondThoughts(["x = box.volume() + box.depth()", "x = box.volume() + box.area()"])
    result = write((), "x = ", engine=engine)
    assert (result.text, result.unknown_names, result.replaced_names) == ("box.volume() + box.area()", (4,), 1)


@pytest.mark.parametrize(
    ("script", "typed"),
    [("x = box.area()", "x = "), ("box.volume = 1\nx = box.volume", "bo"), ("x = cup.volume()", "x = ")],
    ids=["known", "assigned to", "a receiver that is not known"],
)
def test_other_texts_stay_as_they_are(script: str, typed: str) -> None:
    result = write([script, "x = box.width()"], typed)
    assert (typed + result.text, result.unknown_names, result.replaced_names) == (script, (), 0)


def test_where_no_name_begins_as_it_is_typed_nothing_is_judged() -> None:
    assert write(["x = box.volume()", "x = box.area()"], "x = box.vo").text == "lume()"


def test_a_name_that_goes_on_behind_the_cursor_is_not_judged() -> None:
    result = write(["x = box.are"], "x = box.", after="as()\n")
    assert (result.text, result.unknown_names) == ("are", ())


def test_a_name_behind_the_end_of_the_line_does_not_matter() -> None:
    texts = ["x = 1\ny = box.volume()", "x = 1\ny = box.area()"]
    engine = SecondThoughts(texts)
    result = write((), "x = ", engine=engine, rule=LINE, drafter=Oracle(engine, texts[0]))
    assert (result.text, result.stop, result.unknown_names) == ("1", StopReason.LINE, ())


@pytest.mark.parametrize(
    "texts", [["x = box.wide()", "x = box.width()"], ["x = box.volume()", "x = box.area()"], ["x = box.area()"]]
)
def test_what_is_shown_is_never_taken_back(texts: list[str]) -> None:
    shown: list[str] = []
    result = write(texts, "x = ", on_text=lambda text, probabilities, ends: shown.append(text))
    assert shown
    assert all(result.text.startswith(text) for text in shown)


def test_a_model_that_knows_no_other_name_is_asked_a_few_times_only() -> None:
    result = write(["x = box.wz()", "x = box.az()"], "x = ", limits=GenerationLimits(60))
    assert result.replaced_names == MOST_RETURNS
    assert result.unknown_names == (4,)


class Babble(ScriptedEngine):
    """Writes words, dots and line ends in an order that depends on every token before."""

    VOICE = (
        "box",
        "box.",
        ".",
        ".a",
        "area",
        "ar",
        "ea",
        "s",
        "wid",
        "th",
        "vol",
        "ume",
        "(",
        ")",
        " = ",
        " ",
        "\n",
        ".v",
    )

    def __init__(self, seed: int, **changes: Any) -> None:
        super().__init__(words=self.VOICE, **changes)
        self.seed = seed
        self.voice = [*range(256, 256 + len(self.VOICE)), self.vocabulary.special[END]]

    def _row(self, cells: list[int]) -> Row:
        row = np.full(len(self.vocabulary), -9.0, dtype=np.float32)
        seed = zlib.crc32(np.asarray([self.seed, *cells], dtype=np.int32).tobytes())
        row[self.voice] = 4 * np.random.default_rng(seed).random(len(self.voice), dtype=np.float32)
        row[self.voice[-1]] -= 2
        return row


@pytest.mark.parametrize("seed", range(60))
def test_the_text_is_the_same_with_any_drafts_and_with_any_engine(seed: int) -> None:
    rule = StopRule(Extent.BLOCK, indentation=-1, max_lines=3) if seed % 2 else LINE

    def babble(drafter: Any = None, **changes: Any) -> Generation:
        engine = Babble(seed, **changes)
        return write((), "x = box.", seed % 3, engine=engine, rule=rule, drafter=drafter, exact_width=32)

    plain = babble()
    engine = Babble(seed)
    words = [engine.vocabulary.pieces[token] for token in engine.voice]
    assert all(words[:-1])
    for other in (
        babble(Adversary(seed, engine.voice[:-1])),
        babble(Adversary(seed + 1, [*plain.tokens, engine.voice[0]])),
        babble(sequences=1),
        babble(Adversary(seed, engine.voice[:-1]), sequences=1),
    ):
        assert other.text == plain.text
        assert (other.unknown_names, other.replaced_names) == (plain.unknown_names, plain.replaced_names)


def test_babble_has_names_to_replace_and_names_to_leave() -> None:
    results = [write((), "x = box.", engine=Babble(seed), rule=LINE, exact_width=32) for seed in range(60)]
    assert sum(result.replaced_names for result in results) > 20
    assert sum(len(result.unknown_names) for result in results) > 3


def test_the_cells_are_those_of_the_text_after_a_return() -> None:
    engine = SecondThoughts(["x = box.volume()", "x = box.area()"])
    cache = KVCache(engine)
    result = write((), "x = ", engine=engine, cache=cache)
    written = b"".join(engine.vocabulary.pieces[token] for token in cache.tokens("document")).decode()
    assert ("x = " + result.text).startswith(written)
    assert engine.cells[0] == [*cache.tokens("document")]
