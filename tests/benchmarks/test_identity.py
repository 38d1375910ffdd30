from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.latency.identity import LEAST_FILE_BYTES, AdversarialDrafter, places
from spark_lsp.decoding.drafters import DraftContext

TRUTH = tuple(range(1000, 1040))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in ("a.py", "b.py", "notes.txt"):
        (tmp_path / name).write_text("".join(f"{name[0]}{number} = {number}\n" for number in range(700)))
    (tmp_path / "short.py").write_text("x = 1\n")
    return tmp_path


def test_a_seed_chooses_the_same_places_again(sources: Path) -> None:
    first = list(places(20, 7, sources))
    assert first == list(places(20, 7, sources))
    assert first != list(places(20, 8, sources))
    assert first[:5] == list(places(5, 7, sources))


def test_a_place_is_cut_from_one_file_and_its_parts_are_in_order(sources: Path) -> None:
    for place in places(30, 1, sources):
        text = (sources / place.file).read_text()
        assert len(text) >= LEAST_FILE_BYTES
        assert text[: place.offset].endswith(place.above + place.tail)
        assert text[place.offset :].startswith(place.old)
        assert place.old
        assert place.below in text[place.offset :]


def test_the_adversary_proposes_every_kind_of_wrong_draft() -> None:
    drafter = AdversarialDrafter(TRUTH, 1000, random.Random(3))
    drafter.start(DraftContext((), (), ()))
    drafter.append([5, 6])
    agreeing = []
    lengths = set()
    for _ in range(300):
        draft = drafter.propose(32)
        assert draft is not None
        right = 0
        while right < len(draft) and draft.tokens[right] == TRUTH[2 + right]:
            right += 1
        assert all(0 <= token < 1000 for token in draft.tokens[right:])
        agreeing.append((right, len(draft)))
        lengths.add(len(draft))
    assert 32 in lengths
    assert {1, 2, 3, 4, 7, 15} <= lengths
    assert any(right == 0 for right, _ in agreeing)
    assert any(0 < right < length for right, length in agreeing)
    assert any(right == length for right, length in agreeing)


def test_the_adversary_keeps_to_the_limit_and_goes_on_past_the_end_of_the_text() -> None:
    drafter = AdversarialDrafter(TRUTH[:3], 1000, random.Random(3))
    drafter.append(TRUTH)
    for limit in (1, 2, 9):
        for _ in range(50):
            draft = drafter.propose(limit)
            assert draft is not None
            assert 1 <= len(draft) <= limit
