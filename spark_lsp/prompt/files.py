"""Extras as tokens: files in front of the completed one, or commented snippets where the model knows no files.

With a token for files (the layout that Qwen2.5-Coder and StarCoder2 were trained on; the others differ in line ends)::

    <repo> name
    <file> path/of/another.py
    text
    <file> path/of/this.py
    [PRE] ...

"""

from __future__ import annotations

from collections.abc import Callable

from spark_lsp.context.extras import Chunk, Extras, within_comment
from spark_lsp.prompt.special_tokens import SpecialTokens


def extras_tokens(extras: Extras, tokens: SpecialTokens, tokenize: Callable[[str], list[int]]) -> list[int]:
    """Return the tokens of `extras`, none if there are no chunks. Control tokens spelled in a text stay text."""
    if not extras:
        return []
    if tokens.file is None:
        return tokenize("".join(_commented(chunk, extras.comment) for chunk in extras.chunks) + "\n")
    result = []
    if tokens.repository is not None and extras.repository:
        result += [tokens.repository, *tokenize(f"{extras.repository}\n")]
    for chunk in extras.chunks:
        result += [tokens.file, *tokenize(f"{chunk.name}\n{chunk.text}\n")]
    return [*result, tokens.file, *tokenize(f"{extras.name}\n")]


def _commented(chunk: Chunk, comment: tuple[str, str]) -> str:
    before, after = comment
    if chunk.is_comment:
        return f"{chunk.text}\n"
    lines = [f"Part of {chunk.name}:", *within_comment(chunk.text, after).split("\n")]
    return "".join(f"{before}{line}".rstrip() + f"{after}\n" for line in lines)
