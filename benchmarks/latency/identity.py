"""Whether drafting changes the text: many prompts decoded without a draft, with the drafters, and with an adversary.

The prompts are places in the standard library of the Python that runs this, chosen by a seed: anyone can run the same
again. What really follows there is the old text, so that the drafters have much to propose. The adversary proposes what
verification could get wrong: random tokens (control tokens among them), drafts that begin right and go wrong, and
drafts as long as a step may be.
"""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.latency.session import Session
from spark_lsp.context.window import CompletionContext
from spark_lsp.decoding.drafters.draft import Draft, DraftContext, Drafter
from spark_lsp.prompt.fim import Prompt, PromptBuilder

TOKENS = (24, 32)
"""Fewest and most tokens of a text."""
ABOVE_CHARACTERS, TAIL_CHARACTERS, BELOW_CHARACTERS, OLD_CHARACTERS = 200, 400, 150, 300
"""Of the window around a place; about 230 tokens, so that a run of 200 prompts is done within hours on two cores."""
LEAST_FILE_BYTES = 4000
ADVERSARY_LENGTHS = (1, 2, 3, 4, 7, 15)
"""Beside the longest possible: steps of 2 to 16 tokens, of which kernels make groups of four and eight."""
HEAL_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """A cut in a file."""

    file: str
    offset: int
    above: str
    tail: str
    below: str
    old: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A text that a drafter changed."""

    place: Place
    drafter: str
    plain: str
    drafted: str


class AdversarialDrafter:
    """Knows what the model will write, and proposes drafts that are mostly wrong."""

    name = "adversary"

    def __init__(self, truth: Sequence[int], vocabulary_size: int, chance: random.Random) -> None:
        self._truth = tuple(truth)
        self._size = vocabulary_size
        self._chance = chance
        self._written = 0

    def start(self, context: DraftContext) -> None:
        """Begin with the first token."""
        self._written = 0

    def append(self, tokens: Sequence[int]) -> None:
        """Follow the output."""
        self._written += len(tokens)

    def propose(self, limit: int, pending: int = 1) -> Draft | None:
        """Return random tokens after none, some or all of the right ones."""
        length = min(limit, self._chance.choice((*ADVERSARY_LENGTHS, limit)))
        right = self._truth[self._written : self._written + length]
        right = right[: self._chance.choice((0, self._chance.randint(0, length), length))]
        wrong = tuple(self._chance.randrange(self._size) for _ in range(length - len(right)))
        return Draft((*right, *wrong), (0.5,) * length, self.name, 1)

    def observe(self, draft: Draft, accepted: int) -> None:
        """Learn nothing."""


def places(count: int, seed: int, root: Path | None = None) -> Iterator[Place]:
    """Yield `count` places in the Python files directly below `root`, by default the standard library."""
    folder = root or Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.glob("*.py") if path.stat().st_size >= LEAST_FILE_BYTES)
    chance = random.Random(seed)
    for _ in range(count):
        file = chance.choice(files)
        text = file.read_text("utf-8", "replace")
        cut = chance.randrange(ABOVE_CHARACTERS, len(text) - OLD_CHARACTERS)
        anchor = text.rfind("\n", 0, max(1, cut - TAIL_CHARACTERS)) + 1
        start = max(0, anchor - ABOVE_CHARACTERS)
        end = text.find("\n", cut) + 1 or len(text)
        yield Place(
            file=file.name,
            offset=cut,
            above=text[start:anchor],
            tail=text[anchor:cut],
            below=text[end : end + BELOW_CHARACTERS],
            old=text[cut : cut + OLD_CHARACTERS],
        )


def differences(
    session: Session, count: int, seed: int, on_place: Callable[[int, int], None] = lambda number, found: None
) -> list[Difference]:
    """Return every text that differs from the plain one, of `count` prompts with two drafters each.

    `on_place` is told after each prompt how many were done before it and how many texts differ so far.
    """
    vocabulary = session.engine.vocabulary
    builder = PromptBuilder(vocabulary, session.engine.tokenize, layout="anchored", heal_tokens=HEAL_TOKENS)
    chance = random.Random(seed)
    found = []
    for number, place in enumerate(places(count, seed)):
        prompt = builder.build(_context(place))
        tokens = chance.randint(*TOKENS)
        plain = session.decode(prompt, tokens, None)
        adversary = AdversarialDrafter(plain.tokens, len(vocabulary), chance)
        drafters: list[tuple[Drafter, str]] = [(session.chain, _old_text(session, prompt, place)), (adversary, "")]
        for drafter, old in drafters:
            drafted = session.decode(prompt, tokens, drafter, old)
            # A step may have verified tokens behind the place where the stop rule ends the text.
            shared = min(len(drafted.tokens), len(plain.tokens))
            if drafted.text != plain.text or drafted.tokens[:shared] != plain.tokens[:shared]:
                found.append(Difference(place, drafter.name, plain.text, drafted.text))
        on_place(number, len(found))
    return found


def _old_text(session: Session, prompt: Prompt, place: Place) -> str:
    """Return what stood behind the prompt's last token: the healed bytes and the old text."""
    return prompt.heal.decode("utf-8", "ignore") + place.old


def _context(place: Place) -> CompletionContext:
    end = len(place.above) + len(place.tail)
    return CompletionContext(
        above=place.above,
        tail=place.tail,
        below=place.below,
        start=0,
        anchor=len(place.above),
        cursor=end,
        end=None,
        raw_above=place.above,
        raw_below=place.below,
        document_length=end + len(place.old),
    )
