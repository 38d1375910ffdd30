"""Markdown fences and prompt tokens that a model wrote as text."""

from __future__ import annotations

import re

from spark_lsp.postprocess.place import Place

_CONTROL = re.compile(
    r"<\|[A-Za-z_]{2,24}\|>|<｜[^｜\n]{2,24}｜>|<(?:fim|file|repo|jupyter|issue|commit)_[a-z_]{2,16}>"
    r"|</?think>|<(?:end_of_turn|start_of_turn|EOT|eos)>|(?:▁<|<)(?:PRE|SUF|MID)>|\[/?INST\]|\[(?:PREFIX|SUFFIX|MIDDLE)\]"
)
"""Tokens of the model families, as they look when a model spells them instead of emitting them."""
_CONTROL_BEGUN = re.compile(r"<[|｜][^|｜\s]{0,24}[|｜]?|<(?:fim|file|repo|jupyter|issue|commit)_[a-z_]{0,16}")
_SPELLED = (
    *("<fim_", "<file_", "<repo_", "<jupyter_", "<issue_", "<commit_", "<think>", "</think>", "<end_of_turn>"),
    *("<start_of_turn>", "<EOT>", "<eos>", "▁<PRE>", "▁<SUF>", "▁<MID>", "<PRE>", "<SUF>", "<MID>"),
    *("[INST]", "[/INST]", "[PREFIX]", "[SUFFIX]", "[MIDDLE]"),
)
_LONGEST = 28
_FENCE = "```"
_PROSE = frozenset({"markdown", "rst", "quarto"})
"""Languages in which a fence is text like any other."""


def drop_fences(text: str, place: Place) -> str:
    """Return what stands between Markdown fences: the line of the first goes, and so does all from the second on."""
    last = text.rpartition("\n")[2].strip()
    if place.growing and last in ("`", "``"):
        text = text[: text.rindex(last)]
    if _FENCE not in text or place.language.name in _PROSE or place.openness.quote:
        return text
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].lstrip().startswith(_FENCE):
        if first == len(lines) - 1:
            return ""
        lines = lines[first + 1 :]
        lines[0] = lines[0].lstrip() if not place.line_before.strip() and place.line_before else lines[0]
    for number, line in enumerate(lines):
        if line.lstrip().startswith(_FENCE):
            return "\n".join(lines[:number])
    return "\n".join(lines)


def drop_control_tokens(text: str, place: Place) -> str:
    """Return `text` up to the first prompt token; one that the document itself has around the cursor is text."""
    for match in _CONTROL.finditer(text):
        if not any(match.group() in line for line in (*place.lines_above, place.line_before, *place.lines_below)):
            return text[: match.start()]
    return text[: len(text) - _begun(text)] if place.growing else text


def _begun(text: str) -> int:
    """How many characters at the end may become a prompt token."""
    for size in range(min(_LONGEST, len(text)), 0, -1):
        end = text[-size:]
        if end[0] in "<[▁" and (_CONTROL_BEGUN.fullmatch(end) or any(token.startswith(end) for token in _SPELLED)):
            return size
    return 0
