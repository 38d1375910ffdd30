"""Why a request was answered as it was: a sentence or two for each reason, for users and for the README."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spark_lsp.completion import Reason

EXPLANATIONS: Final[Mapping[Reason, str]] = {
    Reason.SHOWN: "The model wrote the suggestion.",
    Reason.CACHED: "The suggestion was known already, so the model was not asked.",
    Reason.NOTHING: "The model had nothing to add at this place.",
    Reason.DUPLICATE: "What the model wrote stands after the cursor already.",
    Reason.REPETITION: "The model wrote the lines above the cursor again.",
    Reason.SYNTAX: "No part of what the model wrote was without a new syntax error.",
    Reason.LOW_CONFIDENCE: "The model was not sure enough of its suggestion. Asked for by hand, it may be shown.",
    Reason.COMMENT: "The cursor is in a comment, where `completion.comments` lets nothing come by itself. "
    "Asking by hand works.",
    Reason.STRING: "The cursor is in a string, where `completion.strings` lets nothing come by itself. "
    "Asking by hand works.",
    Reason.DELETION: "A character had just been deleted. The next typed one, or asking by hand, gets an answer.",
    Reason.COLD: "The text around the cursor could not be read in time. Ask again: what was read stays read.",
    Reason.CANCELLED: "The editor took the request back.",
    Reason.SUPERSEDED: "A newer request or an edit came before there was an answer.",
    Reason.LOADING: "The model is being loaded. Suggestions come when it is ready.",
    Reason.UNAVAILABLE: "No model could be loaded. `spark.status` says why, and what to do.",
    Reason.DISABLED: "Completions are turned off by `completion.enabled`.",
    Reason.PAUSED: "Completions are paused. `spark.resume` goes on.",
    Reason.EXCLUDED: "The file is private, by `.gitignore`, `.sparkignore` or its name. "
    "A line such as `!folder/` in `.sparkignore` lets files in that git ignores.",
    Reason.UNKNOWN_DOCUMENT: "The editor has not opened the document here.",
    Reason.TOO_LARGE: "The document has more than 8 million characters.",
    Reason.BINARY: "The document is not a text.",
    Reason.FAILED: "The engine failed. The log has the details.",
}
"""One or two sentences for each reason. Where something can be done about it, the last one says what."""


def explain(reason: str) -> str:
    """Return the explanation of a reason code; the empty code means that nothing was asked yet."""
    if not reason:
        return "Nothing was asked yet."
    return EXPLANATIONS[Reason(reason)]


def markdown_table() -> str:
    """Return the table of the README."""
    rows = [f"| `{reason.value}` | {text} |" for reason, text in EXPLANATIONS.items()]
    return "\n".join(["| reason | meaning |", "| --- | --- |", *rows]) + "\n"
