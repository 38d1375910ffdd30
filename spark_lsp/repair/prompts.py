"""What the model is asked: to write some lines again without a fault.

A model that was taught conversations in ChatML is asked in words. Any other one writes the lines in the place of the
old ones, below a comment that names the fault::

    [PRE] lines above [SUF] lines below [MID] # MESSAGE
                                              # was: old lines

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spark_lsp.context.extras import comment_marks, within_comment
from spark_lsp.decoding.engine import Engine
from spark_lsp.prompt.special_tokens import SpecialTokens, find_special_tokens
from spark_lsp.prompt.templates import assemble, choose_template
from spark_lsp.syntax.languages import PLAIN, Language

FENCE = "```"
_TURN, _TURN_END = "<|im_start|>", "<|im_end|>"
_MESSAGE_CHARACTERS = 200
"""Type checkers explain at length; the reason comes first."""
_SYSTEM = "You repair one fault in a piece of code. You change as little as possible."


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a document with LF line ends, and what stands around them."""

    text: str
    """Without a line end at the end."""
    above: str
    below: str
    faulty: str
    """The line of the fault, stripped."""
    language: Language


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with what belongs to its answer."""

    tokens: tuple[int, ...]
    stop: frozenset[int]
    """Ids that end the answer."""
    fence: str
    """What a line begins with that ends it; empty if there is no such line."""


class Questions:
    """Writes prompts for one model."""

    def __init__(self, engine: Engine) -> None:
        self._tokenize: Callable[[str], list[int]] = engine.tokenize
        self._special = engine.vocabulary.special
        self._tokens: SpecialTokens = find_special_tokens(engine.vocabulary)
        known = _TURN in self._special and _TURN_END in self._special
        self.converses = known and _TURN in engine.info.chat_template
        """Whether the model is asked in words."""

    def rewrite(self, passage: Passage, message: str) -> Question:
        """Ask for the passage without the fault of which `message` complains."""
        message = _shortened(message)
        if not self.converses:
            return self._in_place(passage, message)
        name = "" if passage.language is PLAIN else passage.language.name
        shown = f"{passage.above}{passage.text}\n{passage.below}"
        request = (
            f"{FENCE}{name}\n{shown}{FENCE}\n\n"
            f"The line `{passage.faulty}` has a fault: {message}\n\n"
            f"These lines have to be repaired. Write them again without the fault, and leave the rest as it is:\n"
            f"{FENCE}{name}\n{passage.text}\n{FENCE}"
        )
        return self._conversation(request, f"{FENCE}{name}\n")

    def missing_import(self, name: str, line: str) -> Question | None:
        """Ask which import statement of Python's standard library binds `name`; None if the model does not converse."""
        if not self.converses:
            return None
        request = (
            f"This line of Python needs an import:\n{FENCE}python\n{line}\n{FENCE}\n\n"
            f"Which import statement of the standard library is missing, so that `{name}` is defined?"
        )
        return self._conversation(request, f"{FENCE}python\n")

    def _conversation(self, request: str, begun: str) -> Question:
        turn, end = self._special[_TURN], self._special[_TURN_END]
        tokens: list[int] = [] if self._tokens.bos is None else [self._tokens.bos]
        for role, text in (("system", _SYSTEM), ("user", request)):
            tokens += [turn, *self._tokenize(f"{role}\n{text}"), end, *self._tokenize("\n")]
        tokens += [turn, *self._tokenize(f"assistant\n{begun}")]
        return Question(tuple(tokens), self._tokens.stop, FENCE)

    def _in_place(self, passage: Passage, message: str) -> Question:
        before, after = comment_marks(passage.language)
        indentation = passage.text[: len(passage.text) - len(passage.text.lstrip())].rpartition("\n")[2]
        lines = [within_comment(text, after) for text in (message, f"was: {passage.faulty}")]
        tail = "".join(f"{indentation}{before}{line}{after}\n" for line in lines)
        tokens = assemble(
            choose_template(self._special, self._tokens, "anchored"),
            self._tokens,
            self._tokenize(passage.above),
            self._tokenize(f"\n{passage.below}"),
            self._tokenize(tail),
        )
        return Question(tuple(tokens), self._tokens.stop, "")


def _shortened(message: str) -> str:
    return " ".join(message.split())[:_MESSAGE_CHARACTERS].rstrip().rstrip(".") + "."
