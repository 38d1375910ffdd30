"""`python -m benchmarks.replay.predecessor_child MODEL THREADS`: `llama_cpp.Llama.create_completion`, line by line.

Each line of standard input is a JSON object with the keyword arguments of one call; the answer has the text and how
many tokens were computed for the prompt and decoded. It ends with the standard input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

CONTEXT_TOKENS = 4096
FIM_TOKENS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
"""What such a prompt is made of by hand, for the models of Qwen."""


def main(path: str, threads: int) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints does not get between

    import llama_cpp

    class Counting(llama_cpp.Llama):  # type: ignore[misc, unused-ignore]
        evaluated = 0

        def eval(self, tokens: Sequence[int]) -> None:
            self.evaluated += len(tokens)
            super().eval(tokens)

    model: Any = Counting(path, n_ctx=CONTEXT_TOKENS, n_threads=threads, n_threads_batch=threads, verbose=False)
    for name in FIM_TOKENS:
        if len(model.tokenize(name.encode(), add_bos=False, special=True)) != 1:
            raise SystemExit(f"the model has no token {name}")
    print(json.dumps({"version": llama_cpp.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        before = model.evaluated
        answer = model.create_completion(**json.loads(line))
        decoded = answer["usage"]["completion_tokens"]
        # The last token is chosen and not computed; a text that ends at the end token computes one more.
        prompt = max(0, model.evaluated - before - decoded)
        result = {"text": answer["choices"][0]["text"], "prompt_tokens": prompt, "decoded_tokens": decoded}
        print(json.dumps(result), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
