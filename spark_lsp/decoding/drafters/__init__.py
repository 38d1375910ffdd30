"""Guesses at what the model is about to write; the model verifies them, so they change the speed and never the text.

`DraftChain` puts the sources together:

=============  ==============================================================================
source         copies from
=============  ==============================================================================
``previous``   the last suggestion or the replaced text, aligned to the output
``document``   the open document and the output (suffix automaton)
``accepted``   what was accepted in this session (n-grams)
``workspace``  other files, open or beside the open one (n-grams)
=============  ==============================================================================

and, where none of these pays, ``model``: what a smaller model writes, if there is one.
"""

from spark_lsp.decoding.drafters.chain import DraftChain, SourceCounts
from spark_lsp.decoding.drafters.document import DocumentDrafter
from spark_lsp.decoding.drafters.draft import Draft, DraftContext, Drafter
from spark_lsp.decoding.drafters.length import choose_length
from spark_lsp.decoding.drafters.model import DRAFT_SEQUENCES, DraftModel, ModelDrafter
from spark_lsp.decoding.drafters.ngrams import (
    ACCEPTED_TOKENS,
    WORKSPACE_TOKENS,
    NgramDrafter,
    NgramIndex,
    TextBacklog,
)
from spark_lsp.decoding.drafters.previous import PreviousDrafter
from spark_lsp.decoding.drafters.vocabulary_match import VocabularyMatch
from spark_lsp.decoding.drafters.workspace import WorkspaceTexts

__all__ = [
    "ACCEPTED_TOKENS",
    "DRAFT_SEQUENCES",
    "WORKSPACE_TOKENS",
    "DocumentDrafter",
    "Draft",
    "DraftChain",
    "DraftContext",
    "DraftModel",
    "Drafter",
    "ModelDrafter",
    "NgramDrafter",
    "NgramIndex",
    "PreviousDrafter",
    "SourceCounts",
    "TextBacklog",
    "VocabularyMatch",
    "WorkspaceTexts",
    "choose_length",
]
