"""Two vocabularies compared by the text of their tokens, so that a draft model may number them differently.

Variants made by `spark-lsp optimize` keep the first tokens of a vocabulary and move its control tokens, and models of
one family differ in their padding. What counts is that both cut a text into the same pieces: then a draft in the one
vocabulary is, token by token, a draft in the other. A token that one side lacks is spelled by the other's tokens
(on the way to the draft model) or ends the draft (on the way back).
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_lsp.decoding.engine import Engine, Vocabulary
from spark_lsp.errors import VocabularyMismatchError
from spark_lsp.prompt.special_tokens import find_special_tokens

LEAST_SHARED = 0.95
"""Least share of the smaller vocabulary that the larger one must have. Variants cut from one vocabulary share all of
it; SmolLM2's 49,135 pieces are to 80 % among the 151,644 of Qwen2.5, since frequent words are tokens everywhere."""
_NEXT_STEP = "Choose a draft model of the same family, or leave the setting `model.draft` empty."


class VocabularyMatch:
    """Translates tokens between a target and its draft model."""

    def __init__(self, target: Engine, draft: Engine) -> None:
        """Compare the vocabularies; raises VocabularyMismatchError when they are not of one family."""
        self._target, self._draft = target.vocabulary, draft.vocabulary
        self._tokenize = draft.tokenize
        self._target_controls = _controls(self._target)
        draft_controls = _controls(self._draft)
        here, there = _pieces(self._target, self._target_controls), _pieces(self._draft, draft_controls)
        shared = len(here.keys() & there.keys()) / max(1, min(len(here), len(there)))
        if shared < LEAST_SHARED:
            raise VocabularyMismatchError(
                f"{draft.info.name} cannot draft for {target.info.name}: it has another vocabulary, of which only "
                f"{shared:.0%} is the same.",
                next_step=_NEXT_STEP,
            )
        missing = [name for name in self._fim_tokens() if name not in self._draft.special]
        if missing:
            raise VocabularyMismatchError(
                f"{draft.info.name} cannot draft for {target.info.name}: it lacks {', '.join(missing)}.",
                next_step=_NEXT_STEP,
            )
        self._spelled: dict[int, tuple[int, ...]] = {}
        """What each target token is in the draft model; filled as tokens occur."""
        self._draft_pieces = there
        self._to_target = [here.get(piece, -1) for piece in self._draft.pieces]
        for token, name in draft_controls.items():
            self._to_target[token] = self._target.special.get(name, -1)

    def to_draft(self, tokens: Sequence[int]) -> list[int]:
        """Return the draft model's tokens for the same text; a control token that it lacks is left out."""
        found: list[int] = []
        for token in tokens:
            spelled = self._spelled.get(token)
            if spelled is None:
                spelled = self._spelled[token] = self._spell(token)
            found += spelled
        return found

    def to_target(self, token: int) -> int | None:
        """Return the target's token with the text of this token of the draft model, None if it has none."""
        found = self._to_target[token]
        return found if found >= 0 else None

    def _fim_tokens(self) -> list[str]:
        special = find_special_tokens(self._target)
        ids = (special.prefix, special.suffix, special.middle)
        return [self._target_controls[token] for token in ids if token is not None]

    def _spell(self, token: int) -> tuple[int, ...]:
        if token in self._target_controls:
            control = self._draft.special.get(self._target_controls[token])
            return () if control is None else (control,)
        piece = self._target.pieces[token]
        known = self._draft_pieces.get(piece)
        if known is not None:
            return (known,)
        try:
            return tuple(self._tokenize(piece.decode("utf-8")))
        except UnicodeDecodeError:  # a part of a character: byte by byte, which every byte-pair vocabulary can
            parts = (self._draft_pieces.get(piece[index : index + 1]) for index in range(len(piece)))
            return tuple(part for part in parts if part is not None)


def _controls(vocabulary: Vocabulary) -> dict[int, str]:
    return {token: name for name, token in vocabulary.special.items()}


def _pieces(vocabulary: Vocabulary, controls: dict[int, str]) -> dict[bytes, int]:
    """Return the ordinary tokens by their bytes; of two with the same bytes the first."""
    found: dict[bytes, int] = {}
    for token, piece in enumerate(vocabulary.pieces):
        if piece and token not in controls:
            found.setdefault(piece, token)
    return found
