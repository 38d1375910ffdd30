"""What stands in front of the window, by cases: ``█`` is the cursor, other files stand in a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.context.budget import (
    EXTRAS_MOST,
    EXTRAS_SECONDS,
    EXTRAS_SHARE,
    Room,
    extras_characters,
    share,
    window_limits,
)
from spark_lsp.context.extras import Chunk, Extras, stable_order
from spark_lsp.context.recent import MOST_CHUNKS, RADIUS_LINES, RecentRing
from spark_lsp.context.similarity import contained, jaccard, rarity, weighted_jaccard, words
from spark_lsp.context.snippets import MOST_SNIPPETS, SNIPPET_LINES, STEP_LINES, cut_windows
from spark_lsp.context.sources import ContextSources, SourceText
from spark_lsp.context.window import CHARACTERS_PER_TOKEN, WindowLimits, choose_window
from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.settings import ContextSettings
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

LIMITS = WindowLimits(prefix_tokens=32, suffix_tokens=16)
PLENTY = 10_000


def source(name: str, text: str) -> SourceText:
    return SourceText(name, name, "project", language_for("", name), TextSnapshot.of(text))


def extras_for(
    marked: str,
    files: dict[str, str],
    *,
    name: str = "main.py",
    imported: bool = True,
    characters: int = PLENTY,
    limits: WindowLimits = LIMITS,
    **parts: bool,
) -> Extras:
    sources = ContextSources(ContextSettings(**parts))
    text = marked.replace("█", "")
    for other, content in files.items():
        sources.put(source(other, content), None if imported else other)
    sources.put(source(name, text), "doc")
    if imported:
        sources.link("doc", [*files])
    while sources.work("doc"):
        pass
    tree = parse(text, language_for("", name))
    window = choose_window(None, TextSnapshot.of(text), tree, marked.index("█"), limits)
    return sources.choose("doc", tree, window, characters)


def shown(extras: Extras) -> dict[str, str]:
    return {chunk.name: chunk.text for chunk in extras.chunks}


RING_PY = '''"""Rings."""
class Ring:
    """A ring."""
    size: int = 3
    def push(self, item: int) -> bool:
        """Push."""
        return True
    def pop(self) -> int:
        return 1

def join(one: Ring, other: Ring) -> Ring:
    return one

def unused():
    pass
'''
RING_PY_SHOWN = (
    "class Ring:\n    size: int = 3\n    def push(self, item: int) -> bool: ...\n    def pop(self) -> int: ..."
)
RING_TS = """export interface Options { size: number }
export class Ring<T> {
  constructor(options: Options) { this.a = 1; }
  push(item: T): boolean { return true; }
}
export function join(a: Ring, b: Ring): Ring { return a; }
export function unused() {}
"""
FAR = "".join(f"line_{number} = {number}\n" for number in range(200))

DEFINITIONS = [
    ("a class that is used", "main.py", "from ring import Ring\nring = Ring(█", {"ring.py": RING_PY},
     {"ring.py": RING_PY_SHOWN}),
    ("a function that is used", "main.py", "from ring import join\nx = join(█", {"ring.py": RING_PY},
     {"ring.py": "def join(one: Ring, other: Ring) -> Ring: ..."}),
    ("under another name", "main.py", "from ring import join as j\nx = j(█", {"ring.py": RING_PY},
     {"ring.py": "def join(one: Ring, other: Ring) -> Ring: ..."}),
    ("by its module", "main.py", "import ring\nx = ring.join(█", {"ring.py": RING_PY},
     {"ring.py": "def join(one: Ring, other: Ring) -> Ring: ..."}),
    ("imported and not used yet", "main.py", "from ring import join\n█", {"ring.py": RING_PY},
     {"ring.py": "def join(one: Ring, other: Ring) -> Ring: ..."}),
    ("a method only", "main.py", "import ring\nx.push(█", {"ring.py": RING_PY},
     {"ring.py": "class Ring:\n    def push(self, item: int) -> bool: ..."}),
    ("nothing that is used", "main.py", "import ring\nx = 1█", {"ring.py": RING_PY}, {}),
    ("its own definition wins", "main.py", "import ring\ndef join(a): ...\njoin(█", {"ring.py": RING_PY}, {}),
    ("TypeScript", "main.ts", "import { Ring, join } from './ring';\nconst a = join(█", {"ring.ts": RING_TS},
     {"ring.ts": "export class Ring<T>\n  constructor(options: Options)\n  push(item: T): boolean\n"
                 "export function join(a: Ring, b: Ring): Ring"}),
    ("TypeScript, a type", "main.ts", "import { Options } from './ring';\nconst o: Options = {█", {"ring.ts": RING_TS},
     {"ring.ts": "export interface Options { size: number }"}),
    ("far away in the same file", "main.py",
     "import os.path as paths\ndef helper(a):\n    return a\n" + FAR + "x = helper(paths.█", {},
     {"main.py": "import os.path as paths\ndef helper(a): ..."}),
    ("near in the same file", "main.py", "def helper(a):\n    return a\nx = helper(█", {}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "name", "marked", "files", "expected"), DEFINITIONS, ids=[case[0] for case in DEFINITIONS]
)
def test_definitions_show(case: str, name: str, marked: str, files: dict[str, str], expected: dict[str, str]) -> None:
    assert shown(extras_for(marked, files, name=name, definitions=True)) == expected


def test_an_open_buffer_that_is_not_imported_helps_with_long_names_of_the_same_language() -> None:
    files = {"ring.py": "def join_rings(a): ...\ndef ab(): ...\n", "ring.ts": "function join_rings(b) {}\n"}
    extras = extras_for("join_rings(ab(█", files, imported=False, definitions=True)
    assert shown(extras) == {"ring.py": "def join_rings(a): ..."}


def test_what_is_used_comes_before_what_is_only_imported_when_room_is_short() -> None:
    text = "".join(f"def function_{number}(argument): ...\n" for number in range(20))
    names = ", ".join(f"function_{number}" for number in range(20))
    marked = f"from many import {names}\n" + FAR + "x = function_19(█"
    extras = extras_for(marked, {"many.py": text}, definitions=True, characters=150)
    assert "function_19" in shown(extras)["many.py"]
    assert sum(chunk.characters for chunk in extras.chunks) <= 150


# Recent places


def numbered(prefix: str, count: int) -> str:
    return "".join(f"{prefix}_{number} = {number}\n" for number in range(count))


def touch(ring: RecentRing, name: str, marked: str) -> bool:
    return ring.touch(name, name, TextSnapshot.of(marked.replace("█", "")), marked.index("█"))


def recent(ring: RecentRing, characters: int = PLENTY) -> list[str]:
    return [chunk.name for chunk in ring.choose(frozenset(), frozenset(), characters)]


def test_a_place_becomes_a_chunk_when_it_is_left() -> None:
    ring = RecentRing()
    assert not touch(ring, "a.py", "alpha = 1█\n")
    assert not touch(ring, "a.py", "alpha = 12\nbeta = 2█\n")
    assert recent(ring) == []
    assert touch(ring, "b.ts", "const gamma = 3;█\n")
    assert [chunk.text for chunk in ring.choose(frozenset(), frozenset(), PLENTY)] == ["alpha = 12\nbeta = 2"]


def test_a_far_move_in_one_document_leaves_a_place_too() -> None:
    ring, text = RecentRing(), numbered("name", 200)
    touch(ring, "a.py", "█" + text)
    assert touch(ring, "a.py", text + "█")
    (chunk,) = ring.choose(frozenset(), frozenset(), PLENTY)
    assert chunk.text == "\n".join(text.split("\n")[: RADIUS_LINES + 1])


def test_a_newer_version_of_a_place_takes_the_place_of_the_older() -> None:
    ring = RecentRing()
    for text in ("alpha = beta + gamma█", "alpha = beta + gamma + delta█"):
        touch(ring, "a.py", text)
        touch(ring, "b.py", "█other, words, there")
    texts = [chunk.text for chunk in ring.choose(frozenset(), frozenset(), PLENTY)]
    assert texts.count("alpha = beta + gamma") == 0
    assert "alpha = beta + gamma + delta" in texts


def test_the_latest_chunks_that_fit_come_oldest_first_and_the_ring_is_bounded() -> None:
    ring = RecentRing()
    for number in range(MOST_CHUNKS + 5):
        touch(ring, f"{number}.py", f"█name_{number}, value_{number}")
    assert recent(ring) == [f"{number}.py" for number in range(4, MOST_CHUNKS + 4)]
    size = Chunk("19.py", "name_19, value_19").characters
    assert recent(ring, 2 * size) == ["18.py", "19.py"]


def test_what_the_window_shows_and_near_copies_of_the_cursor_area_are_left_out() -> None:
    ring = RecentRing()
    touch(ring, "a.py", "█alpha = beta(gamma)")
    touch(ring, "b.py", "█one = two(three, four)")
    touch(ring, "c.py", "█")
    assert [c.name for c in ring.choose(words("alpha beta gamma more"), frozenset(), PLENTY)] == ["b.py"]
    assert [c.name for c in ring.choose(frozenset(), words("one two three four"), PLENTY)] == ["a.py"]


# Similar snippets

SORT_PY = "def sort_orders(orders, customer):\n    orders.sort(key=customer.priority)\n    return orders\n"
SORT_TS = "function sortOrders(orders, customer) {\n  orders.sort(customer.priority);\n}\n"
PICK_PY = "def pick(orders, customer):\n    orders.sort(█"
SNIPPETS = [
    ("a piece that shares rare names", "main.py", PICK_PY,
     {"sort.py": SORT_PY, "far.py": FAR}, {"sort.py"}),
    ("TypeScript", "main.ts", "function pick(orders, customer) {\n  orders.sort(█",
     {"sort.ts": SORT_TS, "far.ts": "const a = 1;\n"}, {"sort.ts"}),
    ("not from another language", "main.ts", "function pick(orders, customer) {\n  orders.sort(█",
     {"sort.py": SORT_PY}, set()),
    ("nothing alike", "main.py", "x = compute(█", {"far.py": FAR}, set()),
    ("no copy of what stands at the cursor", "main.py", SORT_PY + "█", {"copy.py": SORT_PY}, set()),
    ("from the same file, outside the window", "main.py", SORT_PY + FAR + PICK_PY,
     {}, {"main.py"}),
]  # fmt: skip


@pytest.mark.parametrize(("case", "name", "marked", "files", "expected"), SNIPPETS, ids=[case[0] for case in SNIPPETS])
def test_snippets_show(case: str, name: str, marked: str, files: dict[str, str], expected: set[str]) -> None:
    assert set(shown(extras_for(marked, files, name=name, snippets=True))) == expected


def test_at_most_a_few_snippets_none_overlapping_within_the_budget() -> None:
    body = "".join(f"orders.sort(customer, priority, one_{n}, two_{n})\n" + "\n" * 9 for n in range(60))
    marked = "orders.sort(customer, priority, limit)█"
    extras = extras_for(marked, {"a.py": body}, snippets=True)
    assert 1 < len(extras.chunks) <= MOST_SNIPPETS
    lines = [line for chunk in extras.chunks for line in chunk.text.split("\n") if line]
    assert len(lines) == len(set(lines))
    assert not extras_for(marked, {"a.py": body}, snippets=True, characters=50)


@given(st.integers(0, 100))
def test_windows_cover_every_line(count: int) -> None:
    lines = [f"line_{number}" for number in range(count)]
    windows = cut_windows("\n".join(lines))
    assert {line for window in windows for line in window.text.split("\n")} == set(lines)
    assert all(window.text.count("\n") < SNIPPET_LINES and window.line % STEP_LINES == 0 for window in windows)


@given(st.frozensets(st.sampled_from("abcdef")), st.frozensets(st.sampled_from("abcdef")))
def test_similarity_is_symmetric_and_between_nothing_and_all(one: frozenset[str], other: frozenset[str]) -> None:
    weights = rarity([one, other, frozenset("ab")])
    for measure in (jaccard, lambda a, b: weighted_jaccard(a, b, weights)):
        assert 0 <= measure(one, other) == measure(other, one) <= 1
    assert jaccard(one, one) == (1 if one else 0)
    assert contained(one, one | other) == 1


def test_a_rare_word_in_common_counts_for_more_than_a_frequent_one() -> None:
    texts = [frozenset({"self", "order"}), frozenset({"self", "ring"}), frozenset({"self", "tree"})]
    weights = rarity(texts)
    query = frozenset({"self", "order"})
    assert (
        weighted_jaccard(query, texts[0], weights)
        > jaccard(query, texts[1])
        > weighted_jaccard(query, texts[1], weights)
    )


# Budget and order


def costs(rate: float) -> CostModel:
    return CostModel({1: 0.04}, rate)


def test_the_budget_follows_the_prompt_rate_within_bounds() -> None:
    assert extras_characters(costs(100), 8192) == int(100 * EXTRAS_SECONDS * CHARACTERS_PER_TOKEN)
    assert extras_characters(costs(100_000), 1 << 20) == int(EXTRAS_MOST * CHARACTERS_PER_TOKEN)
    assert extras_characters(costs(100_000), 2048) == int(2048 // EXTRAS_SHARE * CHARACTERS_PER_TOKEN)
    assert extras_characters(costs(5), 8192) == 0


def test_a_new_place_has_a_smaller_window_and_left_to_right_has_no_suffix() -> None:
    room = Room(context=8192, prefix=512, suffix=128, generated=96)
    hurried, idle = (window_limits(costs(92), room, new_place=new) for new in (True, False))
    assert hurried.prefix_tokens < idle.prefix_tokens
    assert hurried.suffix_tokens < idle.suffix_tokens
    assert window_limits(costs(92), Room(8192, 512, 0, 96), new_place=False).suffix_tokens == 0


def test_shares_hand_on_what_is_left() -> None:
    assert share([2, 1, 1], 0, 400) == 200
    assert share([2, 1, 1], 1, 400) == 200
    assert share([2, 1, 1], 2, 300) == 300
    assert share([0, 1, 0], 1, 400) == 400


def test_chunks_that_were_there_before_keep_their_order_and_new_ones_follow() -> None:
    a, b, c = (Chunk(name, name) for name in "abc")
    assert stable_order([c, a], [a, b, c]) == [c, a, b]
    assert stable_order([], [b, a]) == [b, a]


def test_the_parts_come_in_a_fixed_order_each_within_its_share() -> None:
    marked = "from ring import join\ndef pick(orders, customer):\n    orders.sort(key=join(█"
    files = {"ring.py": RING_PY, "sort.py": SORT_PY}
    extras = extras_for(marked, files, definitions=True, snippets=True)
    assert extras.chunks[0] == Chunk("ring.py", "def join(one: Ring, other: Ring) -> Ring: ...")
    assert extras.chunks[-1].name == "sort.py"
    assert extras == extras_for(marked, files, definitions=True, snippets=True)
    assert (extras.name, extras.repository) == ("main.py", "project")


def test_with_every_part_off_nothing_is_held() -> None:
    sources = ContextSources(ContextSettings())
    sources.touch("doc", source("a.py", "x = 1"), 0)
    sources.put(source("b.py", "y = 1"))
    sources.forget("doc")
    assert not sources._texts
    assert sources.changes("doc") == 0


def test_a_forgotten_document_leaves_nothing_behind_if_it_is_private() -> None:
    sources = ContextSources(ContextSettings(recent=True, definitions=True, snippets=True))
    sources.touch("private", source("private.py", "def private_function(token): ...\n"), 0)
    sources.touch("doc", source("main.py", "private_function(token\n"), 0)
    tree = parse("private_function(token\n", language_for("python", ""))
    window = choose_window(None, TextSnapshot.of(tree.text), tree, 22, LIMITS)
    while sources.work("doc"):
        pass
    assert "private.py" in shown(sources.choose("doc", tree, window, PLENTY))
    before = sources.changes("doc")
    sources.forget("private", private=True)
    assert not sources.choose("doc", tree, window, PLENTY)
    assert sources.changes("doc") > before


def test_the_editors_version_of_a_file_beats_the_one_on_disk() -> None:
    sources = ContextSources(ContextSettings(definitions=True))
    sources.put(source("ring.py", "def join_rings(edited): ...\n"), "ring")
    sources.put(source("ring.py", "def join_rings(saved): ...\n"))
    sources.put(source("main.py", "join_rings("), "doc")
    while sources.work("doc"):
        pass
    tree = parse("join_rings(", language_for("python", ""))
    window = choose_window(None, TextSnapshot.of(tree.text), tree, 11, LIMITS)
    assert shown(sources.choose("doc", tree, window, PLENTY)) == {"ring.py": "def join_rings(edited): ..."}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_extras_only_hold_text_of_what_was_given_within_the_budget(data: st.DataObject) -> None:
    sources = ContextSources(ContextSettings(definitions=True, recent=True, snippets=True))
    names = [f"{letter}.py" for letter in "abcd"]
    texts: dict[str, str] = {}
    for _ in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from(names))
        action = data.draw(st.sampled_from(["touch", "touch", "file", "close", "private"]))
        if action in ("close", "private"):
            sources.forget(name, private=action == "private")
            if action == "private":
                sources.forget_files()
                texts.pop(name, None)
        else:
            # Each file has words of its own, so that its text is recognised wherever it turns up.
            lines = data.draw(st.integers(1, 60))
            text = "".join(f"def mark_{name[0]}_{n}(shared, names): ...\n" for n in range(lines))
            texts[name] = text
            if action == "touch":
                sources.touch(name, source(name, text), data.draw(st.integers(0, len(text))))
            else:
                sources.put(source(name, text))
    marked = "".join(f"mark_{letter}_{n}(shared, names)\n" for letter in "abcd" for n in range(3))
    sources.put(source("main.py", marked), "doc")
    while sources.work("doc"):
        pass
    tree = parse(marked, language_for("python", ""))
    window = choose_window(None, TextSnapshot.of(marked), tree, len(marked), LIMITS)
    characters = data.draw(st.integers(0, 2000))
    extras = sources.choose("doc", tree, window, characters)
    assert sum(chunk.characters for chunk in extras.chunks) <= characters
    for chunk in extras.chunks:
        assert chunk.name in texts or chunk.name == "main.py"
