"""Whether a changed text is better. `wrong -> right` inside `«»` is the change."""

from __future__ import annotations

import re

import pytest

from spark_lsp.repair.difference import smallest_edit
from spark_lsp.repair.fault import Fault
from spark_lsp.repair.verdict import Judge, Judged, Verdict
from spark_lsp.syntax.languages import language_for
from spark_lsp.syntax.offsets import Span
from spark_lsp.syntax.parser import parse

_CHANGE = re.compile("«(.*?)→(.*?)»", re.DOTALL)

PYTHON = {
    "a name is defined now": ("undefined name 'b'", "a = 1\nprint(«b→a»)\n", Verdict.REMOVED),
    "another name is not": ("undefined name 'b'", "a = 1\nprint(«b→c»)\n", Verdict.WORSE),
    "the name stays": ("undefined name 'b'", "a = 1\nprint(b«→, a»)\n", Verdict.STAYS),
    "one of two uses": ("undefined name 'b'", "a = 1\nprint(b, «b→a»)\n", Verdict.REMOVED),
    "bound by an import": ("undefined name 'json'", "«→import json\n»json.dumps(1)\n", Verdict.REMOVED),
    "the error is gone": ("expected ':'", "if 1«→:»\n    pass\n", Verdict.REMOVED),
    "the error stays": ("expected ':'", "if 1«→ »\n    pass\n", Verdict.STAYS),
    "the next error is another one": ("expected ':'", "if 1«→:»\n    pass\nx = (\n", Verdict.REMOVED),
    "the next error is just below, and another one": ("invalid syntax", "x = «= →»1\ny = = 2\n", Verdict.REMOVED),
    "closed too early": ("was never closed", "x = [«→]»\n\n    # all\n    1,\n", Verdict.STAYS),
    "closed too early for what closes it": ("was never closed", "x = [(1«→)]»\n]\n", Verdict.STAYS),
    "a new error": ("some message", "a = 1«→)»\n", Verdict.WORSE),
    "nobody knows this fault": ("use ==/!= to compare", "a = 1\nb = a «is→==» 1\n", Verdict.UNKNOWN),
    "nothing changed": ("undefined name 'b'", "print(b)«→»\n", Verdict.STAYS),
    "an error further up hides what is here": ("expected ':'", "x = = 1\nif 1«→:»\n    pass\n", Verdict.UNKNOWN),
}
OTHERS = {
    "c: a semicolon": ("c", "expected ';'", "int main() {\n  int a = 1«→;»\n  return a;\n}\n", Verdict.REMOVED),
    "c: the error stays": ("c", "expected ';'", "int main() {\n  int a = 1«→,»\n  return a;\n}\n", Verdict.STAYS),
    "c: a new error": ("c", "unused variable", "int main() {\n  int a = 1«;→»\n  return 0;\n}\n", Verdict.WORSE),
    "js: nobody knows this fault": ("javascript", "'b' is not defined.", "let a = 1;\nf(«b→a»);\n", Verdict.UNKNOWN),
    "text without a grammar": ("plaintext", "spelling", "a «wrng→wrong» word\n", Verdict.UNKNOWN),
}


def judged(language: str, message: str, marked: str) -> Judged:
    old, new = _CHANGE.sub(r"\1", marked), _CHANGE.sub(r"\2", marked)
    start = marked.index("«")
    edit = smallest_edit(old, new)
    judge = Judge(parse(old, language_for(language, "")), Fault(start, start, message))
    return judge.judge(new, Span(edit.start, edit.end))


@pytest.mark.parametrize(("message", "marked", "verdict"), PYTHON.values(), ids=PYTHON.keys())
def test_python(message: str, marked: str, verdict: Verdict) -> None:
    assert judged("python", message, marked).verdict is verdict


@pytest.mark.parametrize(("language", "message", "marked", "verdict"), OTHERS.values(), ids=OTHERS.keys())
def test_other_languages(language: str, message: str, marked: str, verdict: Verdict) -> None:
    assert judged(language, message, marked).verdict is verdict


def test_a_name_that_nothing_used_is_put_to_use() -> None:
    text = "def f():\n    counter = 1\n    count = 2\n    print(count)\n    return «cuonter→%s»\n"
    assert judged("python", "undefined name 'cuonter'", text % "counter").puts_to_use
    assert not judged("python", "undefined name 'cuonter'", text % "count").puts_to_use


def test_a_refusal_has_a_sentence() -> None:
    for message, marked, verdict in PYTHON.values():
        found = judged("python", message, marked)
        assert bool(found.sentence) is (verdict in (Verdict.WORSE, Verdict.STAYS))
