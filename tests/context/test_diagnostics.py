"""What is wrong near the cursor, by cases: ``█`` is the cursor, and findings stand behind ``#!`` on their lines."""

from __future__ import annotations

import pytest

from spark_lsp.context.diagnostics import (
    BLOCK_LINES,
    DIAGNOSTICS_CHARACTERS,
    MESSAGE_CHARACTERS,
    MOST_KEPT,
    NEAR_LINES,
    Diagnostic,
    Severity,
    choose_diagnostics,
    diagnostic_at,
    diagnostics_room,
    merged,
    relocated,
)
from spark_lsp.context.extras import Chunk, Extras
from spark_lsp.context.sources import ContextSources, SourceText
from spark_lsp.context.window import CompletionContext, WindowLimits, choose_window
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.settings import ContextSettings
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.parser import parse

PLENTY = 10_000


def read(marked: str) -> tuple[TextSnapshot, int, tuple[Diagnostic, ...]]:
    """Return the document without marks, the cursor, and the findings: ``#! message`` or ``#! warning: message``."""
    lines, messages = [], []
    for number, line in enumerate(marked.split("\n")):
        code, mark, message = line.partition("  #! ")
        lines.append(code)
        if mark:
            messages.append((number, message))
    text = "\n".join(lines)
    cursor = text.index("█")
    snapshot = TextSnapshot.of(text.replace("█", ""))
    found = []
    for number, message in messages:
        severity, colon, rest = message.partition(": ")
        kind = Severity[severity.upper()] if colon else Severity.ERROR
        found.append(diagnostic_at(snapshot, number, number, rest if colon else message, kind))
    return snapshot, cursor, tuple(one for one in found if one is not None)


def chosen(marked: str, name: str = "main.py", characters: int = PLENTY) -> list[str]:
    snapshot, cursor, known = read(marked)
    tree = parse(snapshot.text, language_for("", name))
    chunks = choose_diagnostics(name, known, snapshot, tree, cursor, characters)
    return [line for chunk in chunks for line in chunk.text.split("\n")]


FAR = "x = 1\n" * (NEAR_LINES + 1)
CASES = [
    ("in the cursor's block", "main.py", "def f():\n    a = g()  #! unknown g\n    █\n",
     ["# a = g()  error: unknown g"]),
    ("a few lines above the block", "main.py", "import os  #! warning: unused\n\ndef f():\n    a = 1\n    █\n",
     ["# import os  warning: unused"]),
    ("below the cursor", "main.py", "def f():\n    █\n    a = g()  #! unknown g\n",
     ["# a = g()  error: unknown g"]),
    ("far above", "main.py", "a = g()  #! unknown g\n" + FAR + "def f():\n    █\n", []),
    ("errors before warnings", "main.py", "def f():\n    a = 1  #! warning: unused\n    b = g()  #! unknown g\n    █\n",
     ["# b = g()  error: unknown g", "# a = 1  warning: unused"]),
    ("neither information nor hints", "main.py", "def f():\n    a  #! hint: odd\n    b  #! information: so\n    █\n",
     []),
    ("the same twice", "main.py", "def f():\n    g()  #! unknown g\n    g()  #! unknown g\n    █\n",
     ["# g()  error: unknown g"]),
    ("the line that is being written", "main.py", "def f():\n    g(█  #! never closed\n", []),
    ("another comment", "main.c", "int f() {\n  g();  #! unknown g\n  █\n}\n", ["// g();  error: unknown g"]),
    ("a comment that needs an end", "main.css", "a {\n  b: */;  #! not */ here\n  █\n}\n",
     ["/* b: * /;  error: not * / here */"]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "name", "marked", "expected"), CASES, ids=[case[0] for case in CASES])
def test_findings_show(case: str, name: str, marked: str, expected: list[str]) -> None:
    assert chosen(marked, name) == expected


def test_of_a_long_block_only_what_is_near_the_cursor_counts() -> None:
    body = "    a = 1\n" * (BLOCK_LINES + NEAR_LINES)
    assert chosen("def f():\n    a = g()  #! unknown g\n" + body + "    █\n") == []


def test_the_severest_that_fit_are_shown() -> None:
    marked = "def f():\n" + "".join(f"    a_{n} = g()  #! unknown {n}\n" for n in range(20)) + "    █\n"
    lines = chosen(marked, characters=120)
    assert lines == ["# a_0 = g()  error: unknown 0", "# a_1 = g()  error: unknown 1", "# a_2 = g()  error: unknown 2"]
    assert sum(map(len, lines)) < 120


def test_room_is_kept_free_whether_or_not_there_is_anything() -> None:
    assert diagnostics_room(400) == 100
    assert diagnostics_room(PLENTY) == DIAGNOSTICS_CHARACTERS
    assert diagnostics_room(0) == 0


# What is kept


def test_a_long_message_is_one_short_line() -> None:
    found = diagnostic_at(TextSnapshot.of("  x = 1"), 0, 9, "no\n  " + "x" * 1000)
    assert found is not None
    assert (found.code, found.last_line, found.message[:4], len(found.message)) == (
        "x = 1",
        0,
        "no x",
        MESSAGE_CHARACTERS,
    )


@pytest.mark.parametrize(("line", "message"), [(1, "m"), (-1, "m"), (0, " \n")])
def test_what_has_no_line_or_says_nothing_is_no_diagnostic(line: int, message: str) -> None:
    assert diagnostic_at(TextSnapshot.of("x"), line, 5, message) is None


def one(line: int, severity: Severity = Severity.ERROR, last: int | None = None) -> Diagnostic:
    return Diagnostic(line, line if last is None else last, "x", f"m{line}", severity)


def test_at_most_so_many_are_kept_the_severest_ones() -> None:
    many = [one(line, Severity.HINT) for line in range(MOST_KEPT)] + [one(1000)]
    kept = merged((), many)
    assert len(kept) == MOST_KEPT
    assert kept[-1] == one(1000)
    assert one(MOST_KEPT - 1, Severity.HINT) not in kept


def test_news_replace_everything_or_what_touches_their_lines() -> None:
    known = [one(1), one(3, last=5), one(9)]
    assert merged(known, [one(4)]) == (one(4),)
    assert merged(known, [one(4)], range(5, 7)) == (one(1), one(4), one(9))
    assert merged(known, [], range(2)) == (one(3, last=5), one(9))
    assert merged(known, known) == tuple(known)


def test_findings_move_with_their_lines_and_go_with_them() -> None:
    old, new = TextSnapshot.of("a\nb\nc\nd\n"), TextSnapshot.of("new\na\nb\nC\nd\n")
    # Between the first and the last place that differ nothing is told apart.
    assert relocated([one(0), one(2), one(3)], old, new) == (Diagnostic(4, 4, "x", "m3"),)
    assert relocated([one(0), one(3)], old, TextSnapshot.of("a\nd\n")) == (one(0), Diagnostic(1, 1, "x", "m3"))
    assert relocated((), old, new) == ()


# In the prompt

SETTINGS = ContextSettings(definitions=True, diagnostics=True)
RING = "def join_rings(one, other): ...\n"
MARKED = "from ring import join_rings\ndef f():\n    a = g()  #! unknown g\n    join_rings(█\n"


def window_of(snapshot: TextSnapshot, cursor: int) -> CompletionContext:
    tree = parse(snapshot.text, language_for("python", ""))
    return choose_window(None, snapshot, tree, cursor, WindowLimits(prefix_tokens=200, suffix_tokens=50))


def extras(settings: ContextSettings, marked: str, *, known: bool = True) -> Extras:
    snapshot, cursor, found = read(marked)
    python = language_for("python", "")
    sources = ContextSources(settings)
    sources.put(SourceText("ring.py", "ring.py", "", python, TextSnapshot.of(RING)))
    sources.put(SourceText("main.py", "main.py", "", python, snapshot, found if known else ()), "doc")
    sources.link("doc", ["ring.py"])
    while sources.work("doc"):
        pass
    return sources.choose("doc", parse(snapshot.text, python), window_of(snapshot, cursor), 2000)


def test_findings_are_one_comment_behind_everything_else() -> None:
    chunks = extras(SETTINGS, MARKED).chunks
    assert chunks == (
        Chunk("ring.py", "def join_rings(one, other): ..."),
        Chunk("main.py", "# a = g()  error: unknown g", is_comment=True),
    )


def test_they_come_and_go_without_a_change_of_what_stands_before_them() -> None:
    with_them, without = (extras(SETTINGS, MARKED, known=known).chunks for known in (True, False))
    assert with_them[:-1] == without


def test_they_are_not_shown_while_the_part_is_off() -> None:
    assert all(not chunk.is_comment for chunk in extras(ContextSettings(definitions=True), MARKED).chunks)
