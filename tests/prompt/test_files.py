"""Extras as tokens, with and without the tokens for repositories."""

from __future__ import annotations

import pytest

from spark_lsp.context.extras import NO_EXTRAS, Chunk, Extras
from spark_lsp.context.window import CompletionContext
from spark_lsp.decoding.engine import Vocabulary
from spark_lsp.prompt.files import extras_tokens
from spark_lsp.prompt.fim import PromptBuilder
from spark_lsp.prompt.special_tokens import find_special_tokens
from spark_lsp.prompt.templates import Template, assemble
from tests.scripted_engine import ScriptedEngine

ENGINE = ScriptedEngine()
EXTRAS = Extras((Chunk("a.py", "x = 1\ny"), Chunk("b.py", "z")), "project", "main.py")


def vocabulary(*special: str) -> Vocabulary:
    known = ENGINE.vocabulary
    ids = {name: len(known.pieces) + number for number, name in enumerate(special)}
    return Vocabulary(known.pieces + (b"",) * len(special), {**known.special, **ids}, known.end_of_generation, None)


def prompt(extras: Extras, *special: str, layout: str = "anchored") -> str:
    words = vocabulary(*special)
    builder = PromptBuilder(words, ENGINE.tokenize, layout=layout, heal_tokens=0)
    window = CompletionContext("above\n", "tail", "\nbelow", 0, 6, 10, 16, "above\n", "\nbelow", 16, extras)
    names = {token: name for name, token in words.special.items()}
    return "".join(names.get(token) or words.pieces[token].decode() for token in builder.build(window).tokens)


WINDOW = "<|fim_prefix|>above\n<|fim_suffix|>\nbelow<|fim_middle|>tail"


def test_a_model_that_knows_files_gets_them_before_the_window() -> None:
    assert prompt(EXTRAS, "<|repo_name|>", "<|file_sep|>") == (
        "<|repo_name|>project\n<|file_sep|>a.py\nx = 1\ny\n<|file_sep|>b.py\nz\n<|file_sep|>main.py\n" + WINDOW
    )


def test_a_model_that_knows_none_gets_comments_at_the_start_of_what_stands_above() -> None:
    commented = "# Part of a.py:\n# x = 1\n# y\n# Part of b.py:\n# z\n\n"
    assert prompt(EXTRAS) == WINDOW.replace("above", commented + "above")
    assert prompt(EXTRAS, layout="plain").startswith("<|fim_prefix|>" + commented + "above\ntail")


@pytest.mark.parametrize("special", [(), ("<|repo_name|>", "<|file_sep|>")])
def test_without_extras_the_prompt_is_what_it_was(special: tuple[str, ...]) -> None:
    assert prompt(NO_EXTRAS, *special) == WINDOW


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        (("<|repo_name|>", "<|file_sep|>"), ("<|repo_name|>", "<|file_sep|>")),
        (("<repo_name>", "<reponame>", "<file_sep>", "<filename>"), ("<repo_name>", "<file_sep>")),
        (("<reponame>", "<filename>"), ("<reponame>", "<filename>")),
        (("<|file_separator|>",), (None, "<|file_separator|>")),
        (("<filename>",), (None, "<filename>")),
        (("<|repo_name|>",), (None, None)),
    ],
)
def test_the_tokens_are_found_by_their_text(special: tuple[str, ...], expected: tuple[str | None, str | None]) -> None:
    words = vocabulary(*special)
    found = find_special_tokens(words)
    names = {token: name for name, token in words.special.items()}
    assert (names.get(found.repository or -1), names.get(found.file or -1)) == expected


def test_a_comment_in_a_language_without_line_comments_is_not_closed_early() -> None:
    extras = Extras((Chunk("a.css", "/* a */ b"),), "", "main.css", ("/* ", " */"))
    tokens = extras_tokens(extras, find_special_tokens(ENGINE.vocabulary), ENGINE.tokenize)
    text = b"".join(ENGINE.vocabulary.pieces[token] for token in tokens).decode()
    assert text == "/* Part of a.css: */\n/* /* a * / b */\n\n"


def test_control_tokens_in_a_chunk_are_plain_text() -> None:
    words = vocabulary("<|repo_name|>", "<|file_sep|>")
    tokens = find_special_tokens(words)
    found = extras_tokens(Extras((Chunk("a.py", "<|file_sep|>"),), "p", "m"), tokens, ENGINE.tokenize)
    assert found.count(words.special["<|file_sep|>"]) == 2


def test_suffix_prefix_middle_has_files_first_too() -> None:
    tokens = find_special_tokens(vocabulary("<filename>"))
    assert assemble(Template.SPM, tokens, [10], [20], [30], [1, 2])[:2] == [1, 2]
