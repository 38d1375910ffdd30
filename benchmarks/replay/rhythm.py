"""How fast somebody types, pauses and errs. Every figure has its source, or says that it is a choice of ours.

Draws depend on the seed and the place alone, so every program is typed to in the same rhythm, whatever was accepted
before.

* [D] Dhakal, Feit, Kristensson, Oulasvirta: Observations on Typing from 136 Million Keystrokes. CHI 2018.
* [S] Shrestha, Leinonen, Zavgorodniaia, Hellas, Edwards: Pausing While Programming. ICSE-SEET 2022.
* [C] Card, Moran, Newell: The Keystroke-Level Model. CACM 23 (7), 1980.
* [W] Woods, Wyma, Yund, Herron, Reed: Factors influencing the latency of simple reaction time. Frontiers in Human
  Neuroscience 9, 2015.
* [R] Rayner: Eye Movements in Reading and Information Processing. Psychological Bulletin 124 (3), 1998.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

WORDS_PER_MINUTE = 52.0
"""[D]: the average of 168,000 people, in words of five characters."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Seconds, unless the name says otherwise."""

    key: float = 60.0 / (5 * WORDS_PER_MINUTE)
    """Mean from one key to the next while text is typed."""
    key_sigma: float = 0.45
    """Of the logarithm of that time; a choice: nineteen of twenty keys come between 0.09 and 0.5 s."""
    backspace: float = 0.12
    """Between repeated backspaces; a choice."""
    micro_pause_share: float = 0.2
    """Of new lines before which somebody thinks; a choice."""
    micro_pause: tuple[float, float] = (2.0, 15.0)
    """[S]: the class of pauses that belongs to thinking about the next piece of code. Their density falls with the
    square of the length, a choice; the mean is 4.6 s."""
    hesitation_share: float = 0.06
    """Of words before which somebody hesitates; a choice."""
    hesitation: tuple[float, float] = (0.5, 2.0)
    """Below the micro pauses of [S]."""
    jump: float = 1.35 + 1.1 + 0.4
    """[C]: to get ready, to point with the mouse, to bring the hand back."""
    typo_share: float = 0.03
    """Of letters; a choice. With the keys typed before it is noticed, about 6 % of all keys are then backspaces."""
    unnoticed_most: int = 2
    """Keys typed after a typo before it is noticed, at most; a choice."""
    reaction: float = 0.231
    """[W]: from seeing to pressing a key, on average."""
    fixation: float = 0.225
    """[R]: a fixation in reading. A line that one is about to write oneself is recognized in one, a choice."""
    flicker: float = 0.25
    """A text that vanishes for less than that while one types into it is seen as the same one; a choice."""

    def noticed_after(self, text: str) -> float:
        """Return the time from a suggestion's appearance until it may be accepted."""
        return self.reaction + self.fixation * (1 + text.count("\n"))


def between_keys(rhythm: Rhythm, chance: random.Random) -> float:
    """Return the time from one key to the next."""
    return chance.lognormvariate(math.log(rhythm.key) - rhythm.key_sigma**2 / 2, rhythm.key_sigma)


def before_line(rhythm: Rhythm, chance: random.Random) -> float:
    """Return what is added before the first key of a line: nothing, or a micro pause."""
    if chance.random() >= rhythm.micro_pause_share:
        return 0.0
    low, high = rhythm.micro_pause
    return 1 / (1 / low - chance.random() * (1 / low - 1 / high))


def before_word(rhythm: Rhythm, chance: random.Random) -> float:
    """Return what is added before the first key of a word: nothing, or a hesitation."""
    return chance.uniform(*rhythm.hesitation) if chance.random() < rhythm.hesitation_share else 0.0
