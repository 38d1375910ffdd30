"""A loaded model with its measured costs and the drafters of a session, as the server puts them together."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from benchmarks.latency.cases import Case
from spark_lsp.background import Calibrator
from spark_lsp.decoding.cost_model import CostModel
from spark_lsp.decoding.drafters import ACCEPTED_TOKENS, DocumentDrafter, DraftChain, NgramDrafter, NgramIndex
from spark_lsp.decoding.drafters.draft import Drafter
from spark_lsp.decoding.drafters.previous import PreviousDrafter
from spark_lsp.decoding.generate import Generation, GenerationLimits, generate
from spark_lsp.decoding.healing import PieceTable
from spark_lsp.decoding.kv_cache import KVCache
from spark_lsp.decoding.llama import LlamaEngine
from spark_lsp.decoding.stopping import Extent, StopRule
from spark_lsp.errors import DecodeError
from spark_lsp.prompt.fim import Prompt
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import assemble, choose_template

ONLY_LOOPS_END = StopRule(Extent.BLOCK, indentation=-1)
"""No dedent falls below column -1, so that only a repetition or a second blank line ends the text early."""


class Session:
    """The model at `path`, calibrated; raises SparkError if it cannot be loaded or timed."""

    def __init__(self, path: Path) -> None:
        self.engine = LlamaEngine.load(path)
        self.cache = KVCache(self.engine)
        self.table = PieceTable(self.engine.vocabulary.pieces)
        self._special = find_special_tokens(self.engine.vocabulary)
        self._template = choose_template(self.engine.vocabulary.special, self._special, "anchored")
        self.cost = self._calibrate()
        self.chain = self.fresh_chain()

    def fresh_chain(self) -> DraftChain:
        """Return the drafters of a session that begins: nothing accepted yet, nothing learned about the sources."""
        accepted = NgramDrafter("accepted", NgramIndex(ACCEPTED_TOKENS))
        return DraftChain([PreviousDrafter(), DocumentDrafter(), accepted], self.cost)

    def prompt(self, before: str) -> Prompt:
        """Return the prompt at the end of `before`, with nothing after the cursor and nothing to heal."""
        tail = self.engine.tokenize(before)
        tokens = assemble(self._template, self._special, [], [], tail)
        return Prompt(tuple(tokens), b"", (), self._special.stop, self._template, tail=tuple(tail))

    def decode(
        self, prompt: Prompt, tokens: int, drafter: Drafter | None, old: str = "", key: Hashable = "benchmark"
    ) -> Generation:
        """Return the greedy continuation of at most `tokens` tokens; `old` is what stood at the cursor before."""
        return generate(
            self.cache,
            key,
            prompt,
            self.table,
            self.engine.vocabulary.pieces,
            ONLY_LOOPS_END,
            GenerationLimits(tokens),
            context_length=self.engine.info.context_length,
            max_draft=self.engine.info.max_outputs - 1,
            exact_width=self.cost.exact_width,
            drafter=drafter,
            previous=tuple(self.engine.tokenize(old)) if drafter is not None else (),
            on_step=self.cost.observe,
        )

    def complete(self, case: Case, tokens: int, *, drafting: bool) -> Generation:
        """Return what the model writes for `case`, whose prompt is computed before: no draft rides with it unseen."""
        prompt = self.prompt(case.before)
        self.cache.prefill("benchmark", prompt.tokens)
        return self.decode(prompt, tokens, self.chain if drafting else None, case.old)

    def close(self) -> None:
        """Free the model."""
        self.engine.close()

    def _calibrate(self) -> CostModel:
        found: list[CostModel] = []
        calibrator = Calibrator(self.engine, self.cache, (), lambda cost: None, found.append)
        while calibrator.work():
            pass
        if not found:
            raise DecodeError("The decode steps of this machine could not be timed.")
        return found[-1]
