"""A model that llama.cpp really loads, small enough to be made for a test: qwen2, byte-pair, random weights."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import gguf
import numpy as np

TEXT = """
def area(width, height):
    return width * height

class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        self.balance = self.balance + amount
        return self.balance

for account in accounts:
    if account.balance > 0:
        print(account.owner, account.balance)
"""
SPECIALS = ("<|endoftext|>", "<|im_end|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|file_sep|>")
MERGES = 160
WIDTH, HEADS, FEED_FORWARD, LAYERS = 64, 2, 128, 2
NORMAL, CONTROL, UNUSED = 1, 3, 5


def byte_letters() -> dict[int, str]:
    """The letters that byte-pair vocabularies write for bytes: printable ones as they are, the others from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {value: chr(value) for value in plain}
    for value in range(256):
        letters.setdefault(value, chr(256 + len(letters) - len(plain)))
    return letters


def learned_merges(count: int) -> list[tuple[str, str]]:
    """The `count` most frequent pairs of TEXT, learned one after the other inside words with their leading blank."""
    letters = byte_letters()
    words = Counter(
        tuple(letters[byte] for byte in (" " * bool(n) + word).encode())
        for line in TEXT.splitlines()
        for n, word in enumerate("".join(c if c.isalpha() else f" {c} " for c in line).split())
        if word.isalpha()
    )
    merges: list[tuple[str, str]] = []
    while len(merges) < count:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, frequency in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += frequency
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        merged: Counter[tuple[str, ...]] = Counter()
        for word, frequency in words.items():
            merged[_merge(word, best)] += frequency
        words = merged
    return merges


def _merge(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    for letter in word:
        if out and (out[-1], letter) == pair:
            out[-1] += letter
        else:
            out.append(letter)
    return tuple(out)


def write_tiny_model(path: Path, *, tied: bool = False, kind: str = "gpt2", weights: str = "Q8_0") -> Path:
    """Write the model and return its path. Its vocabulary: 256 bytes, the merges, six control tokens, two unused."""
    merges = learned_merges(MERGES)
    tokens = [*byte_letters().values(), *(left + right for left, right in merges), *SPECIALS, "[PAD0]", "[PAD1]"]
    first_special = len(tokens) - len(SPECIALS) - 2
    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("tiny")
    writer.add_block_count(LAYERS)
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([NORMAL] * first_special + [CONTROL] * len(SPECIALS) + [UNUSED] * 2)
    writer.add_token_merges([f"{left} {right}" for left, right in merges])
    writer.add_eos_token_id(first_special + 1)
    writer.add_bos_token_id(first_special)
    writer.add_pad_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_array("tiny.note", ["kept", "as it is"])

    def matrix(name: str, rows: int, columns: int) -> None:
        values = random.normal(0.0, columns**-0.5, (rows, columns)).astype(np.float32)
        quantization = gguf.GGMLQuantizationType[weights]
        if quantization is gguf.GGMLQuantizationType.F32:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, quantization), raw_dtype=quantization)

    def vector(name: str, length: int, value: float) -> None:
        writer.add_tensor(name, np.full(length, value, np.float32))

    matrix("token_embd.weight", len(tokens), WIDTH)
    if not tied:
        matrix("output.weight", len(tokens), WIDTH)
    vector("output_norm.weight", WIDTH, 1.0)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        vector(f"{block}attn_norm.weight", WIDTH, 1.0)
        vector(f"{block}ffn_norm.weight", WIDTH, 1.0)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}{name}.weight", WIDTH, WIDTH)
            if name != "attn_output":
                vector(f"{block}{name}.bias", WIDTH, 0.0)
        matrix(f"{block}ffn_gate.weight", FEED_FORWARD, WIDTH)
        matrix(f"{block}ffn_up.weight", FEED_FORWARD, WIDTH)
        matrix(f"{block}ffn_down.weight", WIDTH, FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
