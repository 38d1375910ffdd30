"""The prompts of the benchmark: four kinds of writing, each from what an editor really has at hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """Text before the cursor, and the old text that stood at the cursor, if any."""

    kind: str
    before: str
    old: str = ""


_FREE = [
    'import os\n\n\ndef python_files(root):\n    """Yield the path and the size of every Python file below root."""\n',
    'import json\n\n\nclass Settings:\n    """Settings in a JSON file."""\n\n    def __init__(self, path):\n',
    'def levenshtein(left, right):\n    """Return the edit distance of two strings."""\n',
    'import socket\n\n\ndef free_port():\n    """Return a TCP port that nobody listens on."""\n',
    "class Matrix:\n    def __init__(self, rows):\n        self.rows = rows\n\n    def transposed(self):\n",
    'from collections import Counter\n\n\ndef most_common(text, count):\n    """Return the most common words."""\n',
]
_NAMES = ("name", "path", "size", "color", "weight", "owner")


def _getters(count: int) -> str:
    return "class Record:\n    def __init__(self, data):\n        self.data = data\n\n" + "".join(
        f'    def get_{name}(self, default=None):\n        value = self.data.get("{name}")\n'
        f'        if value is None:\n            raise KeyError("{name}")\n        return value\n\n'
        for name in _NAMES[:count]
    )


def _rows(count: int) -> str:
    return "TABLE = [\n" + "".join(
        f'    {{"id": {number}, "name": "item {number}", "price": {number}00, "tags": ["a", "b"]}},\n'
        for number in range(1, count)
    )


def _parser(count: int) -> str:
    return "import argparse\n\nparser = argparse.ArgumentParser()\n" + "".join(
        f'parser.add_argument("--{name}", type=str, default=None, help="the {name} of the record")\n'
        for name in _NAMES[:count]
    )


_REPETITIVE = [_getters(4), _getters(5) + "    def get_owner(self", _rows(8), _rows(12), _parser(4), _parser(5)]

_BLOCKS = [
    """def load(path, encoding):
    with open(path, encoding=encoding) as stream:
        text = stream.read()
    result = {}
    for number, line in enumerate(text.splitlines()):
        key, _, value = line.partition("=")
        if not key.strip():
            continue
        result[key.strip()] = value.strip()
    return result
""",
    """def merge(left, right):
    result = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    result.extend(left[i:])
    result.extend(right[j:])
    return result
""",
    """def render(node, depth=0):
    indent = "  " * depth
    if isinstance(node, str):
        return indent + node
    lines = [indent + "<" + node.tag + ">"]
    for child in node.children:
        lines.append(render(child, depth + 1))
    lines.append(indent + "</" + node.tag + ">")
    return "\\n".join(lines)
""",
]


def _rewrites() -> list[Case]:
    cases = []
    for block, (old, new) in zip(
        _BLOCKS, [("result", "options"), ("result", "merged"), ("depth", "level")], strict=True
    ):
        signature, _, body = block.partition("\n")
        before = f"# Old version\n{block}\n\n# New version: `{old}` is called `{new}`\n{signature.replace(old, new)}\n"
        cases.append(Case("d rewriting a block", before, body))
    return cases


def cases() -> list[Case]:
    """Return the cases of kinds a, b and d; kind c is made of what the model writes for kind a."""
    return [
        *(Case("a free code", before) for before in _FREE),
        *(Case("b repetitive code", before) for before in _REPETITIVE),
        *_rewrites(),
    ]
